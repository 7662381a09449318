// table.js - the functions, each with what it allocated itself (flat) and with all that it calls (cum).
import {byId, element} from "./dom.js";
import {columnFormat, formatChange, formatCount, formatError, formatPercent} from "./format.js";
import {amount, changeOf, errorOf} from "./profile.js";

const page = 200; // rows shown at first, and more each time

// "+1.20MB"; "≈" stands before what may be chance.
function changeText({value, noise}, format) {
	return (noise && value !== 0 ? "≈" : "") + (value > 0 ? "+" : "") + format(value);
}

// Columns: title, wide (left out where there is little room), value(row) to sort by, text(row, format, total), and noise(row) where a figure may be chance.
function columns(comparing) {
	const of = (key, name) => comparing ? [
		{title: `Δ ${name}`, value: row => row[key].change.value, noise: row => row[key].change.noise, text: (row, format) => changeText(row[key].change, format)},
		{title: "±", wide: true, value: row => row[key].change.error ?? 0, text: row => formatError(row[key].change.error, row[key].change.value)},
		{title: "before", wide: true, value: row => row[key].base, text: (row, format) => format(row[key].base)},
		{title: "after", wide: true, value: row => row[key].value, text: (row, format) => format(row[key].value)},
	] : [
		{title: name, value: row => row[key].value, text: (row, format) => format(row[key].value)},
		{title: "±", wide: true, value: row => row[key].error ?? 0, text: row => formatError(row[key].error, row[key].value)},
		{title: "%", wide: true, value: row => row[key].value, text: (row, format, total) => formatPercent(row[key].value, total)},
	];
	return [...of("flat", "flat"), ...of("cum", "cum"), {title: "function", name: true, value: row => row.name, text: row => row.name}];
}

export class Table {
	// chosen(f) is called for a row that is clicked; colourOf(f) and groupOf(f) say what its frames look like.
	constructor(profile, chosen, colours) {
		this.profile = profile;
		this.chosen = chosen;
		this.colours = colours;
		this.columns = columns(profile.comparing);
		this.sorted = 0;
		this.descending = true;
		this.body = byId("table").tBodies[0];
		this.fillHead();
		byId("more").addEventListener("click", () => this.show(this.limit + page));
		this.body.addEventListener("keydown", event => this.key(event));
	}

	fillHead() {
		const heads = this.columns.map((column, index) => {
			const button = element("button", {type: "button"}, column.title);
			button.addEventListener("click", () => this.sortBy(index));
			return element("th", {scope: "col", class: classOf(column)}, button);
		});
		byId("table").tHead.replaceChildren(element("tr", null, ...heads));
	}

	// Numbers largest first, names from A; once more turns it around.
	sortBy(index) {
		this.descending = index === this.sorted ? !this.descending : !this.columns[index].name;
		this.sorted = index;
		this.arrange();
	}

	// The rows of a type.
	setType(type) {
		const t = type.index;
		const of = (row, key) => {
			const whole = amount(row[key][t], row[`${key}_error`][t], row[`base_${key}`]?.[t], row[`base_${key}_error`]?.[t]);
			return {...whole, error: errorOf(whole), change: changeOf(whole)};
		};
		this.type = type;
		this.rows = this.profile.rows.map(row => ({f: row.f, name: this.profile.nameOf(row.f), flat: of(row, "flat"), cum: of(row, "cum")}))
			.filter(row => row.flat.value || row.cum.value || row.flat.base || row.cum.base);
		this.format = columnFormat(this.leastFigure(), type.total, type.unit);
		this.arrange();
	}

	// As in the text report: the least that matters, half a percent of the total or more.
	leastFigure() {
		const cutoff = Math.trunc(Math.abs(this.rows.reduce((sum, row) => sum + row.flat.value, 0)) * 0.005);
		const figures = this.rows.filter(row => Math.abs(row.cum.value) >= cutoff).map(row => Math.abs(row.flat.value || row.cum.value));
		return figures.filter(figure => figure !== 0).reduce((least, figure) => Math.min(least, figure), Infinity) % Infinity || 0;
	}

	// Only these functions (null: all), and which of them is marked (null: none).
	filter(functions, marked) {
		this.functions = functions;
		this.marked = marked;
		this.arrange();
	}

	arrange() {
		const {value, name} = this.columns[this.sorted], sign = this.descending ? -1 : 1;
		const compare = name ? (a, b) => a < b ? -1 : +(a > b) : (a, b) => a - b;

		this.visible = this.rows.filter(row => !this.functions || this.functions.has(row.f))
			.sort((a, b) => sign * compare(value(a), value(b)) || Math.abs(b.cum.value) - Math.abs(a.cum.value) || (a.name < b.name ? -1 : 1));
		[...byId("table").tHead.rows[0].cells].forEach((cell, index) => {
			if (index === this.sorted)
				cell.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
			else
				cell.removeAttribute("aria-sort");
		});
		this.show(page);
	}

	show(limit) {
		this.limit = limit;
		this.body.replaceChildren(...this.visible.slice(0, limit).map((row, index) => this.rowOf(row, index)));
		byId("shown").textContent = this.visible.length > limit ? `${limit} of ${formatCount(this.visible.length, "function")}` :
			this.visible.length === 0 ? "No function matches." : formatCount(this.visible.length, "function");
		byId("more").hidden = this.visible.length <= limit;
	}

	rowOf(row, index) {
		const cells = this.columns.map(column => {
			if (!column.name) {
				const noise = column.noise?.(row);
				return element("td", {class: classOf(column) + (noise ? " noise" : ""), title: noise && "within noise: less than two standard errors"},
					column.text(row, this.format, this.type.total));
			}
			const swatch = element("span", {class: "swatch", title: this.colours.groupOf(row.f)});
			const button = element("button", {type: "button", title: row.name.slice(0, 1000), tabindex: index === 0 ? 0 : -1}, row.name);
			swatch.style.background = this.colours.of(row.f);
			button.addEventListener("click", () => this.chosen(row.f));
			return element("td", {class: "name"}, swatch, button);
		});
		return element("tr", {"aria-selected": row.f === this.marked && "true"}, ...cells);
	}

	key(event) {
		const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
		const buttons = [...this.body.querySelectorAll("button")];
		const next = buttons[buttons.indexOf(document.activeElement) + step];

		if (step === undefined)
			return;
		event.preventDefault();
		next?.focus();
	}
}

function classOf(column) {
	return column.name ? "name" : column.wide ? "number wide" : "number";
}
