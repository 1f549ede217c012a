// Hooks before a call are awaited; those after it run concurrently and end before the turn does for clients.

import { joinTexts, type ToolCall, type ToolReturn } from "../../api/values/content.ts";
import { workIsOver } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { sleep } from "../../base/clock.ts";
import { isRecord } from "../../base/json.ts";
import { beginning } from "../../base/text/well-formed.ts";
import type { ToolWatch } from "../../core/agent/dependencies.ts";
import type { HookDecision, HookPoint } from "../../core/hooks/hook.ts";
import type { EmitHookEvent, HookRunner } from "./hook-runner.ts";

/** Maximum characters of a result in hook input. */
const outputLimit = 2000;

/** Milliseconds that hooks after the last call may delay the end of the turn. */
const trailingGrace = 5000;

export interface WatchedTurn extends ToolWatch {
	run(point: HookPoint): Promise<HookDecision>;
	/** A watch for a nested turn, which ends it itself. */
	fork(): WatchedTurn;
	runConcurrently(point: HookPoint): void;
	/** Waits for concurrent hooks, or ends them immediately when the turn was cancelled. */
	end(): Promise<void>;
}

export function createToolWatch(
	hooks: HookRunner,
	emit: EmitHookEvent,
	clock: Clock,
	signal: AbortSignal,
): WatchedTurn {
	const concurrentController = new AbortController();
	const concurrent = new Set<Promise<unknown>>();

	const runConcurrently = (point: HookPoint) => {
		const run = hooks.run(point, emit, AbortSignal.any([signal, concurrentController.signal])).finally(() => {
			concurrent.delete(run);
		});
		run.catch(() => {});
		concurrent.add(run);
	};

	return {
		fork: () => createToolWatch(hooks, emit, clock, signal),
		run: (point) => hooks.run(point, emit, signal),
		before: (call, input) => hooks.run(pointOf("PreToolUse", call, input, {}), emit, signal),
		after: (call, input, result) => {
			const output = beginning(outputText(result), outputLimit);
			runConcurrently(pointOf("PostToolUse", call, input, { tool_output: output }));
		},
		crashed: (call, input, error) => runConcurrently(pointOf("PostToolUseFailure", call, input, { error })),
		runConcurrently,
		async end() {
			if (concurrent.size > 0)
				await Promise.race([Promise.allSettled(concurrent), sleep(clock, trailingGrace, signal)]);
			concurrentController.abort(workIsOver);
			await Promise.allSettled(concurrent);
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
	const text = typeof output === "string" ? output : joinTexts(output, "");
	return text === "" ? message : text;
}
