// format.js - numbers as people read them, as the text reports of mprof write them (tools/format.c).

const byteUnits = [["B", 1], ["kB", 2 ** 10], ["MB", 2 ** 20], ["GB", 2 ** 30], ["TB", 2 ** 40], ["PB", 2 ** 50]];
const counts = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});

function unitOf(value) {
	return byteUnits.findLast(([, factor]) => Math.abs(value) >= factor) ?? byteUnits[0];
}

// Two decimals. Halves go to the even neighbour, as in C; of those only eighths exist in binary, and toFixed takes the larger.
function fixed(number) {
	const down = Math.abs(number) * 8 % 4 === 1;
	return (down ? number - Math.sign(number) * 0.001 : number).toFixed(2);
}

function inUnit(value, [name, factor]) {
	const text = fixed(value / factor).replace(/\.00$/, "");
	return text === "0" || text === "-0" ? "0" : text + name;
}

// "12.30MB" for bytes, "1,234" for anything else.
export function formatValue(value, unit) {
	return unit === "bytes" ? inUnit(value, unitOf(value)) : counts.format(value);
}

// The same of a change: with its sign.
export function formatChange(value, unit) {
	return (value > 0 ? "+" : "") + formatValue(value, unit);
}

// One unit for a column, small enough to show 0.01 of its least figure, so that figures compare at a glance.
export function columnFormat(least, total, unit) {
	if (unit !== "bytes")
		return value => counts.format(value);
	const small = unitOf(least || total);
	const chosen = small[1] !== unitOf(total)[1] && least !== 0 && least < total / 100 ? unitOf(least * 100) : small;
	return value => inUnit(value, chosen);
}

export function formatCount(count, what) {
	return `${counts.format(count)} ${what}${count === 1 ? "" : "s"}`;
}

export function formatPercent(value, total) {
	const percent = total !== 0 ? Math.abs(value / total) * 100 : 0;

	if (percent >= 99.95 && percent <= 100.05)
		return "100%";
	if (percent >= 1)
		return `${fixed(percent)}%`;
	return `${Number(percent >= 0.1 ? fixed(percent) : percent.toPrecision(2))}%`;
}

// A standard error in percent of its value: "±5.8%"; "" where there is none.
export function formatError(error, value) {
	const percent = value !== 0 ? error / Math.abs(value) * 100 : 0;

	if (!error)
		return "";
	if (value === 0 || percent >= 999.5)
		return "±>999%";
	return percent < 0.05 ? "±0%" : `±${percent.toFixed(percent < 9.95 ? 1 : 0)}%`;
}

export function formatDuration(nanoseconds) {
	const seconds = nanoseconds / 1e9;

	if (seconds < 120)
		return `${Number(seconds.toPrecision(3))} s`;
	return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 360) / 10} h`;
}

// Texts in a row, without those that are empty.
export const words = (...texts) => texts.filter(Boolean).join(" ");
