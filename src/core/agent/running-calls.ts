// The tool calls of one model answer: started while it still streams, run in parallel, each emitted when it ends.
import { setMaxListeners } from "node:events";
import { canonicalJson, decodeArguments } from "../../api/values/call-arguments.ts";
import type { ToolCall, ToolReturn } from "../../api/values/content.ts";
import { unlessLate } from "../../base/abort.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { TurnDependencies } from "./dependencies.ts";
import { type AnswerRepetition, withReminder } from "./repetition.ts";
import { runToolCall, type SettledCall } from "./tool-call.ts";

/** Milliseconds for an aborted call to end its effects; then it is abandoned. */
const patience = 1200;

export interface RunningCalls {
	/**
	 * Starts a call, or joins it to an identical one of this answer: the same tool with the same arguments runs once. With a
	 * result it is settled without being run.
	 */
	start(call: ToolCall, result?: ToolReturn | null): void;
	/** Waits for all; results in the order of the calls. Null for an aborted call. */
	results(): Promise<readonly (SettledCall | null)[]>;
	/** Aborts every call and waits a limited time for the end of its effects. Nothing is emitted about them. */
	abandon(): Promise<void>;
	/** The calls so far that began to change something, in their order. */
	acted(): readonly ActedCall[];
}

/** A call that may have had an effect. */
export interface ActedCall {
	readonly call: ToolCall;
	/** Null when it was aborted: its outcome is unknown. */
	readonly result: ToolReturn | null;
}

/** `signal` aborts the calls as well; the caller still awaits `abandon` or `results`. */
export function createRunningCalls(
	dependencies: TurnDependencies,
	repetition: AnswerRepetition,
	signal: AbortSignal,
): RunningCalls {
	const own = new AbortController();
	const either = AbortSignal.any([signal, own.signal]);
	// Each call of an answer adds a listener, and an answer may have any number of them.
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
		// Later calls continue whatever ended this one before it was prepared.
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
			// Every call counts, also one that shares the result of another.
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

/**
 * Characters of the longest arguments that are compared in canonical form: no model writes longer ones in two forms.
 */
const comparedLength = 64 * 1024;

/**
 * In numbers that may not be exact once they are read: two of them may look the same, and tools of clients get them as they
 * are written.
 */
const inexactNumber = /\d{16}|\d[eE][+-]?\d{3}/;

/**
 * Null when the text is not JSON, too long, or nested too deep to serialize, and where numbers count as they are written.
 */
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
