import { cut } from "../../base/text/sentence.ts";

export interface Place {
	readonly parent: Place | null;
	readonly key: string | number;
}

export class TooMuchWork extends Error {
	override readonly name = "TooMuchWork";
}

/** One per schema application, key, item and 16 characters: 20 nested doublings would need a million. */
const maximumSteps = 200_000;
const maximumDepth = 400;
const maximumFaults = 8;
const longestName = 200;
/** Nanoseconds for all pattern searches together. */
const longestSearch = 150_000_000;

export class Run {
	#steps = maximumSteps;
	#depth = 0;
	#searchTime = longestSearch;
	#muted = 0;
	/** Caches member names, because listing them is slow for large objects and schemas may need them repeatedly. */
	readonly #names = new Map<object, readonly string[]>();
	readonly #faults: { readonly place: Place | null; readonly fault: string }[] = [];

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

	namesOf(value: object): readonly string[] {
		const known = this.#names.get(value);
		if (known !== undefined) return known;
		const names = Object.keys(value);
		this.#names.set(value, names);
		this.spend(names.length / 4);
		return names;
	}

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

	fail(place: Place | null, fault: string): false {
		if (this.#muted === 0 && this.#faults.length < maximumFaults) this.#faults.push({ place, fault });
		return false;
	}

	/** Runs an attempt without recording its faults. */
	tryOut(attempt: () => boolean): boolean {
		this.#muted += 1;
		const fits = attempt();
		this.#muted -= 1;
		return fits;
	}

	/** Tries alternatives; drops all faults if one succeeds. */
	tryAny(attempts: () => boolean): boolean {
		const known = this.#faults.length;
		const fits = attempts();
		if (fits) this.#faults.length = known;
		return fits;
	}
}

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
