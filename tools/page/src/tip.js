// tip.js - what is said of the frame under the pointer or the cursor.
import {byId, element} from "./dom.js";
import {formatChange, formatError, formatPercent, formatValue, words} from "./format.js";
import {changeOf, errorOf} from "./profile.js";

const wordOf = unit => unit === "count" ? "objects" : unit === "bytes" ? "" : unit;
const figure = (value, error, unit, format = formatValue) => words(format(value, unit), wordOf(unit), formatError(error, value));

function line(label, text, note = "") {
	return [element("dt", null, label), element("dd", null, text, element("span", {class: "note"}, note))];
}

// A scale from 0 to the most, with the value as a bar and one standard error to both sides as a whisker.
export function scale(value, error, most) {
	const percent = part => `${Math.max(0, Math.min(100, part / most * 100))}%`;
	const bar = element("div", {class: "scale", "aria-hidden": true}, element("div", {class: "value"}), element("div", {class: "whisker"}));

	bar.firstChild.style.width = percent(value);
	bar.lastChild.style.left = percent(value - error);
	bar.lastChild.style.width = percent(2 * error);
	bar.lastChild.hidden = !error;
	return bar;
}

export class Tip {
	constructor(profile) {
		this.profile = profile;
		this.box = byId("tip");
	}

	show(frame, place) {
		const {profile, type, box} = this, f = profile.functions[frame.f];
		const types = [type, profile.sibling(type)].filter(Boolean);
		const where = [f?.file && (f.line ? `${f.file}:${f.line}` : f.file), f?.module].filter(Boolean).join(" · ");

		box.replaceChildren(element("strong", null, shorten(profile.nameOf(frame.f))), element("div", {class: "where"}, where),
			...types.map(one => this.amountOf(frame, one)));
		box.hidden = false;
		this.place(place);
	}

	amountOf(frame, type) {
		const amount = this.profile.frameAmount(frame, type), error = errorOf(amount), {unit} = type;
		const lines = line(type === this.type ? type.group : "", figure(amount.value, error, unit), ` ${formatPercent(amount.value, type.total)} of all`);

		if (!this.profile.comparing)
			return element("div", null, element("dl", null, ...lines), scale(amount.value, error, type.total + (type.error ?? 0)));
		const change = changeOf(amount), before = amount.baseVariance === null ? null : Math.sqrt(amount.baseVariance);
		return element("dl", null, ...lines, ...line("before", figure(amount.base, before, unit)),
			...line("change", figure(change.value, change.error, unit, formatChange), change.noise && change.error ? " within noise" : ""));
	}

	// Beside the place, within the window.
	place({x, y}) {
		const {offsetWidth: width, offsetHeight: height} = this.box, gap = 14;
		const left = Math.max(4, Math.min(x + gap, document.documentElement.clientWidth - width - 4));
		const below = y + gap + height < document.documentElement.clientHeight;

		this.box.style.left = `${left}px`;
		this.box.style.top = `${below ? y + gap : Math.max(4, y - gap - height)}px`;
	}

	hide() {
		this.box.hidden = true;
	}
}

function shorten(name) {
	return name.length > 400 ? `${name.slice(0, 400)}…` : name;
}
