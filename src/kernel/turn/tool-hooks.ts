// The hooks around tool calls. What comes before a call is waited for; what comes after runs beside the turn and is
// over, for the client at least, before the turn ends.

import type { ToolWatch } from "../../agent/dependencies.ts";
import type { Clock } from "../../base/clock.ts";
import { sleep } from "../../base/clock.ts";
import { isRecord } from "../../base/json.ts";
import type { ToolCall, ToolReturn } from "../../events/content.ts";
import type { HookDecision, HookPoint } from "../../hooks/hook.ts";
import type { EmitHookEvent, HookRunner } from "./hook-runner.ts";

/** Characters of a result that a hook is shown. */
const outputLimit = 2000;

/** Milliseconds that hooks behind the turn's last call may still take before the turn ends without them. */
const trailingGrace = 5000;

export interface WatchedTurn extends ToolWatch {
	/** Runs hooks of any point and waits for them. */
	run(point: HookPoint): Promise<HookDecision>;
	/** A watch for a turn within this one, ended by itself. */
	fork(): WatchedTurn;
	/** Runs hooks of any point beside the turn. */
	runConcurrently(point: HookPoint): void;
	/** Waits for what runs beside the turn, or ends it: at once when the turn was cancelled. */
	end(): Promise<void>;
}

export function createToolWatch(
	hooks: HookRunner,
	emit: EmitHookEvent,
	clock: Clock,
	signal: AbortSignal,
): WatchedTurn {
	const concurrentController = new AbortController();
	const beside = new Set<Promise<unknown>>();

	const runConcurrently = (point: HookPoint) => {
		const run = hooks.run(point, emit, AbortSignal.any([signal, concurrentController.signal])).finally(() => {
			beside.delete(run);
		});
		run.catch(() => {});
		beside.add(run);
	};

	return {
		fork: () => createToolWatch(hooks, emit, clock, signal),
		run: (point) => hooks.run(point, emit, signal),
		before: (call, input) => hooks.run(pointOf("PreToolUse", call, input, {}), emit, signal),
		after: (call, input, result) => {
			const output = outputText(result).slice(0, outputLimit);
			runConcurrently(pointOf("PostToolUse", call, input, { tool_output: output }));
		},
		crashed: (call, input, error) => runConcurrently(pointOf("PostToolUseFailure", call, input, { error })),
		runConcurrently,
		async end() {
			if (beside.size > 0) await Promise.race([Promise.allSettled(beside), sleep(clock, trailingGrace, signal)]);
			concurrentController.abort();
			await Promise.allSettled(beside);
		},
	};
}

function pointOf(
	event: "PreToolUse" | "PostToolUse" | "PostToolUseFailure",
	call: ToolCall,
	input: unknown,
	more: Readonly<Record<string, unknown>>,
): HookPoint {
	const { name } = call.function;
	const toolInput = isRecord(input) ? input : {};
	return { event, target: name, input: { tool_name: name, tool_input: toolInput, tool_call_id: call.id, ...more } };
}

function outputText({ output, message }: ToolReturn): string {
	const text =
		typeof output === "string" ? output : output.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
	return text === "" ? message : text;
}
