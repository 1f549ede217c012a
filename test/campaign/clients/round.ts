// One round: clients come, read, answer and go while turns run; at the end everybody reads, and everything is compared with
// the journal.

import type { CommandOf, CommandType, CommandValues } from "../../../src/api/commands.ts";
import type { AgentEvent } from "../../../src/api/values/event.ts";
import type { Answer, Interaction, InteractionFailure } from "../../../src/api/values/interaction.ts";
import { KernelError } from "../../../src/base/errors.ts";
import { nextTurn } from "../../support/sessions/campaign-server.ts";
import type { Tally } from "../frame/campaign.ts";
import type { Played } from "../frame/cases.ts";
import type { Place } from "./access.ts";
import type { AnswerKind, ClientsAction, ClientsCase } from "./actions.ts";
import { CampaignClient } from "./client.ts";
import { judge, type SentAnswer } from "./rules.ts";
import { createStage, type Stage } from "./stage.ts";

/** Turns of the event loop without a sign of life after which nothing moves: a slow client takes a few for a batch. */
const quietTurns = 12;
/** Turns of the event loop after which a round that does not come to rest is stuck. */
const turnLimit = 200_000;

export interface Round {
	readonly stage: Stage;
	readonly clients: readonly CampaignClient[];
	readonly place: Place;
	/** Every answer that was sent, with what came back. */
	readonly answers: SentAnswer[];
	/** The turns that were begun. */
	readonly turns: string[];
	readonly faults: string[];
	readonly transcript: string[];
	calls: number;
}

export async function playRound(value: ClientsCase, place: Place, tally: Tally): Promise<Played> {
	const stage = await createStage(value.settings);
	const clients = await Promise.all(
		value.abilities.map(
			async (abilities, index) => new CampaignClient(`client ${index}`, abilities, await place.connect(stage.session)),
		),
	);
	const round: Round = { stage, clients, place, answers: [], turns: [], faults: [], transcript: [], calls: 0 };
	for (const { action, rest } of value.steps) {
		round.transcript.push(`${JSON.stringify(action)} ${rest}`);
		await perform(action, round);
		if (rest === "all") await settle(round);
		else for (let turn = 0; turn < rest; turn += 1) await nextTurn();
	}
	await finish(round);
	const journal: AgentEvent[] = [];
	for await (const batch of stage.session.events()) journal.push(...batch);
	const faults = [...round.faults, ...judge(round, journal)];
	await stage.session.stop();
	await settle(round);
	for (const { name, streams } of clients) {
		if (streams.some(({ hasEnded }) => !hasEnded)) faults.push(`${name} is not told the end of the session`);
	}
	await stage.close();
	await place.closeAll();
	count(round, journal, tally);
	const known = [...new Set(faults)];
	return { faults: known, rounds: 1, transcript: [...round.transcript, ...journal.map(describe), ...known] };
}

function describe({ seq, body }: AgentEvent): string {
	const text = JSON.stringify(body);
	return `${seq} ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
}

/** Lets everything happen that needs neither a client, the model nor time. */
async function settle({ stage, clients, faults, place }: Round): Promise<void> {
	const seen = () =>
		stage.activity() +
		clients.reduce((sum, { streams }) => sum + streams.reduce((part, { received }) => part + received, 0), 0);
	for (let quiet = 0, last = seen(), turns = 0; quiet < quietTurns; turns += 1) {
		await nextTurn();
		const now = seen();
		quiet = now === last && !place.isBusy() ? quiet + 1 : 0;
		last = now;
		if (turns < turnLimit) continue;
		faults.push("it does not come to rest");
		return;
	}
}

/** Everybody reads, the model and the clients answer, time passes: then every turn is over. */
async function finish(round: Round): Promise<void> {
	const { stage, clients, faults } = round;
	for (const { streams } of clients) for (const stream of streams) stream.setSpeed("fast");
	stage.gate.open();
	for (let attempt = 0; attempt < 40; attempt += 1) {
		await settle(round);
		const { turnId, openInteractions } = await stage.session.snapshot();
		if (turnId === null) break;
		for (const { body } of openInteractions) {
			if (body.type === "interaction.requested") await answer(round, clients[0] ?? null, body.interaction, "right");
		}
		if (openInteractions.length === 0) stage.clock.advance(10_000);
	}
	await settle(round);
	const { turnId, openInteractions, cursor } = await stage.session.snapshot();
	if (turnId !== null) faults.push(`the turn ${turnId} does not end`);
	if (openInteractions.length > 0) faults.push(`${openInteractions.length} requests are open after the last turn`);
	for (const { name, current } of clients) {
		if (current !== null && current.cursor.seq !== cursor.seq) {
			faults.push(`${name} has ${current.cursor.seq} of ${cursor.seq} events at the end`);
		}
	}
}

async function perform(action: ClientsAction, round: Round): Promise<void> {
	const { stage, clients } = round;
	switch (action.do) {
		case "attach":
			return await clients[action.who % clients.length]?.attach(action.cursor, action.speed);
		case "crowd":
			for (const client of clients.slice(0, action.count)) await client.attach(action.cursor, action.speed);
			return;
		case "lose":
			return clients[action.who % clients.length]?.lose();
		case "pace":
			return clients[action.who % clients.length]?.current?.setSpeed(action.speed);
		case "answer": {
			const client = present(round, action.who);
			const known = action.isLate ? round.answers.map(({ interaction }) => interaction) : (client?.open() ?? []);
			const interaction = known[action.which % Math.max(1, known.length)];
			if (interaction !== undefined) void answer(round, client, interaction, action.how);
			return;
		}
		case "race": {
			const [one, other] = [present(round, action.who), present(round, action.who + 1)];
			const interaction = one?.open()[action.which % Math.max(1, one.open().length)];
			if (interaction === undefined) return;
			void answer(round, one, interaction, action.how);
			void answer(round, other, interaction, "refusal");
			return;
		}
		case "ask":
			for (let n = 0; n < action.calls; n += 1) call({ do: "call", name: "Touch", fragments: n }, round);
			if (action.isQuestion) call({ do: "call", name: "AskUserQuestion", fragments: 0 }, round);
			stage.gate.push([{ kind: "done", counted: true }]);
			return await perform({ do: "prompt", who: action.who }, round);
		case "prompt": {
			const begun = await send(round, action.who, { type: "turn.start", input: `prompt ${round.turns.length}` });
			if (begun !== null) round.turns.push(begun.turnId);
			return;
		}
		case "steer":
			return void (await send(round, action.who, { type: "turn.steer", input: "and this" }));
		case "cancel":
			return void (await send(round, action.who, { type: "turn.cancel" }));
		case "say":
		case "think":
			for (let n = 0; n < action.pieces; n += 1) stage.gate.push([{ kind: action.do, text: `${n} ` }]);
			return;
		case "ramble":
			for (let n = 0; n < action.pieces; n += 1) {
				stage.gate.push([{ kind: n % 2 === 0 ? "think" : "say", text: `${n} ` }]);
			}
			return;
		case "call":
			return call(action, round);
		case "done":
			return stage.gate.push([{ kind: "done", counted: true }]);
		case "wait":
			// No machine lets time pass while a program that has work gets no turn.
			await settle(round);
			return stage.clock.advance(action.seconds * 1000);
	}
}

const questions = JSON.stringify({
	questions: [{ question: "Which?", header: "W", options: [{ label: "a" }, { label: "b" }] }],
});

function call({ name, fragments }: Extract<ClientsAction, { do: "call" }>, round: Round): void {
	round.calls += 1;
	const text = name === "AskUserQuestion" ? questions : JSON.stringify({ n: round.calls, text: "some words" });
	const cut = fragments === 0 ? text.length : 5;
	const { gate } = round.stage;
	gate.push([{ kind: "call", id: `call-${round.calls}`, name, arguments: text.slice(0, cut) }]);
	const length = Math.max(1, Math.ceil((text.length - cut) / Math.max(1, fragments)));
	for (let at = cut; at < text.length; at += length)
		gate.push([{ kind: "fragment", text: text.slice(at, at + length) }]);
}

/** An attached client, counted from `who`; one that left when nobody is there. */
function present({ clients }: Round, who: number): CampaignClient | null {
	const there = clients.filter(({ current }) => current !== null);
	return there[who % Math.max(1, there.length)] ?? clients[who % clients.length] ?? null;
}

/** Sends a command; null when it was refused, as commands may be. */
async function send<T extends CommandType>(
	round: Round,
	who: number,
	command: CommandOf<T>,
): Promise<CommandValues[T] | null> {
	const client = present(round, who);
	try {
		return (await client?.access.send<T>(command)) ?? null;
	} catch (thrown) {
		if (!(thrown instanceof KernelError) || (thrown.code !== "busy" && thrown.code !== "no-turn")) {
			round.faults.push(`${command.type} fails: ${String(thrown)}`);
		}
		return null;
	}
}

function toAnswer({ kind }: Interaction, how: AnswerKind): Answer | InteractionFailure {
	switch (how) {
		case "error":
			return { kind: "error-reply", message: "no hands" };
		case "malformed":
			return { kind: "malformed" };
		case "wrong-kind":
			return { kind: "hook", action: "allow", reason: "" };
		case "right":
		case "refusal":
			if (kind === "question") return { kind, answers: how === "right" ? { "Which?": "a" } : {} };
			return { kind: "approval", decision: how === "right" ? "approve" : "reject", feedback: "" };
	}
}

async function answer(
	round: Round,
	client: CampaignClient | null,
	interaction: Interaction,
	how: AnswerKind,
): Promise<void> {
	const clientId = client?.current?.attachment.id ?? client?.streams.at(-1)?.attachment.id;
	const sent: SentAnswer = { interaction, how, clientId: clientId ?? null, value: null };
	round.answers.push(sent);
	const command = {
		type: "interaction.respond",
		interactionId: interaction.id,
		answer: toAnswer(interaction, how),
	} as const;
	const access = client?.access ?? round.clients[0]?.access;
	sent.value = (await access?.send({ ...command, ...(clientId === undefined ? {} : { clientId }) })) ?? null;
}

function count({ clients, answers, turns }: Round, journal: readonly AgentEvent[], tally: Tally): void {
	const streams = clients.flatMap((client) => client.streams);
	tally.add("turns", turns.length);
	tally.add("attachments", streams.length);
	tally.add("durable events", journal.length);
	tally.add(
		"durable events that clients read",
		streams.reduce((sum, { durable }) => sum + durable.length, 0),
	);
	tally.add(
		"texts rebuilt",
		streams.reduce((sum, { texts }) => sum + texts.whole, 0),
	);
	tally.add(
		"gaps seen",
		streams.reduce((sum, { texts }) => sum + texts.gaps, 0),
	);
	tally.add("calls cut by another event", journal.filter(({ body }) => body.type === "tool-call.fragment").length);
	tally.add("answers", answers.length);
	tally.add("answers that settled", answers.filter(({ value }) => value?.settled === true).length);
	tally.add("interactions", journal.filter(({ body }) => body.type === "interaction.requested").length);
}
