import { beginning } from "../../base/text/well-formed.ts";

export const openMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8";

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
	readonly labels?: Labels;
	readonly value: number;
}

interface Family {
	readonly name: string;
	/** One sentence. */
	readonly help: string;
}

/** Maximum label sets per metric; others count as `other`, because tool names come from outside. */
export const seriesLimit = 200;

class Series<Value> {
	readonly #values = new Map<string, Value>();
	readonly #create: () => Value;

	constructor(create: () => Value) {
		this.#create = create;
	}

	of(labels: Labels): Value {
		const text = toLabelText(labels);
		const known = this.#values.get(text);
		if (known !== undefined) return known;
		const isFull = this.#values.size >= seriesLimit;
		const key = isFull ? toLabelText(Object.fromEntries(Object.keys(labels).map((name) => [name, "other"]))) : text;
		const value = this.#values.get(key) ?? this.#create();
		this.#values.set(key, value);
		return value;
	}

	entries(): Iterable<[string, Value]> {
		return this.#values.entries();
	}
}

export class Counter {
	readonly #family: Family;
	readonly #series = new Series(() => ({ value: 0 }));

	constructor(family: Family) {
		this.#family = family;
	}

	add(amount: number, labels: Labels = {}): void {
		this.#series.of(labels).value += amount;
	}

	lines(): string[] {
		const { name } = this.#family;
		const samples = [...this.#series.entries()].map(([labels, { value }]) => toLine(`${name}_total`, labels, value));
		return [...toHead(this.#family, "counter"), ...samples];
	}
}

export class Histogram {
	readonly #family: Family;
	readonly #bounds: readonly number[];
	readonly #series: Series<{ readonly counts: number[]; sum: number }>;

	/** `bounds` are the upper bucket limits in ascending order. */
	constructor(family: Family, bounds: readonly number[]) {
		this.#family = family;
		this.#bounds = bounds;
		this.#series = new Series(() => ({ counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 }));
	}

	add(value: number, labels: Labels = {}): void {
		const series = this.#series.of(labels);
		const found = this.#bounds.findIndex((bound) => value <= bound);
		const index = found === -1 ? this.#bounds.length : found;
		series.counts[index] = (series.counts[index] ?? 0) + 1;
		series.sum += value;
	}

	lines(): string[] {
		const { name } = this.#family;
		const lines = toHead(this.#family, "histogram");
		for (const [labels, { counts, sum }] of this.#series.entries()) {
			let count = 0;
			counts.forEach((more, index) => {
				count += more;
				const bound = this.#bounds[index];
				const end = `le="${bound === undefined ? "+Inf" : toBound(bound)}"`;
				lines.push(toLine(`${name}_bucket`, labels === "" ? end : `${labels},${end}`, count));
			});
			lines.push(toLine(`${name}_sum`, labels, sum), toLine(`${name}_count`, labels, count));
		}
		return lines;
	}
}

export function toGauge(family: Family, samples: readonly Sample[]): string[] {
	return [
		...toHead(family, "gauge"),
		...samples.map(({ labels = {}, value }) => toLine(family.name, toLabelText(labels), value)),
	];
}

export function toCount(family: Family, value: number): string[] {
	return [...toHead(family, "counter"), toLine(`${family.name}_total`, "", value)];
}

export function toOpenMetrics(lines: readonly string[]): string {
	return `${[...lines, "# EOF"].join("\n")}\n`;
}

function toHead({ name, help }: Family, type: "counter" | "gauge" | "histogram"): string[] {
	const unit = /_(seconds|bytes)$/.exec(name)?.[1];
	const units = unit === undefined ? [] : [`# UNIT ${name} ${unit}`];
	return [`# TYPE ${name} ${type}`, ...units, `# HELP ${name} ${escaped(help)}`];
}

function toLine(name: string, labels: string, value: number): string {
	return `${name}${labels === "" ? "" : `{${labels}}`} ${Number.isFinite(value) ? value : "NaN"}`;
}

function toLabelText(labels: Labels): string {
	return Object.entries(labels)
		.map(([name, value]) => `${name}="${escaped(beginning(value, 200))}"`)
		.join(",");
}

function escaped(text: string): string {
	return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** With a decimal point, so that equal buckets have equal names. */
function toBound(bound: number): string {
	return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}
