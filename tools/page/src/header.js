// header.js - what was profiled and how, and the types with their totals: which of them is shown is chosen there.
import {byId, element} from "./dom.js";
import {formatChange, formatDuration, formatError, formatValue, words} from "./format.js";
import {changeOf, errorOf} from "./profile.js";
import {scale} from "./tip.js";

const wordOf = unit => unit === "count" ? "objects" : unit;

function rateText({rate, rate_changed: changed}) {
	const text = rate > 1 ? `one sample per ${formatValue(rate, "bytes")}` : rate === 1 ? "every allocation" : "off";
	return changed ? `${text} at the end; the rate changed` : text;
}

const timeText = file => file.time > 0 ? new Date(file.time).toLocaleString() : null;
const durationText = file => file.duration_ns > 0 ? formatDuration(file.duration_ns) : null;

function versionOf(file, fallback) {
	return file.comments.find(comment => comment.startsWith("mprof ")) ?? `mprof ${fallback}`;
}

// One fact, of both files where they differ.
function fact(files, label, text) {
	const texts = files.map(text).filter(Boolean);
	const said = new Set(texts).size > 1 ? texts.join(" → ") : texts[0];
	return said === undefined ? [] : [element("div", null, element("dt", null, label), element("dd", null, said))];
}

export function fillHeader(profile) {
	const {files} = profile, program = profile.program || "Heap profile";

	byId("program").textContent = profile.title || program;
	document.title = `${profile.title || program} - mprof`;
	byId("facts").replaceChildren(...profile.title ? fact(files, "Program", () => profile.program) : [],
		...fact(files, files.length === 2 ? "Files, before → after" : "File", file => file.path),
		...fact(files, "Filters", () => profile.filters),
		...fact(files, "Taken", timeText), ...fact(files, "Time span", durationText),
		...fact(files, "Sampling", rateText),
		...fact(files, "Stacks", file => formatValue(file.samples, "count")), ...fact(files, "Profiler", file => versionOf(file, profile.version)));
	fillComments(files);
}

// Losses are shown, other comments on request.
function fillComments(files) {
	const comments = files.flatMap(file => file.comments.map(text => files.length === 2 ? `${file.path}: ${text}` : text));
	const lost = comments.filter(comment => /(^|: )lost: /.test(comment));
	const items = list => list.map(text => element("li", null, text));

	byId("losses").replaceChildren(...items(lost));
	byId("losses").hidden = lost.length === 0;
	byId("comments").querySelector("ul").replaceChildren(...items(comments));
	byId("comments").hidden = comments.length === 0;
}

// A card for each group of types, a radio button for each type; chosen(type) is called.
export function fillTypes(profile, chosen) {
	const shown = ["In use", "Allocated", "Peak"], rank = group => (shown.indexOf(group) + 4) % 4;
	const groups = [...new Set(profile.types.map(type => type.group))].sort((a, b) => rank(a) - rank(b));

	byId("types").replaceChildren(...groups.map(group => {
		const types = profile.types.filter(type => type.group === group).sort((a, b) => (b.unit === "bytes") - (a.unit === "bytes"));
		return element("fieldset", {class: "card"}, element("legend", null, group), ...types.map(type => choice(profile, type, chosen)));
	}));
}

function choice(profile, type, chosen) {
	const total = profile.totalOf(type), error = errorOf(total), change = changeOf(total);
	const largest = Math.max(1, ...profile.types.filter(other => other.unit === type.unit).map(other => other.total + (other.error ?? 0)));
	const radio = element("input", {type: "radio", name: "type", value: type.name, checked: type.index === profile.default});
	const note = error === null ? "error not known" : formatError(error, total.value) || (type.total > 0 ? "exact" : "");
	const texts = [element("span", {class: "total"}, formatValue(type.total, type.unit)), element("span", {class: "note"}, ` ${words(wordOf(type.unit), note)}`)];

	radio.addEventListener("change", () => chosen(type));
	if (profile.comparing)
		texts.push(element("span", {class: change.noise ? "change" : change.value > 0 ? "change grew" : "change shrank"},
			words(formatChange(change.value, type.unit), formatError(change.error, change.value), change.noise && change.error && "(noise)")));
	return element("label", {class: "type"}, radio, element("span", {class: "texts"}, ...texts), scale(type.total, error ?? 0, largest));
}
