// The hooks around a prompt, for the session's own agent and for subagents: those before may block the prompt, those
// after may make the agent continue.
import type { UserInput } from "../../api/values/content.ts";
import type { EmitHookEvent, HookRunner } from "./hook-runner.ts";

/** A prompt that hooks blocked. */
export interface BlockedPrompt {
	/** The hook's own words; empty when it gave none. */
	readonly reason: string;
	/** The answer shown instead of the model's. */
	readonly text: string;
}

/** Runs the hooks on a prompt; null when it may be sent to the model. */
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

/** Runs the hooks on whether an agent may stop; returns the prompt to continue with, or null. */
export async function askToStop(hooks: HookRunner, emit: EmitHookEvent, signal: AbortSignal): Promise<string | null> {
	const point = { event: "Stop", target: "", input: { stop_hook_active: false } } as const;
	const { action, reason } = await hooks.run(point, emit, signal);
	return action === "block" && reason !== "" ? reason : null;
}
