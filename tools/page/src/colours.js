// colours.js - the colours of frames: by module or package, or by what changed. The colours themselves are in style.css.
import {changeOf, smaller} from "./profile.js";

const hues = 8; // --hue0 ... in style.css; what comes after the first eight is grey

function hash(text) {
	let sum = 0;
	for (let i = 0; i < Math.min(text.length, 100); i++)
		sum = (sum * 31 + text.charCodeAt(i)) >>> 0;
	return sum;
}

// "ns" of ns::f, "net/http" of net/http.Get, else the folder of the source; templates and return types do not count.
function packageOf({name, file, module}) {
	const plain = name.replace(/<.*>/, "");
	const scope = plain.match(/^<*([A-Za-z_][\w$]*|\(anonymous namespace\))::/) ?? plain.match(/^([\w./-]*\w)\.\(?\*?\w/);
	return scope?.[1] ?? file?.match(/([^/]+)\/[^/]*$/)?.[1] ?? module ?? "other";
}

const groupings = {module: f => f.module || "no module", package: packageOf};

// Gives each group a colour, those with the most memory first: of(function), and legend: [{name, colour}].
export function colourGroups(profile, grouping, type) {
	const groupOf = profile.functions.map(groupings[grouping]);
	const sizes = new Map();

	for (const row of profile.rows)
		sizes.set(groupOf[row.f], (sizes.get(groupOf[row.f]) ?? 0) + Math.abs(row.flat[type.index]));
	const present = [...sizes].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
	const colours = new Map(present.map((name, rank) => [name, rank < hues ? `var(--hue${rank})` : "var(--neutral)"]));
	// Three shades of a colour keep neighbours apart.
	const of = f => {
		if (f < 0)
			return f === smaller ? "var(--smaller)" : "var(--neutral)";
		const shade = hash(profile.functions[f].name) % 3 * 14;
		return `color-mix(in oklab, ${colours.get(groupOf[f]) ?? "var(--neutral)"}, var(--shade) ${shade}%)`;
	};
	const legend = present.slice(0, hues).map((name, rank) => ({name, colour: `var(--hue${rank})`}));
	return {of, groupOf: f => groupOf[f], legend: present.length > hues ? [...legend, {name: `${present.length - hues} more`, colour: "var(--neutral)"}] : legend};
}

// Red grew, blue shrank, the more so the larger the part that changed; grey is noise.
export function changeColour(amount) {
	const change = changeOf(amount), whole = Math.max(amount.value, amount.base);

	if (change.noise || whole <= 0)
		return "var(--same)";
	const strength = 25 + 75 * Math.min(1, Math.abs(change.value) / whole);
	return `color-mix(in oklab, var(--${change.value > 0 ? "grew" : "shrank"}) ${strength.toFixed(0)}%, var(--same))`;
}
