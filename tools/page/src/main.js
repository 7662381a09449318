// main.js - the page of `mprof report`: one profile, or two compared, as totals, flame graph and table.
import {changeColour, colourGroups} from "./colours.js";
import {byId, element} from "./dom.js";
import {formatCount, formatError, formatPercent, formatValue, words} from "./format.js";
import {Graph} from "./graph.js";
import {fillHeader, fillTypes} from "./header.js";
import {Profile, errorOf, everything} from "./profile.js";
import {Table} from "./table.js";
import {Tip} from "./tip.js";

const profile = new Profile(JSON.parse(byId("profile").textContent));
const state = {type: profile.types[profile.default], found: null, colours: null};
const tip = new Tip(profile);
const colours = {of: f => state.colours.of(f), groupOf: f => state.colours.groupOf(f)};
let graph, table;

// --- what frames look like

function colourOf(frame, found) {
	if (state.found !== null)
		return found ? "var(--found)" : "var(--dim)";
	if (profile.comparing && frame.f !== everything)
		return changeColour(profile.frameAmount(frame, state.type));
	return colours.of(frame.f);
}

// The name, and where there is room what it is of the total.
function labelOf(frame, pixels) {
	const name = profile.nameOf(frame.f).slice(0, 300);
	if (profile.comparing || pixels < name.length * 7 + 130)
		return name;
	return `${name}  ${formatValue(frame.value, state.type.unit)}, ${formatPercent(frame.value, state.type.total)}`;
}

// For those who do not see the graph.
function spoken(frame) {
	const amount = profile.frameAmount(frame, state.type);
	const value = words(formatValue(amount.value, state.type.unit), formatError(errorOf(amount), amount.value));
	return `${profile.nameOf(frame.f).slice(0, 300)}, ${value}, ${formatPercent(amount.value, state.type.total)}`;
}

function fillLegend() {
	const entries = profile.comparing ?
		[["shrank", "var(--shrank)"], ["same, or within noise (≈, |Δ| < 2σ)", "var(--same)"], ["grew", "var(--grew)"]] :
		state.colours.legend.map(({name, colour}) => [name, colour]);
	byId("legend").replaceChildren(...entries.map(([name, colour]) => {
		const swatch = element("span", {class: "swatch"});
		swatch.style.background = colour;
		return element("li", null, swatch, name);
	}), ...profile.comparing ? [element("li", {class: "note"}, "the width of a frame is what was there before plus what is there after")] : []);
}

// --- what is shown

function drawGraph() {
	tip.hide();
	byId("reset").disabled = true;
	graph.draw(byId("tree").value === "calls" ? profile.callTree(state.type) : profile.callersTree(state.type));
	search();
}

function showType(type) {
	state.type = tip.type = type;
	state.colours = colourGroups(profile, byId("colour").value, type);
	fillLegend();
	table.setType(type);
	drawGraph();
}

function showColours() {
	state.colours = colourGroups(profile, byId("colour").value, state.type);
	fillLegend();
	graph.redraw();
	table.arrange();
}

// How to test a name for what is typed; null for a regular expression that is none.
function testOf(text, regex) {
	if (text.startsWith("="))
		return name => name === text.slice(1);
	if (!regex)
		return name => name.toLowerCase().includes(text.toLowerCase());
	try {
		const expression = new RegExp(text, "i");
		return name => expression.test(name);
	} catch {
		return null;
	}
}

function foundText() {
	const amount = profile.amountOf(state.type, state.found);
	return words(`${formatCount(state.found.size, "function")}:`, formatValue(amount.value, state.type.unit),
		formatError(errorOf(amount), amount.value), `(${formatPercent(amount.value, state.type.total)})`);
}

function search() {
	const text = byId("search").value, test = testOf(text, byId("regex").checked), whole = text.startsWith("=");

	byId("search").setAttribute("aria-invalid", test === null);
	if (text === "" || test === null) {
		state.found = null;
		byId("found").textContent = test === null ? "not a regular expression" : "";
	} else {
		state.found = profile.matching(test);
		byId("found").textContent = state.found.size > 0 ? foundText() : "no function";
	}
	graph.highlight(state.found);
	// A whole name comes from the table, which stays as it is.
	table.filter(whole ? null : state.found, whole && state.found ? [...state.found][0] : null);
}

function searchFor(text) {
	byId("search").value = text;
	search();
}

function choose(f) {
	const text = `=${profile.nameOf(f)}`, again = byId("search").value === text;
	searchFor(again ? "" : text);
	[...byId("table").tBodies[0].querySelectorAll("tr[aria-selected] button")].at(0)?.focus();
}

// --- light and dark

function isDark() {
	const {theme} = document.documentElement.dataset;
	return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function nameTheme() {
	byId("theme").textContent = isDark() ? "Light" : "Dark";
}

function toggleTheme() {
	document.documentElement.dataset.theme = isDark() ? "light" : "dark";
	nameTheme();
}

// --- keys and buttons

function key(event) {
	const typing = event.target.matches("input[type=search], select"), open = byId("help").open;
	const keys = {"/": () => byId("search").focus(), "?": () => byId("help").showModal(), d: toggleTheme, 0: () => graph.zoom(null)};

	if (event.ctrlKey || event.altKey || event.metaKey || open)
		return;
	if (event.key === "Escape") {
		tip.hide();
		if (!byId("reset").disabled && !typing)
			graph.zoom(null);
		else
			searchFor("");
	} else if (!typing && event.key in keys) {
		event.preventDefault();
		keys[event.key]();
	}
}

function listen() {
	const on = (id, name, run) => byId(id).addEventListener(name, run);
	let width = byId("graph").clientWidth, waiting;

	on("search", "input", () => {
		clearTimeout(waiting);
		waiting = setTimeout(search, 150);
	});
	on("regex", "change", search);
	on("tree", "change", drawGraph);
	on("shape", "change", () => graph.setInverted(byId("shape").value === "icicle"));
	on("colour", "change", showColours);
	on("reset", "click", () => graph.zoom(null));
	document.addEventListener("keydown", key);
	new ResizeObserver(() => {
		if (byId("graph").clientWidth !== width) {
			width = byId("graph").clientWidth;
			graph.redraw();
		}
	}).observe(byId("graph"));
}

function showEmpty() {
	byId("empty").textContent = "This profile is empty: nothing was sampled. A program that allocates little is sampled seldom; a smaller rate sees more (mprof run --rate 4K, or 1 for every allocation).";
	byId("empty").hidden = false;
	byId("report").hidden = byId("functions").hidden = true;
}

function start() {
	const {nodes} = profile.omitted;

	nameTheme();
	byId("theme").addEventListener("click", toggleTheme);
	byId("help-open").addEventListener("click", () => byId("help").showModal());
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
	fillHeader(profile);
	fillTypes(profile, showType);
	if (profile.rows.length === 0) {
		showEmpty();
		return;
	}
	byId("colour-choice").hidden = profile.comparing;
	byId("omitted").hidden = !nodes;
	byId("omitted").textContent = nodes ? `${formatCount(nodes, "small frame")} are merged into frames called (smaller). The table and the totals are complete.` : "";
	graph = new Graph(byId("graph"), {nameOf: spoken, labelOf, colourOf}, tip, zoomed => {
		byId("reset").disabled = !zoomed;
	});
	table = new Table(profile, choose, colours);
	showType(state.type);
	listen();
}

start();
