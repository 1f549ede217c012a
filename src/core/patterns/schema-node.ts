// A compiled schema: the checks for a value, in order.
import type { Place, Run } from "./schema-run.ts";

/**
 * Checks a value and notes its faults in the run. `evaluated` collects the parts that were evaluated, where they are
 * required.
 */
export type Check = (value: unknown, place: Place | null, run: Run, evaluated: Evaluated | null) => boolean;

export interface SchemaNode {
	/** In order. Filled while the schema is compiled, because it may refer to itself. */
	readonly checks: Check[];
	/** Whether it requires to know which parts of a value were evaluated. */
	asksForRest: boolean;
}

/** The parts of an object or array that the subschemas have evaluated. */
export class Evaluated {
	readonly names = new Set<string>();
	readonly items = new Set<number>();
	/** The number of items from the beginning. */
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

/** Whether the value fits the schema. Throws TooMuchWork. */
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

/** The same for one of several schemas that may not fit: its evaluated parts count only if it does. */
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
