// profile.js - the data that mprof wrote into the page: types, functions, and trees of calls with values and errors.

const groups = {inuse: "In use", alloc: "Allocated", peak: "Peak"};
const root = 0;

export const everything = -1, smaller = -2; // functions of the root, and of small subtrees merged into one

// An amount of memory: its value, and its variance (null: not known); the same before, when two profiles are compared.
const nothing = {value: 0, variance: 0, base: 0, baseVariance: 0};

const plus = (a, b) => a === null || b === null ? null : a + b;

export function add(a, b) {
	return {value: a.value + b.value, variance: plus(a.variance, b.variance), base: a.base + b.base,
		baseVariance: plus(a.baseVariance, b.baseVariance)};
}

function subtract(a, b) {
	const less = (x, y) => x === null || y === null ? null : Math.max(0, x - y);
	return {value: a.value - b.value, variance: less(a.variance, b.variance), base: a.base - b.base,
		baseVariance: less(a.baseVariance, b.baseVariance)};
}

export function amount(value, error, base = 0, baseError = 0) {
	const square = x => x === null || x === undefined ? null : x * x;
	return {value, variance: square(error), base, baseVariance: square(baseError)};
}

export const errorOf = of => of.variance === null ? null : Math.sqrt(of.variance);

// What changed, its error, and whether it is too small to mean anything. The two profiles are taken to be independent.
export function changeOf(of) {
	const variance = plus(of.variance, of.baseVariance), error = variance === null ? null : Math.sqrt(variance);
	const value = of.value - of.base;
	return {value, error, noise: value === 0 || Math.abs(value) < 2 * error};
}

export class Profile {
	constructor(data) {
		Object.assign(this, data);
		this.comparing = data.files.length === 2;
		this.types = data.types.map((type, index) => {
			const [, kind, what] = type.name.match(/^(inuse|alloc|peak)_(.*)$/) ?? [null, null, type.name];
			return {...type, index, group: groups[kind] ?? what};
		});
		this.selves = new Map();
	}

	// The other type that counts the same: its objects, or its bytes.
	sibling(type) {
		return this.types.find(other => other.group === type.group && other.index !== type.index);
	}

	totalOf(type) {
		return amount(type.total, type.error, type.base_total, type.base_error);
	}

	nameOf(f) {
		return f >= 0 ? this.functions[f].name : f === smaller ? "(smaller)" : this.program || "everything";
	}

	// What counts for the width of a frame: all of it, and when comparing what was there before as well.
	widthOf(of) {
		return Math.max(0, of.value) + Math.max(0, of.base);
	}

	nodeAmount(type, node) {
		const {value, error, base, base_error} = this.tree, t = type.index;
		return amount(value[t][node], error[t] && error[t][node], base ? base[t][node] : 0, base_error ? base_error[t] && base_error[t][node] : 0);
	}

	// Per node, what it holds without its children. Samples are independent, so variances subtract as values do.
	selfAmounts(type) {
		if (!this.selves.has(type)) {
			const selves = this.tree.parent.map((_, node) => this.nodeAmount(type, node));
			const whole = [...selves];
			this.tree.parent.forEach((parent, node) => {
				if (parent >= 0)
					selves[parent] = subtract(selves[parent], whole[node]);
			});
			this.selves.set(type, selves);
		}
		return this.selves.get(type);
	}

	// The amount of a frame of either tree, of a type.
	frameAmount(frame, type) {
		if (frame.node !== undefined)
			return this.nodeAmount(type, frame.node);
		const selves = this.selfAmounts(type);
		return frame.leaves.reduce((sum, leaf) => add(sum, selves[leaf]), nothing);
	}

	// Frames as d3-flame-graph takes them, from the root to the leaves: {f, node, value, children}.
	callTree(type) {
		const frames = this.tree.parent.map((_, node) => (
			{f: this.tree.function[node], node, value: this.widthOf(this.nodeAmount(type, node)), children: []}));

		this.tree.parent.forEach((parent, node) => {
			if (parent >= 0 && frames[node].value > 0)
				frames[parent].children.push(frames[node]);
		});
		return settle(frames[root]);
	}

	// The other way: below each function that allocates, who calls it. `leaves` are the nodes whose own memory it is.
	callersTree(type) {
		const widths = this.selfAmounts(type).map(self => this.widthOf(self));
		const {parent, function: functions} = this.tree;
		const total = widths.reduce((sum, width) => sum + width, 0);
		const least = total / 4000; // what is smaller than this is not looked into: it would be too narrow to be seen

		function split(paths) {
			const found = new Map();
			for (const [leaf, at] of paths) {
				const f = functions[at];
				if (!found.has(f))
					found.set(f, {f, leaves: [], value: 0, paths: []});
				const frame = found.get(f);
				frame.leaves.push(leaf);
				frame.value += widths[leaf];
				if (parent[at] > root)
					frame.paths.push([leaf, parent[at]]);
			}
			return [...found.values()].map(({paths: further, ...frame}) => ({...frame, children: frame.value >= least ? split(further) : []}));
		}
		const leaves = widths.flatMap((width, node) => node !== root && width > 0 ? [[node, node]] : []);
		return settle({f: everything, leaves: widths.map((_, node) => node), value: total, children: split(leaves)});
	}

	// The functions whose name matches, as a set.
	matching(test) {
		return new Set(this.functions.flatMap((f, index) => test(f.name) ? [index] : []));
	}

	// What is in stacks that hold any of these functions.
	amountOf(type, functions) {
		const covered = [];
		let sum = nothing;

		this.tree.parent.forEach((parent, node) => {
			const within = parent >= 0 && covered[parent];
			covered[node] = within || functions.has(this.tree.function[node]);
			if (covered[node] && !within)
				sum = add(sum, this.nodeAmount(type, node));
		});
		return sum;
	}
}

// The largest first. Values are whole numbers but when merged, so a parent may be short of its children by a little.
function settle(frame) {
	frame.children.forEach(settle);
	frame.children.sort((a, b) => b.value - a.value);
	frame.value = Math.max(frame.value, frame.children.reduce((sum, child) => sum + child.value, 0));
	return frame;
}
