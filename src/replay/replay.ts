// Runs a recorded session again in memory, with the recorded answers and results, and compares its durable events.
import type { AgentEvent } from "../api/values/event.ts";
import { unlessAborted } from "../base/abort.ts";
import { randomIdentifiers } from "../base/ids.ts";
import { isRecord } from "../base/json.ts";
import { Session } from "../kernel/session/session.ts";
import { createMemoryStore } from "../ports/store/memory/memory-store.ts";
import type { StoredSession } from "../ports/store/session-store.ts";
import { createSharedSession } from "../ports/store/shared-session.ts";
import { type Difference, whyNotCompared } from "./comparison.ts";
import { Conductor, keyOf, mainKey } from "./conductor.ts";
import { addCues, beginningsOf, type Stage, startsWithPlan, turnsOf } from "./cues.ts";
import { playBudgets } from "./played-budgets.ts";
import { playCommands } from "./played-commands.ts";
import { playHooks } from "./played-hooks.ts";
import { createPlayedModel } from "./played-model.ts";
import { toSessionParts } from "./played-session.ts";
import { PlayedTools } from "./played-tools.ts";
import type { Recording } from "./recording.ts";
import { createReplayClock } from "./replay-clock.ts";
import { whyNotReplayable } from "./replayable.ts";
import { Score } from "./score.ts";

export type ReplayOutcome =
	| { readonly kind: "same"; readonly events: number; readonly leftOut: ReadonlyMap<string, number> }
	| { readonly kind: "differs"; readonly difference: Difference }
	| { readonly kind: "not-replayable"; readonly reason: string };

export async function replay(recording: Recording, { patience = 5000 } = {}): Promise<ReplayOutcome> {
	const reason = whyNotReplayable(recording.events);
	if (reason !== null) return { kind: "not-replayable", reason };
	const { scores, leftOut } = toScores(recording.events);
	const conductor = new Conductor(scores);
	const difference = await play(recording, conductor, patience);
	if (difference !== null) return { kind: "differs", difference };
	const events = [...scores.values()].reduce((sum, score) => sum + score.events.length, 0);
	return { kind: "same", events, leftOut };
}

function toScores(events: readonly AgentEvent[]) {
	const leftOut = new Map<string, number>();
	const leaveOut = (why: string) => void leftOut.set(why, (leftOut.get(why) ?? 0) + 1);
	const background = findBackgroundAgents(events);
	const byAgent = new Map<string, AgentEvent[]>([[mainKey, []]]);
	for (const event of events) {
		const key = keyOf(event);
		const why = background.has(key) ? "subagents in the background" : whyNotCompared(event);
		if (why !== null) leaveOut(why);
		else byAgent.set(key, [...(byAgent.get(key) ?? []), event]);
	}
	const scores = new Map([...byAgent].map(([key, own]) => [key, new Score(key, inOwnOrder(own))]));
	return { scores, leftOut };
}

/** Kimi logs may have an answer's status after its last result; this kernel starts no call before the status. */
function inOwnOrder(events: readonly AgentEvent[]): readonly AgentEvent[] {
	const ordered: AgentEvent[] = [];
	let last: string | null = null;
	let place = 0;
	let isSettled = false;
	for (const event of events) {
		const { body } = event;
		if (body.type === "step.started") last = null;
		else if (body.type === "tool.requested") {
			[last, place, isSettled] = [body.call.id, ordered.length + 1, false];
		} else if (body.type === "tool.result" && body.toolCallId === last) isSettled = true;
		if (event.isFromLog === true && body.type === "status.changed" && last !== null && isSettled) {
			ordered.splice(place, 0, event);
			last = null;
		} else ordered.push(event);
	}
	return ordered;
}

function findBackgroundAgents(events: readonly AgentEvent[]): ReadonlySet<string> {
	const settled = new Map<string, number>();
	const background = new Set<string>();
	events.forEach((event, index) => {
		const key = keyOf(event);
		if (key === mainKey && event.body.type === "tool.result") settled.set(event.body.toolCallId, index);
		if (key === mainKey && event.body.type === "tool.requested") settled.delete(event.body.call.id);
		if (key !== mainKey && settled.has(key)) background.add(key);
	});
	return background;
}

async function play(recording: Recording, conductor: Conductor, patience: number): Promise<Difference | null> {
	const { sessionId, workDir } = recording;
	const main = conductor.scores.get(mainKey);
	const clock = createReplayClock(() => main?.events[main.position]?.at ?? 0);
	const store = createMemoryStore();
	const held = withTaken(await store.openOrCreate(workDir, sessionId), conductor);
	const names: { turn: string | null; question: string | null } = { turn: null, question: null };
	const limits = createLimits(conductor);
	const models = new Map(
		[...conductor.scores].map(([key, score]) => [key, createPlayedModel(score, conductor, limits)]),
	);
	const bodies = recording.events.map(({ body }) => body);
	const says = (what: RegExp) =>
		bodies.some((body) => body.type === "content.completed" && body.part.type === "text" && what.test(body.part.text));
	const asked = bodies.flatMap((body) => (body.type === "interaction.requested" ? [body.interaction] : []));
	const clientTools = new Set(asked.flatMap((each) => (each.kind === "client-tool" ? [each.name] : [])));
	const hooks = playHooks(conductor);
	const agents = recording.events.flatMap(({ agentPath }) => agentPath.at(-1) ?? []);
	const agentIds: string[] = [];
	const unset = bodies.flatMap((body) =>
		body.type === "turn.ended" && body.outcome?.status === "failed" && body.outcome.error.code === "model-not-set"
			? [body.outcome.error.data]
			: [],
	)[0];
	const session = new Session(
		toSessionParts({
			stored: createSharedSession({ store, workDir, id: sessionId }, { held }),
			model: unset === undefined ? (models.get(mainKey) ?? null) : null,
			unsetModelAlias: isRecord(unset) && typeof unset["model"] === "string" ? unset["model"] : null,
			startsWithPlan: startsWithPlan(conductor),
			hasPlanMode: !says(/^Plan mode is not supported/),
			isYolo: says(/^Yolo is off/) && !says(/^Yolo is on/),
			modelOf: (toolCallId) => models.get(toolCallId) ?? null,
			subagentTypes: [...new Set(agents.flatMap(({ subagentType }) => subagentType ?? []))],
			tools: new PlayedTools(conductor, clientTools, (id) => agentIds.push(id)),
			limits,
			commands: playCommands(conductor),
			budgets: playBudgets(conductor),
			hooks: hooks.commands,
			processes: hooks.processes,
			deadlines: findDeadlines(recording.events),
			clock,
			identifiers: {
				uuid: () => randomIdentifiers.uuid(),
				hex(length) {
					const { turn } = names;
					if (length === 32 && turn !== null) {
						names.turn = null;
						return turn;
					}
					const { question } = names;
					if (length === 12 && question !== null) {
						names.question = null;
						return question;
					}
					// The played model names subagents by their recorded ids.
					const agent = length === 8 ? agentIds.shift() : undefined;
					return agent?.replace(/^a/, "") ?? randomIdentifiers.hex(length);
				},
			},
		}),
	);
	await session.start();
	const reviewsByApproval = asked.some((each) => each.kind === "approval" && each.action === "change plan mode");
	const attachment = await session.attach({
		client: null,
		tools: [...clientTools].map((name) => ({ name, description: "", parameters: { type: "object" } })),
		capabilities: reviewsByApproval ? ["plan-mode"] : ["questions", "plan-mode"],
		hooks: hooks.ofClients,
		flow: "droppable",
	});
	const stage: Stage = {
		session,
		conductor,
		clock,
		clientId: attachment.id,
		nameTurn: (id) => {
			names.turn = id;
		},
		nameQuestion: (id) => {
			names.question = id;
		},
	};
	const over = new AbortController();
	const difference = await Promise.race([conductor.ended, perform(stage), watch(conductor, patience, over.signal)]);
	over.abort();
	const isComplete = difference === null && (turnsOf(conductor).at(-1)?.end ?? null) !== null;
	// Kernel events beyond the recording are a difference too.
	if (isComplete) await unlessAborted(session.idle(), AbortSignal.timeout(patience));
	const more = isComplete ? conductor.surplus : difference;
	conductor.close();
	await session.stop();
	return more;
}

/** Never resolves: the conductor knows when everything is over. */
async function perform(stage: Stage): Promise<never> {
	const { session, conductor } = stage;
	const main = conductor.scores.get(mainKey);
	addCues(stage);
	for (const { index, begin } of beginningsOf(conductor)) {
		await conductor.when(() => main?.isReached(index) === true);
		await session.idle();
		await begin(stage).catch(() => undefined);
	}
	return await new Promise<never>(() => {});
}

async function watch(conductor: Conductor, patience: number, signal: AbortSignal): Promise<Difference> {
	for (let steps = -1; steps !== conductor.steps && !signal.aborted; ) {
		steps = conductor.steps;
		await new Promise<void>((resolve) => {
			const timer = setTimeout(resolve, patience);
			signal.addEventListener("abort", () => {
				clearTimeout(timer);
				resolve();
			});
		});
	}
	return conductor.missing();
}

function withTaken(stored: StoredSession, conductor: Conductor): StoredSession {
	return {
		...stored,
		async commit(batch, options) {
			const events = await stored.commit(batch, options);
			for (const event of events) if (event.seq !== undefined) conductor.take(event);
			return events;
		},
	};
}

function createLimits(conductor: Conductor) {
	const main = conductor.scores.get(mainKey);
	const turns = turnsOf(conductor);
	return {
		maxAttempts: 1,
		get maxSteps() {
			const position = main?.position ?? 0;
			return (
				turns.find(({ start, end }) => start < position && (end ?? Number.POSITIVE_INFINITY) >= position)?.maxSteps ??
				Number.MAX_SAFE_INTEGER
			);
		},
	};
}

/** Seconds until interactions of each kind were settled without an answer; 0 where none was. */
function findDeadlines(events: readonly AgentEvent[]) {
	const secondsOf = (kind: string) => {
		for (const { body } of events)
			if (body.type === "interaction.resolved" && body.answer.kind === kind && body.by?.kind === "deadline")
				return body.by.seconds;
		return 0;
	};
	return { approval: secondsOf("approval"), question: secondsOf("question"), "client-tool": secondsOf("client-tool") };
}
