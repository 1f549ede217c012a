// One validation of a value: the remaining work, the depth, and the faults found.
import { cut } from "../../base/text/sentence.ts";

/** The place of a value within the whole; null for the whole. */
export interface Place {
	readonly parent: Place | null;
	readonly key: string | number;
}

/** The validation is too much work. */
export class TooMuchWork extends Error {
	override readonly name = "TooMuchWork";
}

/**
 * Maximal steps of a validation: one for each schema applied to a value, and for each key, item, and 16 characters that
 * are checked. A few lines of nested schemas can require millions: doubled 20 times, they check every value a million
 * times.
 */
const maximumSteps = 200_000;
/** Maximal nesting of schemas, references and values. */
const maximumDepth = 400;
const maximumFaults = 8;
const longestName = 200;
/** Nanoseconds that all searches for patterns may take. */
const longestSearch = 150_000_000;

export class Run {
	#steps = maximumSteps;
	#depth = 0;
	#searchTime = longestSearch;
	#muted = 0;
	/** Names are listed once: that takes long for large objects, and schemas may need them again and again. */
	readonly #names = new Map<object, readonly string[]>();
	readonly #faults: { readonly place: Place | null; readonly fault: string }[] = [];

	/** The faults, each with its place below `name`. */
	faults(name: string): string {
		return this.#faults.map(({ place, fault }) => `${name}${toPath(place)} ${fault}`).join(", ");
	}

	spend(steps: number): void {
		this.#steps -= steps;
		if (this.#steps < 0) {
			throw new TooMuchWork(
				`it takes more than ${maximumSteps.toLocaleString("en")} steps to compare them with the schema`,
			);
		}
	}

	/** The names in an object. */
	namesOf(value: object): readonly string[] {
		const known = this.#names.get(value);
		if (known !== undefined) return known;
		const names = Object.keys(value);
		this.#names.set(value, names);
		this.spend(names.length / 4);
		return names;
	}

	/** Nanoseconds for a search. */
	spendTime(nanoseconds: number): void {
		this.#searchTime -= nanoseconds;
		if (this.#searchTime < 0) throw new TooMuchWork("searching them for the patterns of the schema takes too long");
	}

	enter(): void {
		this.spend(1);
		this.#depth += 1;
		if (this.#depth > maximumDepth)
			throw new TooMuchWork(`schema or values lead more than ${maximumDepth} levels deep`);
	}

	leave(): void {
		this.#depth -= 1;
	}

	/** Notes a fault; returns false, for the check to return. */
	fail(place: Place | null, fault: string): false {
		if (this.#muted === 0 && this.#faults.length < maximumFaults) this.#faults.push({ place, fault });
		return false;
	}

	/** Runs an attempt that may well fail, without noting why. */
	tryOut(attempt: () => boolean): boolean {
		this.#muted += 1;
		const fits = attempt();
		this.#muted -= 1;
		return fits;
	}

	/** Tries one of several ways; the faults of the others are dropped when one of them fits. */
	tryAny(attempts: () => boolean): boolean {
		const known = this.#faults.length;
		const fits = attempts();
		if (fits) this.#faults.length = known;
		return fits;
	}
}

/** A name in a sentence. */
export const shorten = (name: string): string => cut(name, longestName);

/** As a JSON pointer. */
export function toPath(place: Place | null): string {
	const keys: string[] = [];
	for (let at = place; at !== null; at = at.parent) {
		keys.push(shorten(String(at.key).replaceAll("~", "~0").replaceAll("/", "~1")));
	}
	return keys
		.reverse()
		.map((key) => `/${key}`)
		.join("");
}
