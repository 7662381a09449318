// build.mjs - makes the page of `mprof report` one file: build.mjs OUT; runs where node_modules is.
import {createHash} from "node:crypto";
import {existsSync, readFileSync, writeFileSync} from "node:fs";
import {build} from "esbuild";

// The page may run this script and this style, and nothing else, whatever the names in a profile look like.
function policy(script, style) {
	const hash = text => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
	return `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
}

// What the licenses of the bundled packages want to be kept with them.
function licenses(inputs) {
	const names = new Set(Object.keys(inputs).flatMap(path => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []));
	return [...names].sort().map(name => {
		const {version, license} = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
		const file = `node_modules/${name}/LICENSE`;
		return `${name} ${version} (${license})\n\n${existsSync(file) ? readFileSync(file, "utf8").trim() : ""}\n`;
	}).join("\n");
}

const common = {bundle: true, minify: true, write: false, target: ["chrome123", "firefox128", "safari17.5"], logLevel: "warning"};
// d3-flame-graph tells its own nodes by the name of their class: keepNames.
const script = await build({...common, entryPoints: ["src/main.js"], format: "iife", keepNames: true, metafile: true,
	loader: {".css": "empty"}, legalComments: "none"});
const style = await build({...common, entryPoints: ["style.css"]});
const parts = {
	STYLE: style.outputFiles[0].text.trim(),
	SCRIPT: script.outputFiles[0].text.trim().replaceAll("</script", "<\\/script"),
	LICENSES: licenses(script.metafile.inputs).replaceAll("-->", "-- >"),
};
parts.POLICY = policy(parts.SCRIPT, parts.STYLE);
writeFileSync(process.argv[2], readFileSync("template.html", "utf8").replace(/@([A-Z]+)@/g, (mark, name) => parts[name] ?? mark));
