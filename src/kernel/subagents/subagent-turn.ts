import { textPart } from "../../api/values/content.ts";
import type { TurnOutcome } from "../../api/values/event.ts";
import { unlessLate } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import { runTurn } from "../../core/agent/turn.ts";
import type { HookRunner } from "../turn/hook-runner.ts";
import { askToStop, type BlockedPrompt, showPrompt } from "../turn/prompt-hooks.ts";
import { createSteerQueue } from "../turn/steers.ts";
import { createToolWatch } from "../turn/tool-hooks.ts";
import { type Agent, type AgentServices, createTurnDependencies } from "../turn/turn-dependencies.ts";
import { createTurnEmit, type EmitInTurn } from "../turn/turn-emitter.ts";

export interface SubagentPrompt {
	readonly text: string;
	/** Whether the program wrote the prompt: prompt hooks then skip it. */
	readonly isOwn: boolean;
}

export interface SubagentTurnSettings {
	readonly services: AgentServices;
	readonly turnId: string;
	readonly hooks: HookRunner;
	readonly clock: Clock;
	/** Aborts the work: on the caller's end or the subagent's deadline. */
	readonly work: AbortSignal;
	readonly caller: AbortSignal;
}

export interface EndedTurn {
	readonly outcome: TurnOutcome;
	/** Set when a hook blocked the prompt, which then stays out of the context. */
	readonly blocked: BlockedPrompt | null;
}

/** Shorter than the limit of the caller's call, so that this turn ends before the outer one. */
const patience = 1100;

export async function runSubagentTurn(
	prompt: SubagentPrompt,
	agent: Agent,
	settings: SubagentTurnSettings,
): Promise<EndedTurn> {
	const { turnId, hooks, clock, work } = settings;
	const { services, seal } = withSeal(settings.services);
	const emit = createTurnEmit(services, agent.path, turnId, work);
	const blocked = prompt.isOwn ? null : await showPrompt(prompt.text, hooks, emit, work);
	await emit({ type: "turn.started", input: prompt.text });
	const running =
		blocked === null ? runHooked(prompt.text, agent, emit, { ...settings, services }) : say(blocked, emit);
	const outcome = (await unlessLate(running, work, patience, clock)) ?? { status: "cancelled" };
	// Later events of abandoned work come too late.
	seal();
	await createTurnEmit(settings.services, agent.path, turnId, work)({ type: "turn.ended", outcome });
	return { outcome, blocked };
}

/** Services with an emitter that, once sealed, only delivers resolved interactions. */
function withSeal(services: AgentServices): { readonly services: AgentServices; seal(): void } {
	const { emitter } = services;
	let isSealed = false;
	return {
		seal() {
			isSealed = true;
		},
		services: {
			...services,
			emitter: {
				emit: (where, body, ...how) =>
					isSealed && body.type !== "interaction.resolved"
						? Promise.reject(new KernelError("closed", "The turn of the subagent is over."))
						: emitter.emit(where, body, ...how),
				deliverVolatile: (...event) => {
					if (!isSealed) emitter.deliverVolatile(...event);
				},
				addAgent: (...log) => emitter.addAgent(...log),
				removeAgent: (id) => emitter.removeAgent(id),
			},
		},
	};
}

async function say({ text }: BlockedPrompt, emit: EmitInTurn): Promise<TurnOutcome> {
	await emit({ type: "content.delta", part: textPart(text) });
	return { status: "finished" };
}

/** Runs the turn and its end hooks, one of which may make the subagent continue once. */
async function runHooked(
	input: string,
	agent: Agent,
	emit: EmitInTurn,
	{ services, turnId, hooks, clock, work, caller }: SubagentTurnSettings,
): Promise<TurnOutcome> {
	const watch = createToolWatch(hooks, emit, clock, work);
	const sessionHooks = hooks.openRun(true, emit, work);
	const runHooks = sessionHooks === null ? {} : { runHooks: sessionHooks };
	const turn = {
		id: turnId,
		signal: work,
		steers: createSteerQueue(),
		watch,
		stepStarted: () => undefined,
		...runHooks,
	};
	const dependencies = createTurnDependencies(services, agent, turn);
	let outcome = await runTurn(input, dependencies, work);
	if (outcome.status === "finished") {
		const reason = await askToStop(hooks, emit, work);
		// When the deadline ends only the hooks, the work still counts as finished.
		if (caller.aborted) outcome = { status: "cancelled" };
		else if (reason !== null) outcome = await runTurn(reason, dependencies, work);
	}
	await watch.end();
	await sessionHooks?.end();
	return outcome;
}
