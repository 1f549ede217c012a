// Runs one interleaving over many sessions against a server in memory, brings everything to its end, and gathers what went
// wrong.
import { createMemoryStore } from "../../../src/store/memory-store.ts";
import type { SessionStore } from "../../../src/store/session-store.ts";
import { createFakeClock, type FakeClock } from "../../../test/support/campaign-clock.ts";
import type { ModelMove } from "../../../test/support/campaign-model.ts";
import { nextTurn } from "../../../test/support/campaign-server.ts";
import { createGatedProvider, type GatedProvider } from "../../../test/support/gated-provider.ts";
import { createHostedServer, type HostedServer } from "../../../test/support/hosted-server.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../test/support/memory-files.ts";
import { withPatience } from "../fuzz-run.ts";
import type { InterleavingReport } from "../liveness-run.ts";
import type { Action, CallKind, HostedInterleaving, ModelAnswer } from "./liveness-actions.ts";
import { HostedClient, type Sent, type Slot } from "./liveness-client.ts";
import { findFaults, outcomeOf } from "./liveness-rules.ts";

const writtenPath = (callId: string): string => `/home/me/project/${callId}.txt`;
const paint = { name: "paint", description: "Paints.", input_schema: { type: "object", properties: {} } };
const question = { question: "Which way?", options: [{ label: "Left" }, { label: "Right" }] };

interface Running {
	readonly interleaving: HostedInterleaving;
	readonly server: HostedServer;
	readonly client: HostedClient;
	readonly provider: GatedProvider;
	readonly clock: FakeClock;
	readonly files: MemoryFiles;
	readonly faults: string[];
}

let calls = 0;

async function start(interleaving: HostedInterleaving, store: SessionStore, files: MemoryFiles): Promise<Running> {
	const clock = createFakeClock();
	const provider = createGatedProvider(false);
	const { latency, places, turns, unloadAfter, outboxLimit } = interleaving;
	const server = await createHostedServer({
		files,
		store,
		clock,
		fetch: async (url, init) => {
			for (let turn = 0; turn < latency; turn += 1) await nextTurn();
			return await provider.fetch(url, init);
		},
		agentwire: { limits: { loaded_sessions: places, running_turns: turns, unload_after: unloadAfter } },
		outboxLimit,
	});
	const running = {
		interleaving,
		server,
		client: new HostedClient(server.client),
		provider,
		clock,
		files,
		faults: [],
	};
	const { answers, bringsTool, isContract } = interleaving;
	const requests = answers ? ["approval/request", "question/request"] : [];
	running.client.request("initialize", { requests, ...(bringsTool ? { tools: [paint] } : {}) });
	if (isContract) running.client.request("capabilities/get", {});
	await settle(running);
	return running;
}

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

function perform(action: Action, running: Running): void {
	const { client, provider, server } = running;
	switch (action.do) {
		case "create":
			create(running, action);
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
			const slot = client.slots.at(action.session % Math.max(1, client.slots.length));
			if (slot === undefined) return;
			client.note(`${slot.model}: ${JSON.stringify(action.answer)}`);
			provider.gate(slot.model).push(toMoves(action.answer));
			return;
		}
		case "answer":
		case "answer-late": {
			const among = action.do === "answer" ? client.openAsks() : client.closedAsks();
			const ask = among[action.which % Math.max(1, among.length)];
			if (ask !== undefined) client.answer(ask, action.how);
			return;
		}
		case "wait":
			passTime(running, action.seconds);
			return;
		case "pause":
			client.note("the client stops reading");
			client.paused = true;
			server.client.pause();
			return;
		case "resume":
			client.note("the client reads again");
			client.paused = false;
			server.client.resume();
			return;
	}
}

function passTime({ client, clock }: Running, seconds: number): void {
	client.note(`${seconds} s pass`);
	client.timePassedAt = client.transcript.length;
	clock.advance(seconds * 1000);
}

function create(
	{ client }: Running,
	{ deferred, tools }: { readonly deferred: boolean; readonly tools: boolean },
): Slot {
	const model = `m${client.slots.length + 1}`;
	const sent = client.request("session/create", {
		prompt: `do ${client.sent.length + 1}`,
		model,
		provider: "p",
		enable_builtins: tools,
		...(deferred ? { initial_turn: "deferred" } : {}),
	});
	const slot: Slot = { model, createId: sent.id, sessionId: null };
	client.slots.push(slot);
	return slot;
}

function startTurn(client: HostedClient, id: string): Sent {
	return client.request("turn/start", { session_id: id, prompt: `do ${client.sent.length + 1}` });
}

/** The n-th session whose id is known; null when there is none. */
function sessionAt({ slots }: HostedClient, n: number): string | null {
	const known = slots.flatMap(({ sessionId }) => sessionId ?? []);
	return known.at(n % Math.max(1, known.length)) ?? null;
}

function toMoves({ words, calls: kinds, end }: ModelAnswer): readonly ModelMove[] {
	const said = Array.from({ length: words }, (): ModelMove => ({ kind: "say", text: "word " }));
	const ends: Readonly<Record<ModelAnswer["end"], readonly ModelMove[]>> = {
		done: [{ kind: "done", counted: true }],
		break: [{ kind: "break" }],
		refuse: [{ kind: "fail", failure: "status", status: 400 }],
		lose: [{ kind: "fail", failure: "connection", status: null }],
		hang: [],
	};
	return [...said, ...kinds.map(toCall), ...ends[end]];
}

function toCall(kind: CallKind): ModelMove {
	calls += 1;
	const id = `call-${calls}`;
	const call = (name: string, value: object): ModelMove => ({
		kind: "call",
		id,
		name,
		arguments: JSON.stringify(value),
	});
	switch (kind) {
		case "write":
			return call("WriteFile", { path: writtenPath(id), content: "written" });
		case "ask":
			return call("AskUserQuestion", { questions: [question] });
		case "paint":
			return call("paint", { colour: "blue" });
		case "unknown":
			return call("Nothing", {});
		case "broken":
			return { kind: "call", id, name: "WriteFile", arguments: '{"path":' };
	}
}

/** Real milliseconds in which what is under way shows itself: modules are loaded in no turn of this loop. */
const patience = 5000;

/**
 * Lets everything happen that can without the client, the models or time: until nothing moves, and whoever waits for a
 * response waits for a reason.
 */
async function settle(running: Running): Promise<void> {
	const { provider, client, interleaving } = running;
	const seen = () => provider.activity() + client.received;
	const started = performance.now();
	for (let quiet = 0, last = seen(); quiet < interleaving.latency + 12 || !isExplained(running, started); ) {
		await nextTurn();
		const now = seen();
		quiet = now === last ? quiet + 1 : 0;
		last = now;
	}
}

/** Whether every open request waits for a model, for the client or for time. */
function isExplained(running: Running, started: number): boolean {
	const { client, faults } = running;
	const waited = performance.now() - started;
	// What the client does not read it cannot tell.
	if (client.paused || client.isGone) return waited > 5;
	const lost = client.unanswered().filter((sent) => !hasReason(sent, running));
	if (lost.length === 0) return true;
	if (waited < patience) return false;
	for (const { method, id } of lost) faults.push(`${method} ${id} waits for nothing`);
	return true;
}

function hasReason(sent: Sent, { client, provider }: Running): boolean {
	const sessionId = client.sessionOf(sent);
	if (sent.prompt === null || sessionId === null) return false;
	const cuts = ["turn/interrupt", "session/archive"];
	if (client.sent.some((other) => cuts.includes(other.method) && other.sessionId === sessionId && other.at > sent.at))
		return false;
	const model = client.slots.find((slot) => slot.sessionId === sessionId)?.model ?? "m";
	const last = client.events.findLast((event) => event.sessionId === sessionId);
	if (provider.gate(model).isWaiting()) return true;
	if (last?.type === "retrying" && last.at >= client.timePassedAt) return true;
	return client.openAsks().some((ask) => ask.sessionId === sessionId);
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
	if (client.paused) perform({ do: "resume" }, running);
	await settle(running);
	client.atRest = true;
	await runBesideOthers(running);
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
async function runBesideOthers(running: Running): Promise<void> {
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
		const open = client.openAsks();
		for (const ask of open) client.answer(ask, "yes");
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

async function shutDown(running: Running): Promise<void> {
	const { server, faults } = running;
	let isOver = false;
	const over = server.serving.ended
		.then(() => server.serving.finish())
		.then(() => {
			isOver = true;
		});
	await settle(running);
	await withPatience(over, patience);
	if (!isOver) faults.push("the server does not come to its end");
	await server.close();
}

/** Files that were written without a yes. */
async function findUnapproved({ client, files, interleaving }: Running): Promise<readonly string[]> {
	const found: string[] = [];
	for (const { type, event, sessionId, at } of client.events) {
		if (type !== "tool_call_requested" || event["name"] !== "WriteFile") continue;
		const callId = String(event["id"]);
		if ((await files.read(writtenPath(callId))) === null) continue;
		const approvals = client.asks.filter((ask) => ask.method === "approval/request" && ask.sessionId === sessionId);
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
	for (const { method } of client.asks) add(method);
	for (const sent of client.sent) add(`${sent.method} ${outcomeOf(sent) ?? "unanswered"}`);
	return tally;
}
