// look.mjs - opens a page in headless Chromium and does what stdin says: look.mjs FILE PROFILE_DIR; stdin: JSON, an array of steps.
//
// A step is {"js": expression}, {"press": key}, {"type": text}, {"click": selector}, {"hover": selector}, {"size": [w, h]}, {"dark": bool}
// or {"shot": path}. stdout: JSON, {"results": what the expressions gave, "console": [...], "requests": [all but the file itself]}.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";
import puppeteer from "puppeteer-core";

const [file, profileDirectory] = process.argv.slice(2);
const url = pathToFileURL(file).href;
const said = [], requests = [], results = [];

const actions = {
	js: async (page, expression) => results.push(await page.evaluate(expression) ?? null),
	press: (page, key) => page.keyboard.press(key),
	type: (page, text) => page.keyboard.type(text),
	click: (page, selector) => page.click(selector),
	hover: (page, selector) => page.hover(selector),
	size: (page, [width, height]) => page.setViewport({width, height}),
	dark: (page, dark) => page.emulateMediaFeatures([{name: "prefers-color-scheme", value: dark ? "dark" : "light"}]),
	shot: (page, path) => page.screenshot({path}),
};

// Two frames and a moment: what a step started is drawn.
const settled = "new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 200))";

// Through a pipe: Chromium ends when this process does, however that comes.
const browser = await puppeteer.launch({executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, pipe: true,
	userDataDir: profileDirectory, args: ["--no-sandbox", "--disable-gpu", "--disable-crash-reporter"], defaultViewport: {width: 1200, height: 900}});
try {
	const page = await browser.newPage();
	page.on("console", message => said.push(`${message.type()}: ${message.text()}`));
	page.on("pageerror", error => said.push(`error: ${error.stack}`));
	await page.setRequestInterception(true);
	page.on("request", request => {
		if (request.url() === url && request.isNavigationRequest())
			return request.continue();
		requests.push(request.url());
		return request.abort();
	});
	await page.goto(url);
	await page.evaluate(settled);
	for (const step of JSON.parse(readFileSync(0, "utf8"))) {
		const [[name, argument]] = Object.entries(step);
		await actions[name](page, argument);
		if (name !== "js")
			await page.evaluate(settled);
	}
} finally {
	await browser.close();
}
process.stdout.write(JSON.stringify({results, console: said, requests}));
