import { createTextSearch } from "../../base/text/text-search.ts";
import type { CompiledPattern } from "../patterns/pattern.ts";

export type MatchResult =
	| { readonly ok: true; readonly isFound: boolean }
	| { readonly ok: false; readonly reason: string };

/** Maximum nanoseconds per search. */
const longestSearch = 200_000_000;
/** Maximum target length times word count for a plain search. */
const longestPlainSearch = 20_000_000;
const maximumRetained = 1000;
/** `Shell`, `^Shell$`, `ReadFile|^Grep`: searchable without the engine. */
const plainMatcher = /^\^?\w+\$?(?:\|\^?\w+\$?)*$/;

/** Whether a matcher is valid without compiling it. */
export function isPlainMatcher(matcher: string): boolean {
	return matcher === "" || (matcher.length < 1000 && plainMatcher.test(matcher));
}

let patterns: Promise<typeof import("../patterns/pattern.ts")> | null = null;

export async function compileMatcher(matcher: string): Promise<CompiledPattern> {
	patterns ??= import("../patterns/pattern.ts");
	const { loadPatternCompiler } = await patterns;
	return (await loadPatternCompiler())(matcher, "python");
}

export class Matchers {
	readonly #compiled = new Map<string, Promise<CompiledPattern>>();

	/** If searching a huge target would take too long, the matcher counts as matching. */
	async find(matcher: string, target: string): Promise<MatchResult> {
		if (matcher === "") return { ok: true, isFound: true };
		if (isPlainMatcher(matcher)) {
			const words = matcher.split("|");
			const isShort = words.length === 1 || words.length * target.length <= longestPlainSearch;
			return { ok: true, isFound: !isShort || findPlain(words, target) };
		}
		const compiled = await this.#compile(matcher);
		if (!compiled.ok) return compiled;
		const { pattern } = compiled;
		return { ok: true, isFound: pattern.costIn(target.length) > longestSearch || pattern.test(target) };
	}

	#compile(matcher: string): Promise<CompiledPattern> {
		const known = this.#compiled.get(matcher);
		if (known !== undefined) return known;
		if (this.#compiled.size >= maximumRetained) this.#compiled.clear();
		const compiled = compileMatcher(matcher);
		this.#compiled.set(matcher, compiled);
		return compiled;
	}
}

function findPlain(words: readonly string[], target: string): boolean {
	// `$` also matches before a final newline.
	const whole = target.endsWith("\n") ? target.slice(0, -1) : target;
	return words.some((alternative) => {
		const isStart = alternative.startsWith("^");
		const isEnd = alternative.endsWith("$");
		const word = alternative.slice(isStart ? 1 : 0, isEnd ? -1 : undefined);
		if (isStart) return isEnd ? whole === word : target.startsWith(word);
		return isEnd ? whole.endsWith(word) : createTextSearch(word)(target, 0) !== -1;
	});
}
