// graph.js - the flame graph: d3-flame-graph, with keys, and with no more frames drawn than a browser draws at once.
import flamegraph from "d3-flame-graph";
import {select} from "d3-selection";

const rowHeight = 20;
const framesDrawn = 2000; // at most; the narrowest are left out
const narrowest = 0.5;    // pixels

export class Graph {
	// look: {nameOf(frame), labelOf(frame, pixels), colourOf(frame, found)}; tip: {show(frame, place), hide()}; zoomed(whether) is called.
	constructor(container, look, tip, zoomed) {
		this.container = container;
		this.look = look;
		this.tip = tip;
		this.zoomed = zoomed;
		this.chart = flamegraph().cellHeight(rowHeight).inverted(true).resetHeightOnZoom(true).transitionDuration(0)
			.getName(node => this.label(node))
			.setColorMapper(node => look.colourOf(node.data, node.highlight))
			.setSearchMatch((node, functions) => functions.has(node.data.f))
			.setSearchHandler(() => {}).setDetailsHandler(() => {})
			.tooltip(Object.assign(() => {}, {show: event => this.hover(event), hide: () => tip.hide()}));
		container.addEventListener("click", event => this.click(event), true);
		container.addEventListener("keydown", event => this.key(event));
		container.addEventListener("focus", () => this.focused() && this.moveTo(this.cursor ?? this.root));
		container.addEventListener("blur", () => tip.hide());
	}

	focused() {
		return this.container.matches(":focus-visible");
	}

	label(node) {
		const whole = this.zoomNode ?? node.ancestors().at(-1);
		return this.look.labelOf(node.data, node.data.value / whole.data.value * this.chart.width());
	}

	// Show other frames, from the root on.
	draw(frame) {
		this.zoomNode = this.cursor = null;
		this.chart.width(this.container.clientWidth);
		this.limit(flatten(frame).map(one => one.value), frame.value);
		if (this.root === undefined)
			select(this.container).datum(frame).call(this.chart);
		else
			this.chart.update(frame);
		this.root = select(this.container).datum();
		this.drawn();
	}

	// The same frames in other colours, or in another width.
	redraw() {
		this.chart.width(this.container.clientWidth);
		this.chart.update();
		this.drawn();
	}

	// Callers on top (inverted), or below.
	setInverted(inverted) {
		this.container.classList.toggle("flame", !inverted);
		this.chart.inverted(inverted);
		this.redraw();
		if (!inverted)
			this.container.scrollTop = this.container.scrollHeight;
	}

	highlight(functions) {
		if (functions === null)
			this.chart.clear();
		else
			this.chart.search(functions);
		this.drawn();
	}

	zoom(node) {
		const whole = node ?? this.root;

		this.zoomNode = node === this.root ? null : node;
		this.limit(whole.descendants().map(one => one.data.value), whole.data.value);
		this.chart.zoomTo(whole);
		this.drawn();
		this.moveTo(this.focused() ? whole : null);
		this.zoomed(this.zoomNode !== null);
	}

	// Frames wide enough to be drawn: of too many the widest.
	limit(values, whole) {
		const pixels = values.map(value => value / whole * this.chart.width()).filter(width => width > narrowest);
		const last = pixels.length > framesDrawn ? pixels.sort((a, b) => b - a)[framesDrawn] : narrowest;
		this.chart.minFrameSize(last);
	}

	// For print, the drawing fits the paper.
	drawn() {
		const svg = this.container.querySelector("svg");
		svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
		svg.setAttribute("role", "presentation");
		this.mark();
	}

	frames() {
		return [...this.container.querySelectorAll("g.frame")];
	}

	nodeAt(target) {
		const frame = target.closest("g.frame");
		return frame === null ? null : select(frame).datum();
	}

	click(event) {
		const node = this.nodeAt(event.target);
		event.stopPropagation();
		if (node !== null)
			this.zoom(node);
	}

	hover(event) {
		const node = this.nodeAt(event.target);
		if (node !== null)
			this.tip.show(node.data, {x: event.clientX, y: event.clientY});
	}

	// --- keys

	key(event) {
		const down = this.chart.inverted();
		const moves = {ArrowLeft: () => this.beside(-1), ArrowRight: () => this.beside(1),
			[down ? "ArrowUp" : "ArrowDown"]: () => this.cursor.parent,
			[down ? "ArrowDown" : "ArrowUp"]: () => this.largestChild(), Home: () => this.root};

		if (event.ctrlKey || event.altKey || event.metaKey || this.root === undefined)
			return;
		this.cursor ??= this.root;
		if (event.key in moves)
			this.moveTo(moves[event.key]() ?? this.cursor);
		else if (event.key === "Enter" || event.key === " ")
			this.zoom(this.cursor);
		else
			return;
		event.preventDefault();
	}

	largestChild() {
		const drawn = new Set(this.frames().map(frame => select(frame).datum()));
		return (this.cursor.children ?? []).filter(child => drawn.has(child)).reduce((a, b) => a === null || b.data.value > a.data.value ? b : a, null);
	}

	beside(step) {
		const row = this.frames().map(frame => select(frame).datum()).filter(node => node.depth === this.cursor.depth).sort((a, b) => a.x0 - b.x0);
		return row[row.indexOf(this.cursor) + step];
	}

	moveTo(node) {
		this.cursor = node;
		this.mark();
		if (node === null)
			return;
		const frame = document.getElementById("cursor");
		if (frame === null)
			return;
		frame.scrollIntoView({block: "nearest", inline: "nearest"});
		const box = frame.getBoundingClientRect();
		this.tip.show(node.data, {x: box.left + Math.min(box.width / 2, 40), y: box.bottom});
	}

	// The frame of the cursor is what a screen reader is told of.
	mark() {
		this.container.querySelectorAll("#cursor").forEach(frame => ["id", "role", "aria-label", "aria-level"].forEach(name => frame.removeAttribute(name)));
		const frame = this.cursor && this.frames().find(one => select(one).datum() === this.cursor);
		if (!frame) {
			this.container.removeAttribute("aria-activedescendant");
			return;
		}
		const attributes = {id: "cursor", role: "treeitem", "aria-label": this.look.nameOf(this.cursor.data), "aria-level": this.cursor.depth + 1};
		Object.entries(attributes).forEach(([name, value]) => frame.setAttribute(name, value));
		this.container.setAttribute("aria-activedescendant", "cursor");
	}
}

function flatten(frame) {
	const all = [frame];
	for (const one of all)
		all.push(...one.children);
	return all;
}
