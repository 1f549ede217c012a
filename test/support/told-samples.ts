// What Kimi Wire and the legacy dialect have in common in what they tell of the sample events.
import type { ToldOfType } from "../contracts/dialect-contract.ts";

/** Nothing, of anybody. */
export const untold: ToldOfType = { own: null, subagent: null };

/** The same of the session's own agent and, wrapped, of subagents. */
export function wrappedBy(wrapper: string) {
	const wrap = (name: string | null) => (name === null ? null : `${wrapper}>${name}`);
	return {
		both: (...names: readonly (string | null)[]): ToldOfType => ({
			own: spread(names),
			subagent: spread(names.map(wrap)),
		}),
		/** Told as it streams, of the session's own agent. */
		streamed: (...names: readonly (string | null)[]): ToldOfType => ({ own: spread(names), subagent: null }),
		/** Told once it is whole, of subagents. */
		merged: (...names: readonly (string | null)[]): ToldOfType => ({ own: null, subagent: spread(names.map(wrap)) }),
	};
}

/** Never wrapped. */
export function unwrapped(...names: readonly (string | null)[]): ToldOfType {
	return { own: spread(names), subagent: spread(names) };
}

/** One name for all samples, or a name for each. */
function spread(names: readonly (string | null)[]): string | null | readonly (string | null)[] {
	const [only] = names;
	return names.length === 1 && only !== undefined ? only : names;
}
