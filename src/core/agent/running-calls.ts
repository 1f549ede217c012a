import { setMaxListeners } from "node:events";
import { canonicalJson, decodeArguments } from "../../api/values/call-arguments.ts";
import type { ToolCall, ToolReturn } from "../../api/values/content.ts";
import { unlessLate } from "../../base/abort.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { TurnDependencies } from "./dependencies.ts";
import { type AnswerRepetition, withReminder } from "./repetition.ts";
import { runToolCall, type SettledCall } from "./tool-call.ts";

/** Milliseconds for an aborted call to finish its effects before it is abandoned. */
const patience = 1200;

export interface RunningCalls {
	/** Joins a call to an identical one of this answer. With `result`, settles without running. */
	start(call: ToolCall, result?: ToolReturn | null): void;
	/** Waits for all calls; results in call order. Null for an aborted call. */
	results(): Promise<readonly (SettledCall | null)[]>;
	/** Aborts every call and waits a limited time for its effects to end. Emits nothing about them. */
	abandon(): Promise<void>;
	acted(): readonly ActedCall[];
}

export interface ActedCall {
	readonly call: ToolCall;
	/** Null if aborted: its outcome is unknown. */
	readonly result: ToolReturn | null;
}

export function createRunningCalls(
	dependencies: TurnDependencies,
	repetition: AnswerRepetition,
	signal: AbortSignal,
): RunningCalls {
	const own = new AbortController();
	const either = AbortSignal.any([signal, own.signal]);
	// Each call adds a listener, and an answer may have any number of calls.
	setMaxListeners(0, either);
	const targets = createKeyedQueue();
	const executions = new Map<string, Promise<SettledCall | null>>();
	const outcomes: Promise<SettledCall | null>[] = [];
	const acting = new Map<ToolCall, ToolReturn | null>();
	const watched: TurnDependencies = {
		...dependencies,
		journal: {
			...dependencies.journal,
			async started(call, hasEffect) {
				if (hasEffect) acting.set(call, null);
				await dependencies.journal.started(call, hasEffect);
			},
		},
	};
	let allPrepared: Promise<unknown> = Promise.resolve();

	const run = async (call: ToolCall): Promise<SettledCall | null> => {
		const prepared = createDeferred<void>();
		const place = { targets, earlierPrepared: allPrepared, isPrepared: prepared.resolve };
		allPrepared = Promise.all([allPrepared, prepared.promise]);
		// Later calls continue even if this one ended before it was prepared.
		const running = runToolCall(call, watched, place, either).finally(prepared.resolve);
		const settled = await unlessLate(running, either, patience, dependencies.clock);
		if (settled !== null && acting.has(call)) acting.set(call, settled.result);
		return settled;
	};

	const delivered = async (
		call: ToolCall,
		count: number,
		execution: Promise<SettledCall | null>,
	): Promise<SettledCall | null> => {
		const settled = await execution;
		if (settled === null) return null;
		if (either.aborted) {
			await dependencies.journal.ended(call);
			return null;
		}
		const result = withReminder(settled.result, call, count);
		await dependencies.emit({ type: "tool.result", toolCallId: call.id, result });
		return { ...settled, result };
	};

	return {
		start(call, result = null) {
			const key = identity(call);
			// Every call counts, including one that shares another's result.
			const count = repetition.note(key);
			const execution =
				result === null ? (executions.get(key) ?? run(call)) : Promise.resolve({ result, rejection: null });
			executions.set(key, execution);
			const outcome = delivered(call, count, execution);
			// Awaited in `results` or `abandon`; until then a failure must not count as unhandled.
			outcome.catch(() => {});
			outcomes.push(outcome);
		},
		results: () => Promise.all(outcomes),
		async abandon() {
			own.abort();
			await Promise.allSettled(outcomes);
		},
		acted: () => [...acting].map(([call, result]) => ({ call, result })),
	};
}

function identity(call: ToolCall): string {
	const { name, arguments: text } = call.function;
	return `${name} ${canonicalArguments(text) ?? `as written ${text ?? ""}`}`;
}

/** Maximum characters of arguments to canonicalize; models do not write longer arguments in two forms. */
const comparedLength = 64 * 1024;

/** Numbers that may lose precision when parsed: two may look equal, and client tools receive them as written. */
const inexactNumber = /\d{16}|\d[eE][+-]?\d{3}/;

/** Null if the text is not JSON, too long, too deep, or has numbers that must stay as written. */
function canonicalArguments(text: string | null): string | null {
	if (text !== null && (text.length > comparedLength || inexactNumber.test(text))) return null;
	const decoded = decodeArguments(text);
	if (!decoded.ok) return null;
	try {
		return canonicalJson(decoded.value);
	} catch (thrown) {
		if (thrown instanceof RangeError) return null;
		throw thrown;
	}
}
