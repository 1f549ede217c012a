// Prompts, steers, answers, cancels and switches are given again at their places.

import { inputText } from "../api/values/content.ts";
import type { AgentEvent, EventBody } from "../api/values/event.ts";
import type { Answer, InteractionFailure } from "../api/values/interaction.ts";
import { parseSlashCommand } from "../api/values/slash-command.ts";
import type { Session } from "../kernel/session/session.ts";
import { type Conductor, mainKey } from "./conductor.ts";
import { questionAt } from "./played-questions.ts";
import type { ReplayClock } from "./replay-clock.ts";
import type { Score } from "./score.ts";

export interface Stage {
	readonly session: Session;
	readonly clientId: string;
	readonly clock: ReplayClock;
	readonly conductor: Conductor;
	nameTurn(id: string | null): void;
	nameQuestion(id: string): void;
}

interface Beginning {
	readonly index: number;
	begin(stage: Stage): Promise<unknown>;
}

/** Gives everything that came between the events of a turn once it is due. */
export function addCues(stage: Stage): void {
	for (const score of stage.conductor.scores.values()) {
		score.events.forEach((event, index) => {
			const give = toCue(event, index, score, stage);
			if (give === null) return;
			// The Kimi Wire log has no answers: an interaction is over with the next event.
			const at = event.body.type === "interaction.requested" ? index + 1 : firstOfRun(score, index);
			const asked = event.body.type === "interaction.resolved" ? event.body.interactionId : null;
			const isDue = () => score.isPast(at) && (asked === null || stage.conductor.knows(asked));
			stage.conductor.add({ isDue, give });
		});
	}
	for (const turn of turnsOf(stage.conductor)) if (turn.isCancelled) addCancel(turn, stage);
}

function firstOfRun(score: Score, index: number): number {
	let first = index;
	while (score.body(index)?.type === "steer.consumed" && score.body(first - 1)?.type === "steer.consumed") first -= 1;
	return first;
}

function toCue({ body, isFromLog }: AgentEvent, index: number, score: Score, stage: Stage): (() => void) | null {
	const { session } = stage;
	const send = (command: Parameters<Session["send"]>[0]) => void session.send(command).catch(() => undefined);
	const answer = (recordedId: string, given: Answer | InteractionFailure) =>
		send({
			type: "interaction.respond",
			interactionId: stage.conductor.interactionOf(recordedId),
			clientId: stage.clientId,
			answer: given,
		});
	switch (body.type) {
		case "steer.accepted":
			return () => send({ type: "turn.steer", input: body.input });
		case "steer.consumed":
			return isFromLog === true ? () => send({ type: "turn.steer", input: body.input }) : null;
		case "side-question.started": {
			const asked = score.key === mainKey ? questionAt(score, index) : null;
			if (asked === null) return null;
			return () => {
				stage.nameQuestion(asked.id);
				send({ type: "side-question.start", question: asked.question });
			};
		}
		case "status.changed":
			return isSwitch(body, index, score) && score.key === mainKey && isInTurn(score, index)
				? () => send({ type: "plan-mode.set", enabled: body.plan_mode === true })
				: null;
		case "interaction.requested":
			if (isFromLog !== true) return null;
			if (body.interaction.kind === "question")
				return () => answer(body.interaction.id, { kind: "question", answers: {} });
			if (body.interaction.kind !== "client-tool") return null;
			return () => {
				const { toolCallId } = body.interaction.kind === "client-tool" ? body.interaction : { toolCallId: "" };
				const result = score.calls.findLast(
					({ call, requestedAt }) => call.id === toolCallId && requestedAt < index,
				)?.result;
				if (result) answer(body.interaction.id, { kind: "client-tool", result });
			};
		case "interaction.resolved":
			switch (body.by?.kind) {
				case "client":
				case undefined:
					return () => answer(body.interactionId, body.answer);
				case "error-reply":
				case "malformed":
					return () => answer(body.interactionId, body.by as InteractionFailure);
				case "deadline": {
					const { seconds } = body.by;
					return () => stage.clock.fire(seconds * 1000);
				}
				default:
					return null;
			}
		default:
			return null;
	}
}

/** Whether a client switched plan mode, as neither an answer nor a tool reports it. */
function isSwitch(body: Extract<EventBody, { type: "status.changed" }>, index: number, score: Score): boolean {
	const { plan_mode, token_usage, context_tokens } = body;
	if (plan_mode === null || token_usage !== null || context_tokens !== null) return false;
	if (score.answers.some(({ end }) => end.kind === "done" && end.index === index)) return false;
	return !isAfterPlanCommand(score, index) && !isAfterResults(plan_mode, index, score);
}

/** Whether the step itself reports a plan mode change during its calls. */
function isAfterResults(planMode: boolean, index: number, { events, answers, calls }: Score): boolean {
	const step = events.slice(0, index).findLastIndex(({ body }) => body.type === "step.started");
	const answer = answers.find(({ end }) => end.kind === "done" && end.index > step && end.index < index)?.end;
	if (answer?.kind !== "done" || answer.status.plan_mode === planMode) return false;
	const own = calls.filter(({ requestedAt }) => requestedAt > step && requestedAt < index);
	return own.length > 0 && own.every(({ resultAt }) => resultAt !== null && resultAt < index);
}

function isInTurn({ events }: Score, index: number): boolean {
	const last = events
		.slice(0, index)
		.findLast(({ body }) => body.type === "turn.started" || body.type === "turn.ended");
	return last?.body.type === "turn.started";
}

export function beginningsOf(conductor: Conductor): readonly Beginning[] {
	const score = conductor.scores.get(mainKey);
	if (score === undefined) return [];
	const beginnings: Beginning[] = [];
	score.events.forEach(({ body, turnId }, index) => {
		if (body.type === "title.changed")
			beginnings.push({ index, begin: ({ session }) => session.send({ type: "title.set", title: body.title }) });
		else if (body.type === "session.rewound" && !isInTurn(score, index)) {
			const request = { files: false, conversation: true, conflicts: "stop", dryRun: false } as const;
			const { before } = body;
			beginnings.push({ index, begin: ({ session }) => session.send({ type: "session.rewind", before, ...request }) });
		} else if (body.type === "status.changed" && !isInTurn(score, index) && isSwitch(body, index, score)) {
			const enabled = body.plan_mode === true;
			beginnings.push({ index, begin: ({ session }) => session.send({ type: "plan-mode.set", enabled }) });
		} else if (body.type === "turn.started") {
			// Hooks see a prompt before its turn begins.
			let first = index;
			while (
				turnId !== null &&
				score.events[first - 1]?.turnId === turnId &&
				score.body(first - 1)?.type !== "turn.ended"
			)
				first -= 1;
			const { input, key } = body;
			beginnings.push({
				index: first,
				begin(stage) {
					stage.nameTurn(turnId);
					return stage.session.send({ type: "turn.start", input, ...(key === undefined ? {} : { key }) });
				},
			});
		}
	});
	return beginnings.sort((one, other) => one.index - other.index);
}

interface RecordedTurn {
	readonly start: number;
	readonly end: number | null;
	readonly isCancelled: boolean;
	readonly maxSteps: number | null;
}

export function turnsOf(conductor: Pick<Conductor, "scores">): readonly RecordedTurn[] {
	const score = conductor.scores.get(mainKey);
	if (score === undefined) return [];
	return score.events.flatMap(({ body }, start) => {
		if (body.type !== "turn.started") return [];
		const found = score.events.findIndex(
			({ body: other }, index) => index > start && (other.type === "turn.ended" || other.type === "turn.started"),
		);
		const ended = score.body(found);
		const end = ended?.type === "turn.ended" ? found : null;
		const outcome = ended?.type === "turn.ended" ? ended.outcome : null;
		const isCancelled = outcome === null ? end !== null && isCut(score, start, end) : outcome.status === "cancelled";
		const maxSteps = outcome?.status === "max-steps" && outcome.limit === "steps" ? outcome.steps : null;
		return [{ start, end, isCancelled, maxSteps }];
	});
}

/** Only a cancelled turn ends within a step; the log does not say so. */
function isCut({ events, calls, answers }: Score, start: number, end: number): boolean {
	if (events[end]?.isFromLog !== true) return false;
	const isEmpty = !events
		.slice(start, end)
		.some(({ body }) => body.type === "step.started" || body.type === "content.completed");
	if (isEmpty) return true;
	const isOpen = calls.some(
		({ requestedAt, resultAt }) => requestedAt > start && requestedAt < end && resultAt === null,
	);
	const step = events.slice(start, end).findLastIndex(({ body }) => body.type === "step.started") + start;
	const isAnswered = answers.some(
		({ end: answer }) => answer.kind !== "cut" && answer.index > step && answer.index < end,
	);
	return isOpen || (step >= start && !isAnswered);
}

const causedByCancel: ReadonlySet<EventBody["type"]> = new Set([
	"step.interrupted",
	"tool.ended",
	"turn.ended",
	"hook.resolved",
]);

function isCausedByCancel(body: EventBody): boolean {
	return (
		causedByCancel.has(body.type) ||
		(body.type === "interaction.resolved" && (body.by?.kind === "cancelled" || body.by?.kind === "shutdown"))
	);
}

function hasShutdown({ events }: Score, start: number): boolean {
	return events.slice(start).some(({ body }) => body.type === "interaction.resolved" && body.by?.kind === "shutdown");
}

function addCancel({ start, end }: RecordedTurn, { session, conductor }: Stage): void {
	const main = conductor.scores.get(mainKey);
	if (main === undefined || end === null) return;
	const ids = new Set(
		main.calls.filter(({ requestedAt }) => requestedAt > start && requestedAt < end).map(({ call }) => call.id),
	);
	const [from, to] = [main.events[start]?.seq ?? 0, main.events[end]?.seq ?? 0];
	const isStopped =
		main.events.slice(start).every(({ body }, index) => index === 0 || body.type !== "turn.started") &&
		hasShutdown(main, start);
	const places = [...conductor.scores.values()].flatMap((score) => {
		if (score !== main && !ids.has(score.key)) return [];
		const last = score.events.findLastIndex(({ seq = 0 }) => seq <= to);
		let index = last;
		while (index > 0 && isCausedByCancel(score.events[index - 1]?.body ?? { type: "compaction.started" })) index -= 1;
		const isWithin = (score.events[index]?.seq ?? 0) >= from;
		return isWithin && (score === main || isCausedByCancel(score.events[index]?.body ?? { type: "compaction.started" }))
			? [{ score, index }]
			: [];
	});
	conductor.add({
		isDue: () => main.position > start && places.every(({ score, index }) => score.isPast(index)),
		give: () => void (isStopped ? session.stop() : session.send({ type: "turn.cancel" })).catch(() => undefined),
	});
}

export function startsWithPlan({ scores }: Conductor): boolean {
	const score = scores.get(mainKey);
	const index = score?.events.findIndex(({ body }) => body.type === "status.changed" && body.plan_mode !== null) ?? -1;
	const body = score?.body(index);
	if (score === undefined || body?.type !== "status.changed") return false;
	return isSwitch(body, index, score) || isAfterPlanCommand(score, index)
		? body.plan_mode !== true
		: body.plan_mode === true;
}

function isAfterPlanCommand({ events }: Score, index: number): boolean {
	const begun = events
		.slice(0, index)
		.findLast(({ body }) => body.type === "turn.started" || body.type === "step.started")?.body;
	return begun?.type === "turn.started" && parseSlashCommand(inputText(begun.input))?.name === "plan";
}
