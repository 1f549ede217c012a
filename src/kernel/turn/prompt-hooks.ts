import type { UserInput } from "../../api/values/content.ts";
import type { EmitHookEvent, HookRunner } from "./hook-runner.ts";

export interface BlockedPrompt {
	/** The reason given by the hook, possibly empty. */
	readonly reason: string;
	readonly text: string;
}

/** Runs the hooks on a prompt. Null when it may go to the model. */
export async function showPrompt(
	input: UserInput,
	hooks: Pick<HookRunner, "run">,
	emit: EmitHookEvent,
	signal: AbortSignal,
): Promise<BlockedPrompt | null> {
	const prompt = typeof input === "string" ? input : "";
	const point = { event: "UserPromptSubmit", target: prompt, input: { prompt } } as const;
	const { action, reason } = await hooks.run(point, emit, signal);
	if (action === "allow") return null;
	return { reason, text: reason === "" ? "Prompt blocked by hook." : reason };
}

/** Runs the stop hooks. Returns the prompt to continue with, or null. */
export async function askToStop(hooks: HookRunner, emit: EmitHookEvent, signal: AbortSignal): Promise<string | null> {
	const point = { event: "Stop", target: "", input: { stop_hook_active: false } } as const;
	const { action, reason } = await hooks.run(point, emit, signal);
	return action === "block" && reason !== "" ? reason : null;
}
