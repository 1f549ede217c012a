// One validation of a value: the remaining work, the depth, and the faults found.

/** Where a value is within the one that is compared; null for the whole. */
export interface Place {
	readonly parent: Place | null;
	readonly key: string | number;
}

/** The comparison is too much work. */
export class TooMuchWork extends Error {
	override readonly name = "TooMuchWork";
}

/**
 * Steps of a comparison: one for each time a schema is held against a value, and for each key, item, and 16 characters that
 * are looked at. Nested schemas can make millions of a few lines: doubled 20 times, and every value is looked at a million times.
 */
const maximumSteps = 200_000;
/** How deep schemas and references may lead into one another, and values into themselves. */
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
	/** Names are listed once: getting them takes long for objects with many, and schemas may ask again and again. */
	readonly #names = new Map<object, readonly string[]>();
	readonly #faults: { readonly place: Place | null; readonly fault: string }[] = [];

	/** What did not fit, each with its place below `name`. */
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

	/** Notes what does not fit; false, for the check to return. */
	fail(place: Place | null, fault: string): false {
		if (this.#muted === 0 && this.#faults.length < maximumFaults) this.#faults.push({ place, fault });
		return false;
	}

	/** Tries something out that may well not fit, without noting why. */
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
export const shorten = (name: string): string => (name.length > longestName ? `${name.slice(0, longestName)}…` : name);

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
