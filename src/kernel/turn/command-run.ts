import { textPart, type UserInput } from "../../api/values/content.ts";
import type { EventBody } from "../../api/values/event.ts";
import { compact } from "../../core/agent/compaction.ts";
import type { TurnDependencies } from "../../core/agent/dependencies.ts";
import { beyondStepBudget } from "../../core/agent/retries.ts";
import { runTurn } from "../../core/agent/turn.ts";
import type { CommandRun, NestedRun } from "../commands/command.ts";
import { answerSideQuestion } from "./side-question-answer.ts";
import { createSteerQueue } from "./steers.ts";
import { type Agent, type AgentServices, type AgentTurn, createTurnDependencies } from "./turn-dependencies.ts";
import type { EmitInTurn } from "./turn-emitter.ts";

export interface CommandRunSettings {
	readonly services: AgentServices;
	readonly agent: Agent;
	readonly turn: AgentTurn;
	readonly dependencies: TurnDependencies;
	readonly emit: EmitInTurn;
}

export function createCommandRun(argument: string, settings: CommandRunSettings): CommandRun {
	const { agent, turn, dependencies, emit } = settings;
	const { signal } = turn;
	const deliver: CommandRun["deliver"] = async (body) => emit(body);
	const { model, unsetModelAlias, cacheKey, budget } = dependencies;
	return {
		argument,
		signal,
		agent,
		deliver,
		end: (body) => emitEnd(body, settings),
		answerSideQuestion: (question) => {
			const exhausted = () => budget.exhausted();
			const who = { model, unsetModelAlias, cacheKey, context: agent.context, exhausted, retrying: dependencies };
			return answerSideQuestion(question, who, signal);
		},
		say: (text) => deliver({ type: "content.delta", part: textPart(text) }),
		runAgent: (input) => runTurn(input, dependencies, signal),
		runWithin: (input, other) => runWithin(input, other, settings),
		async compact(trigger, focus) {
			if (model === null) return null;
			const error = budget.exhausted();
			return error === null ? await compact(model, trigger, focus, dependencies, signal) : beyondStepBudget(error);
		},
	};
}

/** Runs a nested agent turn. The client waits for the outer outcome. */
async function runWithin(
	input: UserInput,
	agent: Agent,
	{ services, turn, emit, agent: own }: CommandRunSettings,
): Promise<NestedRun> {
	let steps = 0;
	const watch = turn.watch.fork();
	const nested: AgentTurn = {
		...turn,
		watch,
		// Input added meanwhile is for the main agent.
		steers: agent.context === own.context ? turn.steers : createSteerQueue(),
		stepStarted() {
			steps += 1;
			return turn.stepStarted();
		},
	};
	const ended = { type: "turn.ended", outcome: null } as const;
	await emit({ type: "turn.started", input });
	try {
		const outcome = await runTurn(input, createTurnDependencies(services, agent, nested), turn.signal);
		await watch.end();
		await emit(ended);
		return { outcome, steps };
	} catch (thrown) {
		// End what was begun, even if the end cannot be persisted.
		services.emitter.deliverVolatile({ turnId: turn.id, agentPath: [] }, ended);
		throw thrown;
	}
}

async function emitEnd(body: EventBody, { services, turn, emit }: CommandRunSettings): Promise<void> {
	try {
		await emit(body);
	} catch (thrown) {
		services.emitter.deliverVolatile({ turnId: turn.id, agentPath: [] }, body);
		throw thrown;
	}
}
