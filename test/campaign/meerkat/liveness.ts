// Meerkat RPC in the liveness campaign: a server of many sessions over one connection, whose models, network, store and clock
// are the campaign's.
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import type { SessionStore } from "../../../src/ports/store/session-store.ts";
import { createMemoryFiles, type MemoryFiles } from "../../support/store/memory-files.ts";
import type { Sent } from "../frame/actor.ts";
import type { Tally } from "../frame/campaign.ts";
import { type CalledTool, type HostRunning, startHost, toMoves } from "../frame/hosted-liveness.ts";
import { type LivenessDialect, settle, shutDown } from "../frame/liveness.ts";
import {
	type AnswerKind,
	answerKinds,
	type CallKind,
	type HostedAction,
	type HostedSettings,
	hostedActions,
	hostedScenes,
	hostedSettings,
} from "./liveness-actions.ts";
import { HostedActor, type KnownSession, promptOf, sessionOfRequest } from "./liveness-client.ts";
import { findFaults } from "./liveness-rules.ts";
import { outcomeOf } from "./liveness-runs.ts";

const paint = { name: "paint", description: "Paints.", input_schema: { type: "object", properties: {} } };
const question = { question: "Which way?", options: [{ label: "Left" }, { label: "Right" }] };
const writtenPath = (callId: string): string => `/home/me/project/${callId}.txt`;

interface HostedRunning extends HostRunning<AnswerKind> {
	readonly client: HostedActor;
	readonly settings: HostedSettings;
}

async function startOver(settings: HostedSettings, store: SessionStore, files: MemoryFiles): Promise<HostedRunning> {
	const { answers, bringsTool, isContract } = settings;
	const started = await startHost(settings, { store, files }, {}, 12, (client) => new HostedActor(client));
	const running: HostedRunning = { ...started, settings };
	const requests = answers ? ["approval/request", "question/request"] : [];
	running.client.request("initialize", { requests, ...(bringsTool ? { tools: [paint] } : {}) });
	if (isContract) running.client.request("capabilities/get", {});
	await settle(meerkatLiveness, running);
	return running;
}

function perform(action: HostedAction, running: HostedRunning): void {
	const { client, provider } = running;
	switch (action.do) {
		case "create":
			create(running, action.deferred, action.tools);
			return;
		case "turn":
		case "turns": {
			const id = sessionAt(client, action.session);
			if (id === null) return;
			for (const _ of action.do === "turn" ? [1] : [1, 2]) startTurn(client, id);
			return;
		}
		case "interrupt":
		case "archive":
		case "read": {
			const methods = { interrupt: "turn/interrupt", archive: "session/archive", read: "session/read" } as const;
			const id = sessionAt(client, action.session);
			if (id !== null) client.request(methods[action.do], { session_id: id });
			return;
		}
		case "list":
			client.request("session/list", {});
			return;
		case "model": {
			const session = client.sessions.at(action.session % Math.max(1, client.sessions.length));
			if (session === undefined) return;
			client.note(`${session.model}: ${JSON.stringify(action.answer)}`);
			provider.gate(session.model).push(toMoves(action.answer, running, toTool));
			return;
		}
	}
}

function create({ client }: HostedRunning, deferred: boolean, tools: boolean): Sent {
	const model = `m${client.sessions.length + 1}`;
	const sent = client.request("session/create", {
		...{ prompt: `do ${client.sent.length + 1}`, model, provider: "p", enable_builtins: tools },
		...(deferred ? { initial_turn: "deferred" } : {}),
	});
	client.sessions.push({ model, createId: sent.id, sessionId: null });
	return sent;
}

function startTurn(client: HostedActor, id: string): Sent {
	return client.request("turn/start", { session_id: id, prompt: `do ${client.sent.length + 1}` });
}

/** The n-th session whose id is known; null when there is none. */
function sessionAt({ sessions }: HostedActor, n: number): string | null {
	const known = sessions.flatMap(({ sessionId }) => sessionId ?? []);
	return known.at(n % Math.max(1, known.length)) ?? null;
}

function toTool(kind: CallKind, id: string): CalledTool {
	switch (kind) {
		case "write":
			return ["WriteFile", { path: writtenPath(id), content: "written" }];
		case "ask":
			return ["AskUserQuestion", { questions: [question] }];
		case "paint":
			return ["paint", { color: "blue" }];
		case "unknown":
			return ["Nothing", {}];
		case "broken":
			return ["WriteFile", '{"path":'];
	}
}

/**
 * Whether a run waits for its model, for the client, for time, or for the turns before it; one that was interrupted waits
 * for nothing.
 */
function mayWait(sent: Sent, running: HostedRunning): boolean {
	const { client, provider, settings } = running;
	if (waitsForRoom(sent, running)) return true;
	const sessionId = client.sessionOf(sent);
	if (promptOf(sent) === null || sessionId === null) return false;
	const ofSession = client.sent.filter((other) => client.sessionOf(other) === sessionId);
	const before = ofSession.filter((other) => promptOf(other) !== null && other.at < sent.at);
	if (settings.isContract && before.some(({ response }) => response === null)) return true;
	// It runs from the end of the last turn before it on: what cut that one did not cut this one.
	const due = Math.max(sent.at, ...before.map(({ response }) => response?.at ?? 0));
	// Meanwhile it may have waited until fewer were running.
	const started = client.events.find(
		(event) => event.sessionId === sessionId && event.type === "run_started" && event.at > due,
	);
	const begin = Math.max(due, started?.at ?? 0);
	const cuts = ["turn/interrupt", "session/archive"];
	const isCut = (other: Sent) => cuts.includes(other.method) && other.at > begin && outcomeOf(other) !== "OVERLOADED";
	if (ofSession.some(isCut)) return false;
	const model = client.sessions.find((session) => session.sessionId === sessionId)?.model ?? "m";
	const last = client.events.findLast((event) => event.sessionId === sessionId);
	if (provider.gate(model).isWaiting()) return true;
	if (last?.type === "retrying" && last.at >= client.timePassedAt) return true;
	return client.openInteractions().some((interaction) => sessionOfRequest(interaction) === sessionId);
}

const runEvents = ["run_started", "run_completed", "run_failed"];

/** In the contract a run waits while as many others as may run are running. */
function waitsForRoom(sent: Sent, { client, settings }: HostedRunning): boolean {
	if (!settings.isContract || promptOf(sent) === null) return false;
	const own = client.sessionOf(sent);
	const last = new Map(
		client.events.flatMap(({ type, sessionId }) => (runEvents.includes(type) ? [[sessionId, type] as const] : [])),
	);
	const running = [...last].filter(([id, type]) => type === "run_started" && id !== own);
	return running.length >= settings.turns;
}

/** Sessions that the client knows and did not have archived, nor is about to: an archive for which there is no room is refused. */
function livingSessions(client: HostedActor): readonly string[] {
	const archived = new Set(
		client.sent.flatMap((sent) =>
			sent.method === "session/archive" && outcomeOf(sent) !== "OVERLOADED" ? (client.sessionOf(sent) ?? []) : [],
		),
	);
	return client.sessions.flatMap(({ sessionId }) => (sessionId === null || archived.has(sessionId) ? [] : [sessionId]));
}

/** While others hang, a new session comes to the end of its first turn, unless there is no room for it. */
async function runConcurrently(running: HostedRunning): Promise<void> {
	const { client, provider, faults, settings } = running;
	await settle(meerkatLiveness, running);
	client.atRest = true;
	client.note("a session while the others hang");
	const sent = create(running, false, false);
	const { model }: Pick<KnownSession, "model"> = client.sessions.at(-1) ?? { model: "m" };
	provider.gate(model).open();
	await settle(meerkatLiveness, running);
	const outcome = outcomeOf(sent);
	const isFull = client.runs().length >= Math.min(settings.slots, settings.turns);
	if (outcome === "result" || (outcome === "OVERLOADED" && isFull)) return;
	if (sent.response === null && waitsForRoom(sent, running)) return;
	faults.push(`a session while the others hang ends with ${outcome}`);
}

/** Every session that is not archived does a further turn. */
async function requestOnceMore(running: HostedRunning): Promise<void> {
	const { client, faults } = running;
	for (const id of livingSessions(client)) {
		const sent = startTurn(client, id);
		await settle(meerkatLiveness, running);
		const outcome = outcomeOf(sent);
		if (outcome !== "result") faults.push(`a further turn of ${id} ends with ${outcome}`);
	}
}

async function judge(running: HostedRunning): Promise<readonly string[]> {
	const { client, settings, provider } = running;
	const isScarce = settings.slots < 1000 || settings.turns < 60;
	// A client that answers none has decided by creating the session.
	const unapproved = settings.answers ? await findUnapproved(running) : [];
	return [...findFaults(client, isScarce), ...provider.complaints(), ...unapproved];
}

/** Files that were written without an approval. */
async function findUnapproved({ client, files }: HostedRunning): Promise<readonly string[]> {
	const found: string[] = [];
	// What a client that is gone answered last cannot be known.
	for (const { type, event, sessionId, at } of client.isGone ? [] : client.events) {
		if (type !== "tool_call_requested" || event["name"] !== "WriteFile") continue;
		const callId = String(event["id"]);
		if ((await files.read(writtenPath(callId))) === null) continue;
		const approvals = client.interactions.filter(
			(interaction) => interaction.type === "approval/request" && sessionOfRequest(interaction) === sessionId,
		);
		const isApproved = approvals.some(
			({ params, answer }) =>
				answer?.how === "for-session" || (params["tool_use_id"] === callId && answer?.how === "yes"),
		);
		if (!isApproved) found.push(`${callId} at ${at} wrote without an approval`);
	}
	return found;
}

/** Another server over what is left finds every session that the client knows, and none that was archived. */
async function reopen({ client, settings, store, files }: HostedRunning): Promise<readonly string[]> {
	const roomy = { ...settings, slots: 1024, turns: 64, outboxLimit: 262_144, isContract: false };
	const again = await startOver(roomy, store, files);
	openModels(again, client);
	const faults: string[] = [];
	const archives = client.sent.filter(({ method }) => method === "session/archive");
	const archived = archives.flatMap((sent) => (outcomeOf(sent) === "result" ? (client.sessionOf(sent) ?? []) : []));
	const mayBeArchived = archives.flatMap((sent) => (sent.response === null ? (client.sessionOf(sent) ?? []) : []));
	for (const id of client.sessions.flatMap(({ sessionId }) => sessionId ?? [])) {
		if (mayBeArchived.includes(id)) continue;
		const requests = [again.client.request("session/read", { session_id: id }), startTurn(again.client, id)];
		await settle(meerkatLiveness, again);
		const wanted = archived.includes(id) ? "SESSION_NOT_FOUND" : "result";
		for (const sent of requests) {
			const outcome = outcomeOf(sent);
			if (outcome !== wanted) faults.push(`${sent.method} of ${id} ends with ${outcome}`);
		}
	}
	again.client.endInput();
	await shutDown(meerkatLiveness, again);
	faults.push(...again.faults, ...again.client.faults, ...again.provider.complaints());
	return faults.map((fault) => `opened again: ${fault}`);
}

function openModels({ provider }: HostedRunning, { sessions }: HostedActor): void {
	for (const model of ["m", ...sessions.map((session) => session.model)]) provider.gate(model).open();
}

function count({ client }: HostedRunning, tally: Tally): void {
	for (const { type } of client.events) tally.add(type);
	for (const { type } of client.interactions) tally.add(type);
	for (const sent of client.sent) tally.add(`${sent.method} ${outcomeOf(sent) ?? "unanswered"}`);
}

export const meerkatLiveness: LivenessDialect<AnswerKind, HostedAction, HostedSettings, HostedRunning> = {
	actions: hostedActions,
	scenes: hostedScenes,
	answers: answerKinds,
	yes: "yes",
	finishes: ["answer", "answer", "cancel", "cancel", "archive", "end", "end", "gone"],
	settings: hostedSettings,
	maxSteps: 24,
	start: (settings) => startOver(settings, createMemoryStore(), createMemoryFiles()),
	perform,
	mayWait,
	openModels: (running) => openModels(running, running.client),
	prepareEnd: runConcurrently,
	cancelAll({ client }, finish) {
		const method = finish === "cancel" ? "turn/interrupt" : "session/archive";
		for (const id of livingSessions(client)) client.request(method, { session_id: id });
	},
	survivors: ({ client }) => client.runs(),
	requestOnceMore,
	judge,
	reopen,
	count,
};
