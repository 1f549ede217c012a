// The hooks around what an agent is told to do, of the session's own agent and of subagents alike: those before may keep
// a prompt from the model, those behind may send the agent back to work.
import type { UserInput } from "../../events/content.ts";
import type { EmitHookEvent, HookRunner } from "./hook-runner.ts";

/** A prompt that hooks keep from the model. */
export interface BlockedPrompt {
	/** The hook's own words; empty when it gave none. */
	readonly reason: string;
	/** What is answered in place of the model. */
	readonly text: string;
}

/** Shows a prompt to the hooks; null when it may go on to the model. */
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

/** Asks the hooks whether an agent may stop; what they give it to do instead, or null. */
export async function askToStop(hooks: HookRunner, emit: EmitHookEvent, signal: AbortSignal): Promise<string | null> {
	const point = { event: "Stop", target: "", input: { stop_hook_active: false } } as const;
	const { action, reason } = await hooks.run(point, emit, signal);
	return action === "block" && reason !== "" ? reason : null;
}
