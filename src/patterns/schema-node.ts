// A compiled schema: the checks for a value, in order.
import type { Place, Run } from "./schema-run.ts";

/** Looks at a value; notes in the run what does not fit. `evaluated` takes what was looked at, where somebody asks for it. */
export type Check = (value: unknown, place: Place | null, run: Run, evaluated: Evaluated | null) => boolean;

export interface SchemaNode {
	/** In this order. Filled while the schema is read, which may refer to itself. */
	readonly checks: Check[];
	/** Whether it asks what of a value its parts have looked at. */
	asksForRest: boolean;
}

/** What of an object or array the parts of a schema have looked at. */
export class Evaluated {
	readonly names = new Set<string>();
	readonly items = new Set<number>();
	/** Items before this one. */
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

/** The same for one of several schemas of which some may not fit: what they looked at counts only if they do. */
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
