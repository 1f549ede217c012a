import { isDeepStrictEqual } from "node:util";
import { decodeArguments } from "../../api/values/call-arguments.ts";
import type { ToolCall, ToolReturn } from "../../api/values/content.ts";
import { unlessAborted } from "../../base/abort.ts";
import { errorText, KernelError } from "../../base/errors.ts";
import type { KeyedQueue } from "../../base/keyed-queue.ts";
import { otherWork } from "../../base/pace.ts";
import { fitArguments } from "../tools/fitted-arguments.ts";
import type { ApprovalNeed, Preparation, Refusal, Tool } from "../tools/tool.ts";
import type { TurnDependencies } from "./dependencies.ts";
import {
	beyondBudget,
	blockedByHook,
	crashedTool,
	deniedByPolicy,
	rejectedByPerson,
	unfittingArguments,
	unknownTool,
	unparsableArguments,
} from "./tool-results.ts";

export interface SettledCall {
	readonly result: ToolReturn;
	/** Whether a user refused it, and if so, with feedback, after which the turn continues. */
	readonly rejection: "plain" | "with-feedback" | null;
}

/** Arguments longer than this, in characters, are slow to parse, so yield before and after. */
const longArguments = 64 * 1024;

type CallDependencies = Pick<
	TurnDependencies,
	"tools" | "approve" | "journal" | "progress" | "recordFiles" | "watch" | "runHooks" | "budget" | "isSubagent"
>;

export interface PlaceInAnswer {
	/** Serializes calls that change the same target. */
	readonly targets: KeyedQueue;
	/** Resolves once all earlier calls are prepared: calls are prepared in answer order. */
	readonly earlierPrepared: Promise<unknown>;
	isPrepared(): void;
}

/** Runs the call to its end. Tool and argument errors become results; storage errors reject. */
export async function runToolCall(
	call: ToolCall,
	dependencies: CallDependencies,
	place: PlaceInAnswer,
	signal: AbortSignal,
): Promise<SettledCall | null> {
	const tool = dependencies.tools.find(call.function.name);
	if (tool === null) return settled(unknownTool(call.function.name));
	// The call's events were sent in this event loop turn, and the tool checks the arguments in the same turn.
	const isLong = (call.function.arguments?.length ?? 0) > longArguments;
	if (isLong) await otherWork();
	const decoded = decodeArguments(call.function.arguments);
	if (isLong) await otherWork();
	if (!decoded.ok) return settled(unparsableArguments(decoded.reason));
	const value = fitArguments(decoded.value, await tool.parameters());
	if (isLong) await otherWork();
	const verdict = await dependencies.watch.before(call, value);
	if (signal.aborted) return null;
	if (verdict.action === "block") return settled(blockedByHook(verdict.reason));
	const { runHooks } = dependencies;
	if (runHooks !== undefined) {
		const own = await runHooks.before(call, value);
		if (signal.aborted) return null;
		if (own.action === "block") return settled(blockedByHook(own.reason));
	}
	const spent = dependencies.budget.takeToolCall();
	if (spent !== null) return settled(beyondBudget(spent.message));
	const allowed = await runAllowed(
		tool,
		{ value, text: textOf(call, decoded.value, value) },
		call,
		dependencies,
		place,
		signal,
	);
	if (allowed === null) return null;
	const { rejection, crash } = allowed;
	const result = runHooks === undefined ? allowed.result : await runHooks.after(call, allowed.result);
	if (crash === null) dependencies.watch.after(call, value, result);
	else dependencies.watch.crashed(call, value, crash);
	return { result, rejection };
}

interface FittedArguments {
	readonly value: unknown;
	readonly text: string | null;
}

function textOf(call: ToolCall, decoded: unknown, value: unknown): string | null {
	return value === decoded ? call.function.arguments : JSON.stringify(value);
}

interface RanCall extends SettledCall {
	readonly crash: string | null;
}

async function runAllowed(
	tool: Tool,
	fitted: FittedArguments,
	call: ToolCall,
	dependencies: CallDependencies,
	place: PlaceInAnswer,
	signal: AbortSignal,
): Promise<RanCall | null> {
	// It changes nothing, so it need not be awaited after an abort.
	const prepare = () => unlessAborted(prepareCall(tool, fitted, call, signal), signal);
	const preparation = await prepare();
	place.isPrepared();
	if (preparation === null || signal.aborted) return null;
	if (preparation.kind !== "ready") return toRan(preparation);
	const { approval, target } = preparation;
	if (approval === null) return await execute(preparation, call, dependencies, signal);

	if (target !== null) await place.earlierPrepared;
	if (signal.aborted) return null;
	const outcome = await dependencies.approve(approval, call, signal);
	if (outcome.kind === "cancelled") return null;
	if (outcome.kind === "denied") return ran(deniedByPolicy(outcome.by, outcome.reason));
	if (outcome.kind === "rejected") {
		const rejection = outcome.feedback === "" ? "plain" : "with-feedback";
		return { result: rejectedByPerson(outcome.feedback, dependencies.isSubagent), rejection, crash: null };
	}
	if (outcome.isShown || target === null) return await execute(preparation, call, dependencies, signal);

	// The preparation was not shown, so repeat it in case an earlier call of this answer changed the target.
	return await place.targets.run(target, async () => {
		const anew = await prepare();
		if (anew === null) return null;
		if (anew.kind !== "ready") return toRan(anew);
		return await execute(isSameNeed(approval, anew.approval) ? anew : preparation, call, dependencies, signal);
	});
}

function isSameNeed(decided: ApprovalNeed, other: ApprovalNeed | null): boolean {
	return other?.action === decided.action && isDeepStrictEqual(other.subjects, decided.subjects);
}

type Crash = { readonly kind: "crash"; readonly reason: string };

async function prepareCall(
	tool: Tool,
	{ value, text }: FittedArguments,
	call: ToolCall,
	signal: AbortSignal,
): Promise<Preparation | Crash> {
	const context = { toolCallId: call.id, rawArguments: text, signal };
	const opened = await attempt(() => tool.open(value, context));
	if (!opened.ok) return crashOf(opened.thrown);
	return opened.value.ok
		? opened.value.preparation
		: { kind: "settled", result: unfittingArguments(opened.value.issue) };
}

async function execute(
	preparation: Extract<Preparation, { kind: "ready" }>,
	call: ToolCall,
	dependencies: CallDependencies,
	signal: AbortSignal,
): Promise<RanCall | null> {
	const { journal } = dependencies;
	await journal.started(call, preparation.hasEffect);
	// A cancel during the recording of the intent still prevents the effect.
	const executed = signal.aborted ? null : await attempt(() => runRecorded(preparation, call, dependencies, signal));
	if (!signal.aborted && executed !== null) return toExecuted(executed);
	await journal.ended(call);
	return null;
}

async function runRecorded(
	preparation: Extract<Preparation, { kind: "ready" }>,
	call: ToolCall,
	dependencies: CallDependencies,
	signal: AbortSignal,
): Promise<ToolReturn | Refusal> {
	const run = () => runWatched(preparation, call, dependencies, signal);
	const { recordFiles } = dependencies;
	if (!preparation.hasEffect || recordFiles === undefined) return await run();
	return await recordFiles(preparation.approval?.subjects ?? [], run, signal);
}

async function runWatched(
	preparation: Extract<Preparation, { kind: "ready" }>,
	call: ToolCall,
	dependencies: CallDependencies,
	signal: AbortSignal,
): Promise<ToolReturn | Refusal> {
	const progress = dependencies.progress(call, signal);
	try {
		return await preparation.execute(signal, progress.report);
	} finally {
		progress.end();
	}
}

function toExecuted(executed: Attempt<ToolReturn | Refusal>): RanCall {
	return executed.ok ? ranTo(executed.value) : toRan(crashOf(executed.thrown));
}

function ranTo(value: ToolReturn | Refusal): RanCall {
	return "kind" in value ? { result: value.result, rejection: "plain", crash: null } : ran(value);
}

function toRan(ended: Extract<Preparation, { kind: "settled" }> | Crash): RanCall {
	return ended.kind === "settled" ? ran(ended.result) : { ...settled(crashedTool(ended.reason)), crash: ended.reason };
}

function ran(result: ToolReturn): RanCall {
	return { ...settled(result), crash: null };
}

function settled(result: ToolReturn): SettledCall {
	return { result, rejection: null };
}

/** The result if a tool threw. Session storage errors are rethrown, because they are not the tool's fault. */
function crashOf(thrown: unknown): Crash {
	if (thrown instanceof KernelError && thrown.code === "storage-failed") throw thrown;
	return { kind: "crash", reason: errorText(thrown) };
}

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly thrown: unknown };

async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
	try {
		return { ok: true, value: await work() };
	} catch (thrown) {
		return { ok: false, thrown };
	}
}
