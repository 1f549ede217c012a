// One tool call from arguments to result: look up, decode, open, approve, record the intent, execute.
import { errorText } from "../base/errors.ts";
import type { KeyedQueue } from "../base/keyed-queue.ts";
import type { ToolCall, ToolReturn } from "../events/content.ts";
import { toolError } from "../events/content.ts";
import type { Preparation, Tool } from "../tools/tool.ts";
import { decodeArguments } from "./arguments.ts";
import type { TurnDependencies } from "./dependencies.ts";
import { crashedTool, rejectedByPerson, unfittingArguments, unknownTool, unparsableArguments } from "./tool-results.ts";

/** How a call ended. Null stands for a call that was cut off: it has no result to tell. */
export interface SettledCall {
	readonly result: ToolReturn;
	/** Whether a person refused it: without a word, or with feedback that lets the turn go on. */
	readonly rejection: "plain" | "with-feedback" | null;
}

type CallDependencies = Pick<TurnDependencies, "tools" | "approve" | "journal">;

/** The place of a call among those of its answer. */
export interface PlaceInAnswer {
	/** Lines up the calls that change the same thing. */
	readonly targets: KeyedQueue;
	/** Resolves once every earlier call has been prepared: calls line up in the order of the answer. */
	readonly earlierPrepared: Promise<unknown>;
	isPrepared(): void;
}

/** Runs the call to its end. Every fault of tool or arguments is a result; storage failures reject. */
export async function runToolCall(
	call: ToolCall,
	dependencies: CallDependencies,
	place: PlaceInAnswer,
	signal: AbortSignal,
): Promise<SettledCall | null> {
	const tool = dependencies.tools.find(call.function.name);
	if (tool === null) return settled(unknownTool(call.function.name));
	const decoded = decodeArguments(call.function.arguments);
	if (!decoded.ok) return settled(unparsableArguments(decoded.reason));
	const prepare = () => prepareCall(tool, decoded.value, call);

	const preparation = await prepare();
	place.isPrepared();
	if (signal.aborted) return null;
	if (preparation.kind === "settled") return settled(preparation.result);
	const { approval, target } = preparation;
	if (approval === null) return await execute(preparation, call, dependencies, signal);

	if (target !== null) await place.earlierPrepared;
	if (signal.aborted) return null;
	const outcome = await dependencies.approve(approval, call, signal);
	if (outcome.kind === "cancelled") return null;
	if (outcome.kind === "unattended") return settled(toolError(outcome.reason, "Rejected: nobody to ask"));
	if (outcome.kind === "rejected") {
		const rejection = outcome.feedback === "" ? "plain" : "with-feedback";
		return { result: rejectedByPerson(outcome.feedback), rejection };
	}
	if (outcome.isShown || target === null) return await execute(preparation, call, dependencies, signal);

	// Nobody saw the preparation, so it may follow what earlier calls of this answer did to the same target.
	return await place.targets.run(target, async () => {
		const anew = await prepare();
		if (anew.kind === "settled") return settled(anew.result);
		const isSameNeed = anew.approval?.action === approval.action;
		return await execute(isSameNeed ? anew : preparation, call, dependencies, signal);
	});
}

/** Opens the call; arguments that do not fit and tools that crash become results. */
async function prepareCall(tool: Tool, value: unknown, call: ToolCall): Promise<Preparation> {
	const opened = await attempt(() => tool.open(value, { toolCallId: call.id, rawArguments: call.function.arguments }));
	if (!opened.ok) return { kind: "settled", result: crashedTool(opened.reason) };
	return opened.value.ok
		? opened.value.preparation
		: { kind: "settled", result: unfittingArguments(opened.value.issue) };
}

/** Records the intent, runs the effect, records that it is over. */
async function execute(
	preparation: Extract<Preparation, { kind: "ready" }>,
	call: ToolCall,
	{ journal }: CallDependencies,
	signal: AbortSignal,
): Promise<SettledCall | null> {
	if (preparation.hasEffect) await journal.started(call);
	// A cancel that arrived while the intent was being recorded still prevents the effect.
	const executed = signal.aborted ? null : await attempt(() => preparation.execute(signal));
	const result = executed === null ? null : executed.ok ? executed.value : crashedTool(executed.reason);
	if (preparation.hasEffect) await journal.finished(call, result?.is_error ?? true);
	return result === null || signal.aborted ? null : settled(result);
}

function settled(result: ToolReturn): SettledCall {
	return { result, rejection: null };
}

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
	try {
		return { ok: true, value: await work() };
	} catch (thrown) {
		return { ok: false, reason: errorText(thrown) };
	}
}
