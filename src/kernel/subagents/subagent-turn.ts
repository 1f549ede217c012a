// One turn of a subagent, emitted from beginning to end on its parent's stream, with the hooks around it.
import { runTurn } from "../../agent/turn.ts";
import type { Clock } from "../../base/clock.ts";
import { textPart } from "../../events/content.ts";
import type { TurnOutcome } from "../../events/event.ts";
import type { HookRunner } from "../turn/hook-runner.ts";
import { askToStop, type BlockedPrompt, showPrompt } from "../turn/prompt-hooks.ts";
import { createSteerQueue } from "../turn/steers.ts";
import { createToolWatch } from "../turn/tool-hooks.ts";
import { type Agent, type AgentServices, createTurnDependencies } from "../turn/turn-dependencies.ts";
import { createTurnEmit, type EmitInTurn } from "../turn/turn-emitter.ts";

export interface SubagentPrompt {
	readonly text: string;
	/** Whether the program itself wrote the prompt: then no prompt hook sees it. */
	readonly isOwn: boolean;
}

export interface SubagentTurnSettings {
	readonly services: AgentServices;
	/** The turn of the session, or the background task, that it is part of. */
	readonly turnId: string;
	readonly hooks: HookRunner;
	readonly clock: Clock;
	/** Aborts the work: the caller's end, or the subagent's own deadline. */
	readonly work: AbortSignal;
	readonly caller: AbortSignal;
}

export interface EndedTurn {
	readonly outcome: TurnOutcome;
	/** Set when a hook blocked the prompt: nothing of it is in the context. */
	readonly blocked: BlockedPrompt | null;
}

export async function runSubagentTurn(
	prompt: SubagentPrompt,
	agent: Agent,
	settings: SubagentTurnSettings,
): Promise<EndedTurn> {
	const { services, turnId, hooks, work } = settings;
	const emit = createTurnEmit(services, agent.path, turnId, work);
	const blocked = prompt.isOwn ? null : await showPrompt(prompt.text, hooks, emit, work);
	await emit({ type: "turn.started", input: prompt.text });
	const outcome = blocked === null ? await runHooked(prompt.text, agent, emit, settings) : await say(blocked, emit);
	await emit({ type: "turn.ended", outcome });
	return { outcome, blocked };
}

async function say({ text }: BlockedPrompt, emit: EmitInTurn): Promise<TurnOutcome> {
	await emit({ type: "content.delta", part: textPart(text) });
	return { status: "finished" };
}

/** The run and the hooks after it: one of those may make the subagent continue once. */
async function runHooked(
	input: string,
	agent: Agent,
	emit: EmitInTurn,
	{ services, turnId, hooks, clock, work, caller }: SubagentTurnSettings,
): Promise<TurnOutcome> {
	const watch = createToolWatch(hooks, emit, clock, work);
	const turn = { id: turnId, signal: work, steers: createSteerQueue(), watch, stepStarted: () => undefined };
	const dependencies = createTurnDependencies(services, agent, turn);
	let outcome = await runTurn(input, dependencies, work);
	if (outcome.status === "finished") {
		const reason = await askToStop(hooks, emit, work);
		// Work finished in time counts as finished when the deadline ends only the hooks.
		if (caller.aborted) outcome = { status: "cancelled" };
		else if (reason !== null) outcome = await runTurn(reason, dependencies, work);
	}
	await watch.end();
	return outcome;
}
