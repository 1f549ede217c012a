// Runs one interleaving over many sessions against a server in memory, brings everything to its end, and gathers what went
// wrong.
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { SessionStore } from "../../../src/store/session-store.ts";
import { nextTurn } from "../../../test/support/campaign-server.ts";
import { createMemoryFiles } from "../../../test/support/memory-files.ts";
import type { InterleavingReport } from "../liveness/liveness-run.ts";
import type { HostedInterleaving } from "./liveness-actions.ts";
import type { HostedClient } from "./liveness-client.ts";
import { create, passTime, perform, startTurn, writtenPath } from "./liveness-perform.ts";
import { findFaults, outcomeOf } from "./liveness-rules.ts";
import { type Running, settle, shutDown, start } from "./liveness-server.ts";

export async function runHostedInterleaving(interleaving: HostedInterleaving): Promise<InterleavingReport> {
	const store = createMemoryStore();
	const files = createMemoryFiles();
	const running = await start(interleaving, store, files);
	const { client, faults } = running;
	for (const { action, rest } of interleaving.steps) {
		perform(action, running);
		if (rest === "all") await settle(running);
		else for (let turn = 0; turn < rest; turn += 1) await nextTurn();
		client.atRest = rest === "all";
	}
	const endsAt = await finish(running);
	const { places, turns, finish: end } = interleaving;
	const isScarce = places < 1000 || turns < 60;
	faults.push(
		...findFaults(client, { isComplete: end !== "gone", isScarce, endsAt }),
		...running.provider.complaints(),
	);
	faults.push(...(await findUnapproved(running)), ...(await reopen(running, store)));
	const transcript = [...describe(client), ...faults.map((fault) => `✗ ${fault}`)];
	return { faults, transcript, tally: count(client) };
}

/** Sessions that the client knows and did not have archived. */
function livingSessions(client: HostedClient): readonly string[] {
	const archived = new Set(
		client.sent.flatMap((sent) => (sent.method === "session/archive" ? (sent.sessionId ?? []) : [])),
	);
	return client.slots.flatMap(({ sessionId }) => (sessionId === null || archived.has(sessionId) ? [] : [sessionId]));
}

/** Brings everything to its end; gives the place in the transcript from which on the program was ending. */
async function finish(running: Running): Promise<number> {
	const { server, client, faults, interleaving } = running;
	if (interleaving.finish === "gone") {
		client.note("the client is gone");
		client.isGone = true;
		const endsAt = client.transcript.length;
		server.client.disconnect();
		await shutDown(running);
		return endsAt;
	}
	if (client.isPaused) perform({ do: "resume" }, running);
	await settle(running);
	client.atRest = true;
	await runConcurrentlyWithOthers(running);
	if (interleaving.finish === "interrupt" || interleaving.finish === "archive") {
		for (const id of livingSessions(client)) {
			client.request(interleaving.finish === "interrupt" ? "turn/interrupt" : "session/archive", { session_id: id });
		}
		await settle(running);
		for (const { id, method } of client.runs())
			faults.push(`${method} ${id} goes on behind its ${interleaving.finish}`);
	}
	if (interleaving.finish !== "end") {
		await answerAll(running);
		await turnOnceMore(running);
	}
	client.note("the input ends");
	const endsAt = client.transcript.length;
	server.client.end();
	await shutDown(running);
	return endsAt;
}

/** While others hang, a new session comes to the end of its first turn, unless there is no room for it. */
async function runConcurrentlyWithOthers(running: Running): Promise<void> {
	const { client, provider, faults } = running;
	client.note("a session beside the others");
	const slot = create(running, { deferred: false, tools: false });
	provider.gate(slot.model).open();
	await settle(running);
	const sent = client.sent.find(({ id }) => id === slot.createId);
	const outcome = sent === undefined ? null : outcomeOf(sent);
	const { places, turns } = running.interleaving;
	const isFull = client.runs().length >= Math.min(places, turns);
	if (outcome !== "result" && !(outcome === "OVERLOADED" && isFull)) {
		faults.push(`a session beside the others ends with ${outcome}`);
	}
}

/** Lets models answer, says yes to everything, and lets time pass, until every request has its response. */
async function answerAll(running: Running): Promise<void> {
	const { client, provider, faults } = running;
	for (const { model } of client.slots) provider.gate(model).open();
	for (let round = 0; round < 40; round += 1) {
		await settle(running);
		client.atRest = true;
		const open = client.openInteractions();
		for (const interaction of open) client.answer(interaction, "yes");
		if (client.unanswered().length === 0) return;
		if (open.length === 0) passTime(running, 10);
	}
	faults.push(`something is still unanswered: ${client.unanswered().map(({ method, id }) => `${method} ${id}`)}`);
}

/** Every session that is not archived does a further turn. */
async function turnOnceMore(running: Running): Promise<void> {
	const { client, faults } = running;
	for (const id of livingSessions(client)) {
		const sent = startTurn(client, id);
		await settle(running);
		const outcome = outcomeOf(sent);
		if (outcome !== "result") faults.push(`a further turn of ${id} ends with ${outcome}`);
	}
}

/** Files that were written without a yes. */
async function findUnapproved({ client, files, interleaving }: Running): Promise<readonly string[]> {
	const found: string[] = [];
	for (const { type, event, sessionId, at } of client.events) {
		if (type !== "tool_call_requested" || event["name"] !== "WriteFile") continue;
		const callId = String(event["id"]);
		if ((await files.read(writtenPath(callId))) === null) continue;
		const approvals = client.interactions.filter(
			(interaction) => interaction.method === "approval/request" && interaction.sessionId === sessionId,
		);
		const isApproved = approvals.some(
			({ toolUseId, answer }) => toolUseId === callId && (answer?.how === "yes" || answer?.how === "for-session"),
		);
		const isForSession = approvals.some(({ answer }) => answer?.how === "for-session");
		if (!isApproved && !isForSession) found.push(`${callId} at ${at} wrote without a yes`);
	}
	return interleaving.finish === "gone" ? [] : found;
}

/** Another server over what is left finds every session the client was told of, and none that was archived. */
async function reopen({ client, interleaving, files }: Running, store: SessionStore): Promise<readonly string[]> {
	const roomy = { ...interleaving, places: 1024, turns: 64, outboxLimit: 262_144, isContract: false };
	const again = await start(roomy, store, files);
	for (const model of ["m", ...client.slots.map((slot) => slot.model)]) again.provider.gate(model).open();
	const faults: string[] = [];
	const archived = client.sent.flatMap((sent) =>
		sent.method === "session/archive" && outcomeOf(sent) === "result" ? (sent.sessionId ?? []) : [],
	);
	const mayBeArchived = client.sent.flatMap(({ method, sessionId, response }) =>
		method === "session/archive" && response === null ? (sessionId ?? []) : [],
	);
	for (const id of client.slots.flatMap(({ sessionId }) => sessionId ?? [])) {
		if (mayBeArchived.includes(id)) continue;
		const requests = [again.client.request("session/read", { session_id: id }), startTurn(again.client, id)];
		await settle(again);
		const wanted = archived.includes(id) ? "SESSION_NOT_FOUND" : "result";
		for (const sent of requests) {
			const outcome = outcomeOf(sent);
			if (outcome !== wanted) faults.push(`opened again: ${sent.method} of ${id} ends with ${outcome}`);
		}
	}
	again.server.client.end();
	await shutDown(again);
	return [...faults, ...again.faults, ...again.provider.complaints()];
}

function describe({ transcript }: HostedClient): readonly string[] {
	const marks = { client: "→", server: "←", note: "·" } as const;
	return transcript.map(({ from, text }, index) => `${String(index).padStart(3)} ${marks[from]} ${text}`);
}

function count(client: HostedClient): ReadonlyMap<string, number> {
	const tally = new Map<string, number>();
	const add = (name: string) => tally.set(name, (tally.get(name) ?? 0) + 1);
	for (const { type } of client.events) add(type);
	for (const { method } of client.interactions) add(method);
	for (const sent of client.sent) add(`${sent.method} ${outcomeOf(sent) ?? "unanswered"}`);
	return tally;
}
