import type { Place, Run } from "./schema-run.ts";

/** Checks a value and records its faults in the run. `evaluated` collects the evaluated parts if they are needed. */
export type Check = (value: unknown, place: Place | null, run: Run, evaluated: Evaluated | null) => boolean;

export interface SchemaNode {
	/** In order. Filled during compilation, because a schema may refer to itself. */
	readonly checks: Check[];
	/** Whether it needs to know the evaluated parts of a value. */
	asksForRest: boolean;
}

export class Evaluated {
	readonly names = new Set<string>();
	readonly items = new Set<number>();
	firstItems = 0;

	add(other: Evaluated, run: Run): void {
		run.spend(3 * (other.names.size + other.items.size));
		for (const name of other.names) this.names.add(name);
		for (const item of other.items) this.items.add(item);
		this.firstItems = Math.max(this.firstItems, other.firstItems);
	}

	hasItem(index: number): boolean {
		return index < this.firstItems || this.items.has(index);
	}
}

/** Throws TooMuchWork. */
export function fits(
	node: SchemaNode,
	value: unknown,
	place: Place | null,
	run: Run,
	outer: Evaluated | null,
): boolean {
	run.enter();
	const evaluated = node.asksForRest ? new Evaluated() : outer;
	const result = node.checks.every((check) => check(value, place, run, evaluated));
	if (result && evaluated !== null && outer !== null && evaluated !== outer) outer.add(evaluated, run);
	run.leave();
	return result;
}

/** Like `fits` for one of several alternatives: its evaluated parts only count on success. */
export function fitsAlone(
	node: SchemaNode,
	value: unknown,
	place: Place | null,
	run: Run,
	outer: Evaluated | null,
): boolean {
	const evaluated = outer === null ? null : new Evaluated();
	const result = fits(node, value, place, run, evaluated);
	if (result && evaluated !== null && outer !== null) outer.add(evaluated, run);
	return result;
}
