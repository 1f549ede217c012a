// Summarizes results as medians, in a table for people and as plain data.
import { cpus } from "node:os";

export interface Measure {
	readonly name: string;
	readonly unit: keyof typeof digits;
	/** The values of every run by the name of what was measured. */
	readonly values: ReadonlyMap<string, readonly number[]>;
}

export function median(values: readonly number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = Math.floor(sorted.length / 2);
	const upper = sorted[middle] ?? Number.NaN;
	return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** The value below which this share of all values lies. */
export function percentile(values: readonly number[], share: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The machine on which the numbers were measured. */
export function machineFacts(): Readonly<Record<string, string | number>> {
	const processors = cpus();
	return {
		date: new Date().toISOString().slice(0, 10),
		node: process.version,
		platform: `${process.platform} ${process.arch}`,
		cores: processors.length,
		processor: processors[0]?.model.trim() ?? "unknown",
	};
}

const digits = {
	...{ ms: 1, µs: 0, "events/s": 0, "turns/s": 0, KB: 0, MB: 1, "MB/s": 1, "×": 1 },
	...{ "commits/s": 0, connections: 0, "statements/min": 0, "sessions/s": 0, "% of a core": 0 },
} as const;

function format(value: number, unit: Measure["unit"]): string {
	const options = { minimumFractionDigits: digits[unit], maximumFractionDigits: digits[unit] };
	const number = value.toLocaleString("en-US", options);
	return unit === "×" ? `${number}×` : `${number} ${unit}`;
}

/** A Markdown table: medians, the range of our own runs, and how each column compares with ours. */
export function toTable(measures: readonly Measure[], own: string): string {
	const others = [...new Set(measures.flatMap(({ values }) => [...values.keys()]))].filter((name) => name !== own);
	const header = ["measure", own, "range", ...others.flatMap((name) => [name, `${own} / ${name}`])];
	const rows = measures.map(({ name, unit, values }) => {
		const ours = values.get(own) ?? [];
		const cells = others.flatMap((other) => {
			const theirs = values.get(other);
			if (theirs === undefined || theirs.length === 0) return ["", ""];
			return [format(median(theirs), unit), `${(median(ours) / median(theirs)).toFixed(2)}×`];
		});
		const range = `${format(Math.min(...ours), unit)} – ${format(Math.max(...ours), unit)}`;
		return [name, format(median(ours), unit), range, ...cells];
	});
	return alignColumns([header, header.map((_, index) => (index === 0 ? ":--" : "--:")), ...rows]);
}

/** A measure of several programs under a load. */
export interface LoadMeasure extends Measure {
	readonly load: string;
	/** Whether the table says how each program compares with the floor. */
	readonly isCompared: boolean;
}

/** A Markdown table with a column for each program: medians, and how those that are compared relate to the one of the floor. */
export function toLoadTable(measures: readonly LoadMeasure[], programs: readonly string[], floor: string): string {
	const rows = measures.map(({ load, name, unit, values, isCompared }, index) => {
		const base = values.get(floor) ?? [];
		const cells = programs.map((program) => {
			const own = values.get(program) ?? [];
			if (own.length === 0) return "";
			const value = format(median(own), unit);
			if (!isCompared || program === floor || base.length === 0) return value;
			return `${value} (${(median(own) / median(base)).toFixed(2)}×)`;
		});
		// A load is named in the first of its rows.
		return [measures[index - 1]?.load === load ? "" : load, name, ...cells];
	});
	return alignColumns([["load", "measure", ...programs], [":--", ":--", ...programs.map(() => "--:")], ...rows]);
}

/** Rows of equal cells; the second row says which columns are aligned to the right. */
function alignColumns(rows: readonly (readonly string[])[]): string {
	const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
	return rows
		.map((row) => {
			const cells = row.map((cell, column) => {
				const width = widths[column] ?? 0;
				if (cell === "--:") return cell.padStart(width, "-");
				if (cell === ":--") return cell.padEnd(width, "-");
				return rows[1]?.[column] === ":--" ? cell.padEnd(width) : cell.padStart(width);
			});
			return `| ${cells.join(" | ")} |`;
		})
		.join("\n");
}

/** Everything as plain data. */
export function toData(measures: readonly Measure[]): object {
	return measures.map(({ name, unit, values }) => ({
		name,
		unit,
		results: Object.fromEntries([...values].map(([key, runs]) => [key, { median: median(runs), runs }])),
	}));
}
