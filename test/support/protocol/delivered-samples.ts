// What Kimi Wire and the legacy dialect have in common in what they deliver of the sample events.
import type { DeliveredOfType } from "../../contracts/dialect-contract.ts";

/** Nothing, of anybody. */
export const undelivered: DeliveredOfType = { own: null, subagent: null };

/** The same of the session's own agent and, wrapped, of subagents. */
export function wrappedBy(wrapper: string) {
	const wrap = (name: string | null) => (name === null ? null : `${wrapper}>${name}`);
	return {
		both: (...names: readonly (string | null)[]): DeliveredOfType => ({
			own: spread(names),
			subagent: spread(names.map(wrap)),
		}),
		/** Delivered as it streams, of the session's own agent. */
		streamed: (...names: readonly (string | null)[]): DeliveredOfType => ({ own: spread(names), subagent: null }),
		/** Delivered once it is whole, of subagents. */
		merged: (...names: readonly (string | null)[]): DeliveredOfType => ({
			own: null,
			subagent: spread(names.map(wrap)),
		}),
	};
}

/** Never wrapped. */
export function unwrapped(...names: readonly (string | null)[]): DeliveredOfType {
	return { own: spread(names), subagent: spread(names) };
}

/** One name for all samples, or a name for each. */
function spread(names: readonly (string | null)[]): string | null | readonly (string | null)[] {
	const [only] = names;
	return names.length === 1 && only !== undefined ? only : names;
}
