// One tool call from arguments to result: look up, decode, open, approve, record the intent, execute.
import { errorText } from "../base/errors.ts";
import type { ToolCall, ToolReturn } from "../events/content.ts";
import { toolError } from "../events/content.ts";
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

/** Runs the call to its end. Every fault of tool or arguments is a result; storage failures reject. */
export async function runToolCall(
	call: ToolCall,
	dependencies: CallDependencies,
	signal: AbortSignal,
): Promise<SettledCall | null> {
	const tool = dependencies.tools.find(call.function.name);
	if (tool === null) return settled(unknownTool(call.function.name));
	const decoded = decodeArguments(call.function.arguments);
	if (!decoded.ok) return settled(unparsableArguments(decoded.reason));

	const opened = await attempt(() =>
		tool.open(decoded.value, { toolCallId: call.id, rawArguments: call.function.arguments }),
	);
	if (signal.aborted) return null;
	if (!opened.ok) return settled(crashedTool(opened.reason));
	if (!opened.value.ok) return settled(unfittingArguments(opened.value.issue));
	const { preparation } = opened.value;
	if (preparation.kind === "settled") return settled(preparation.result);

	if (preparation.approval !== null) {
		const outcome = await dependencies.approve(preparation.approval, call, signal);
		if (outcome.kind === "cancelled") return null;
		if (outcome.kind === "unattended") return settled(toolError(outcome.reason, "Rejected: nobody to ask"));
		if (outcome.kind === "rejected") {
			const rejection = outcome.feedback === "" ? "plain" : "with-feedback";
			return { result: rejectedByPerson(outcome.feedback), rejection };
		}
	}

	if (preparation.hasEffect) await dependencies.journal.started(call);
	// A cancel that arrived while the intent was being recorded still prevents the effect.
	const executed = signal.aborted ? null : await attempt(() => preparation.execute(signal));
	const result = executed === null ? null : executed.ok ? executed.value : crashedTool(executed.reason);
	if (preparation.hasEffect) await dependencies.journal.finished(call, result?.is_error ?? true);
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
