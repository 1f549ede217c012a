// Runs one interleaving against a server in memory, brings everything to its end, and gathers what went wrong.
import { isRecord } from "../../../src/base/json.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { SessionStore } from "../../../src/store/session-store.ts";
import { compileJsonSchema } from "../../../src/tools/json-schema.ts";
import { type ModelMove, whatIsIllegal } from "../../../test/support/campaign-model.ts";
import { type CampaignServer, createCampaignServer, nextTurn } from "../../../test/support/campaign-server.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../test/support/memory-files.ts";
import { type Action, type Greeting, type Interleaving, lastAgent } from "./liveness-actions.ts";
import { eventOf, inputEnds, LivenessClient, toAside } from "./liveness-client.ts";
import { findInteractiveFaults } from "./liveness-interactive.ts";
import { findFaults, type ObservedEffect } from "./liveness-rules.ts";

export interface InterleavingReport {
	readonly faults: readonly string[];
	/** One line per message, note and fault. */
	readonly transcript: readonly string[];
	/** How often what happened: message types, outcomes of requests, effects. */
	readonly tally: ReadonlyMap<string, number>;
}

const clientTool = {
	name: "ClientTool",
	description: "Does it elsewhere.",
	parameters: { type: "object", properties: { n: { type: "integer" } } },
};

/** The validator is loaded when first used; loading takes time that an interleaving cannot see. */
const warmUp = compileJsonSchema(clientTool.parameters);

interface Running {
	readonly server: CampaignServer;
	readonly client: LivenessClient;
	readonly effects: ObservedEffect[];
	readonly latency: number;
	/** Lets every write to the store succeed from now on. */
	mend(): void;
}

export async function runInterleaving(interleaving: Interleaving): Promise<InterleavingReport> {
	await warmUp;
	const store = createMemoryStore();
	const files = createMemoryFiles();
	const running = await start(interleaving, store, files);
	const { client, server } = running;
	const faults: string[] = [];
	if (interleaving.greeting !== null) {
		perform({ do: "initialize", greeting: interleaving.greeting }, running);
		await settle(running);
	}
	for (const { action, rest } of interleaving.steps) {
		// Time does not pass while a program that has something to do is not let to do it.
		if (action.do === "wait") await settle(running);
		perform(action, running);
		if (rest === "all") await settle(running);
		else for (let turn = 0; turn < rest; turn += 1) await nextTurn();
		client.atRest = rest === "all";
	}
	await finish(interleaving, running, faults);
	const isGone = interleaving.finish === "gone";
	const storeFailed = interleaving.failure !== null;
	const { delivered, faults: found } = findFaults(client, running.effects, !isGone, storeFailed);
	faults.push(...found, ...server.gate.complaints);
	const isOpen = interleaving.finish !== "gone" && interleaving.finish !== "end";
	const planMode = isOpen && !storeFailed ? server.planMode() : null;
	faults.push(...findInteractiveFaults(client, delivered, { isComplete: !isGone, storeFailed, isOpen, planMode }));
	if (
		!meansDefect(interleaving) &&
		client.transcript.some(({ from, message }) => from === "server" && isInternal(message))
	) {
		faults.push("an internal error");
	}
	for (const [agent, rows] of [["the session", server.contextRows] as const, ...server.agentRows]) {
		const illegal = whatIsIllegal(rows.flatMap((row) => (row.type === "message" ? [row.message] : [])));
		if (illegal !== null) faults.push(`the context kept of ${agent} is not legal: ${illegal}`);
	}
	if (!isOpen) faults.push(...(await reopen(interleaving, store, files, running)));
	else await server.close();
	const transcript = [...describe(client), ...faults.map((fault) => `✗ ${fault}`)];
	return { faults, transcript, tally: count(client, running.effects.length) };
}

/** Whether the model is told to fail in a way that is our own fault, which alone may be answered as such. */
function meansDefect({ steps, failure }: Interleaving): boolean {
	if (failure !== null) return true;
	return steps.some(
		({ action }) =>
			action.do === "model" && action.moves.some((move) => move.kind === "fail" && move.failure === "defect"),
	);
}

function isInternal({ error }: Readonly<Record<string, unknown>>): boolean {
	return isRecord(error) && error["code"] === -32603;
}

async function start(interleaving: Interleaving, store: SessionStore, files: MemoryFiles): Promise<Running> {
	const effects: ObservedEffect[] = [];
	let isMended = false;
	const { latency, deadlines, outboxLimit, failure } = interleaving;
	const server = await createCampaignServer({
		store,
		files,
		latency,
		outboxLimit,
		failsWrite: (n) => failure !== null && !isMended && n >= failure.from && n < failure.from + failure.count,
		deadlines: deadlines
			? { approval: 30, question: 30, "client-tool": 60 }
			: { approval: 0, question: 0, "client-tool": 0 },
		onEffect: (effect) => effects.push({ ...effect, at: client.transcript.length }),
	});
	const client = new LivenessClient(server.client);
	const mend = () => {
		isMended = true;
	};
	return { server, client, effects, latency, mend };
}

function perform(action: Action, { server, client }: Running): void {
	switch (action.do) {
		case "prompt":
			client.request("prompt", { user_input: "Do it." });
			return;
		case "command":
			client.request("prompt", { user_input: action.text });
			return;
		case "steer":
			client.request("steer", { user_input: [{ type: "text", text: "This way." }] });
			return;
		case "cancel":
			client.request("cancel", undefined);
			return;
		case "replay":
			client.request("replay", undefined);
			return;
		case "initialize":
			client.request("initialize", toHandshake(action.greeting));
			return;
		case "plan-mode":
			client.request("set_plan_mode", { enabled: action.enabled });
			return;
		case "aside":
			client.request("prompt", { user_input: toAside(action.question, client.sent.length) }, "aside");
			return;
		case "answer":
		case "answer-late": {
			const among = action.do === "answer" ? client.openRequests() : client.closedRequests();
			const request = among[action.which % Math.max(1, among.length)];
			if (request !== undefined) client.answer(request, action.how);
			return;
		}
		case "model":
			client.note(`model: ${action.moves.map((move) => (move.kind === "call" ? move.name : move.kind)).join(", ")}`);
			server.gate.push(action.moves.map((move) => withAgent(move, client.lastAgentId)));
			return;
		case "wait":
			client.note(`${action.seconds} s pass`);
			server.clock.advance(action.seconds * 1000);
			return;
		case "pause":
			client.pause();
			return;
		case "resume":
			client.resume();
			return;
	}
}

function toHandshake({ tools, able, hooks }: Greeting): Record<string, unknown> {
	return {
		protocol_version: "1.7",
		...(tools ? { external_tools: [clientTool] } : {}),
		capabilities: { supports_question: able, supports_plan_mode: able },
		...(hooks.length === 0 ? {} : { hooks: hooks.map((hook, index) => ({ id: `hook-${index}`, ...hook })) }),
	};
}

/** The move with the last subagent in the place that stands for it. */
function withAgent(move: ModelMove, agentId: string): ModelMove {
	if (move.kind !== "call" || move.arguments === null) return move;
	return { ...move, arguments: move.arguments.replace(lastAgent, agentId) };
}

/** Lets everything happen that can without the client, the model or time. */
async function settle({ server, client, latency }: Running): Promise<void> {
	const seen = () => server.activity() + client.received;
	for (let quiet = 0, last = seen(); quiet < latency + 4; ) {
		await nextTurn();
		const now = seen();
		quiet = now === last ? quiet + 1 : 0;
		last = now;
	}
}

async function finish(interleaving: Interleaving, running: Running, faults: string[]): Promise<void> {
	const { server, client } = running;
	if (client.isPaused && interleaving.finish !== "gone") perform({ do: "resume" }, running);
	switch (interleaving.finish) {
		case "end":
			client.note(inputEnds);
			server.client.end();
			return await shutDown(running, faults);
		case "gone":
			client.note("the client is gone");
			server.client.disconnect();
			return await shutDown(running, faults);
		case "cancel":
			return await cancelAll(running, faults);
		case "time":
			await passTime(running, interleaving.deadlines);
			return await promptOnceMore(running, faults);
		case "answer":
			await answerAll(running);
			return await promptOnceMore(running, faults);
	}
}

async function shutDown(running: Running, faults: string[]): Promise<void> {
	let isOver = false;
	const over = running.server.serving.ended
		.then(() => running.server.serving.finish())
		.then(() => {
			isOver = true;
		});
	await settle(running);
	await settle(running);
	if (isOver) await over;
	else faults.push("the server does not come to its end");
	if (running.server.session.snapshot().turnId !== null) faults.push("a turn runs on after the end");
	await running.server.close();
}

async function cancelAll(running: Running, faults: string[]): Promise<void> {
	const { client } = running;
	await settle(running);
	client.atRest = true;
	if (client.unanswered().some((sent) => client.mayRun(sent))) perform({ do: "cancel" }, running);
	await settle(running);
	const goesOn = client.unanswered().some((sent) => sent.method !== "aside" || client.hasTurn(sent));
	if (goesOn) faults.push("a cancel does not end what runs");
	// Questions beside a turn go on; their hooks are answered now, and the model answers them.
	for (const request of client.openRequests()) client.answer(request, "approve");
	running.server.gate.open();
	await settle(running);
	running.server.gate.close();
	await promptOnceMore(running, faults);
}

async function passTime(running: Running, hasDeadlines: boolean): Promise<void> {
	running.server.gate.open();
	for (let round = 0; round < 30 && hasDeadlines; round += 1) {
		await settle(running);
		if (running.client.unanswered().length === 0) return;
		running.server.clock.advance(61_000);
	}
	if (!hasDeadlines) await answerAll(running);
}

async function answerAll(running: Running): Promise<void> {
	const { server, client } = running;
	server.gate.open();
	for (let round = 0; round < 30; round += 1) {
		await settle(running);
		client.atRest = true;
		const open = client.openRequests();
		for (const request of open) client.answer(request, "approve");
		if (client.unanswered().length === 0) return;
		if (open.length === 0) server.clock.advance(10_000);
	}
}

/** After everything, a prompt with one effect works; the effect is that of a subagent when one is to go on. */
async function promptOnceMore(running: Running, faults: string[], resumed: string | null = null): Promise<void> {
	const text = JSON.stringify({ description: "again", prompt: "Once more.", resume: resumed });
	const resumption: readonly ModelMove[] =
		resumed === null
			? []
			: [
					{ kind: "call", id: "last-agent", name: "Agent", arguments: text },
					{ kind: "done", counted: true },
				];
	const { server, client, effects } = running;
	await settle(running);
	if (client.unanswered().length > 0) {
		faults.push("something is still unanswered");
		return;
	}
	client.atRest = true;
	client.note("a good prompt");
	running.mend();
	const before = effects.length;
	server.gate.open();
	server.gate.close();
	server.gate.push([
		...resumption,
		{ kind: "call", id: "last-call", name: "Touch", arguments: '{"n":9}' },
		{ kind: "done", counted: true },
	]);
	const id = client.request("prompt", { user_input: "Once more." });
	await answerOpen(running);
	server.gate.open();
	await answerOpen(running);
	const end = client.transcript.find(({ from, message }) => from === "server" && message["id"] === id);
	if (end?.text.includes('"finished"') !== true) faults.push("a good prompt does not finish");
	if (effects.length !== before + 1) faults.push("a good prompt does not have its effect");
}

/** Says yes to everything until nothing more is asked. */
async function answerOpen(running: Running): Promise<void> {
	for (let round = 0; round < 20; round += 1) {
		await settle(running);
		const open = running.client.openRequests();
		if (open.length === 0) return;
		for (const request of open) running.client.answer(request, "approve");
	}
}

/** Opens the session again, as another process would, and uses it and the subagent last heard of. */
async function reopen(
	interleaving: Interleaving,
	store: SessionStore,
	files: MemoryFiles,
	{ client, server }: Running,
): Promise<readonly string[]> {
	const planMode = server.planMode();
	const again = await start({ ...interleaving, outboxLimit: 262_144, failure: null }, store, files);
	const faults: string[] = [];
	const { lastAgentId } = client;
	const resumes = lastAgentId !== "none" && interleaving.failure === null;
	await promptOnceMore(again, faults, resumes ? lastAgentId : null);
	faults.push(...again.server.gate.complaints);
	if (interleaving.failure === null && again.server.planMode() !== planMode) faults.push("plan mode is not as it was");
	if (resumes && !again.client.transcript.some(({ text }) => text.includes("resumed: true"))) {
		faults.push("the subagent does not go on");
	}
	for (const rows of again.server.agentRows.values()) {
		const illegal = whatIsIllegal(rows.flatMap((row) => (row.type === "message" ? [row.message] : [])));
		if (illegal !== null) faults.push(`the subagent's context is not legal: ${illegal}`);
	}
	await again.server.close();
	return faults.map((fault) => `opened again: ${fault}`);
}

function describe(client: LivenessClient): readonly string[] {
	const marks = { client: "→", server: "←", note: "·" } as const;
	return client.transcript.map(({ from, text }, index) => `${String(index).padStart(3)} ${marks[from]} ${text}`);
}

function count(client: LivenessClient, effects: number): ReadonlyMap<string, number> {
	const tally = new Map<string, number>([["effects", effects]]);
	const add = (name: string) => tally.set(name, (tally.get(name) ?? 0) + 1);
	for (const { from, message } of client.transcript) {
		if (from !== "server") continue;
		const { id, result, error } = message;
		if (message["method"] !== undefined) add(eventOf(message).type);
		else if (isRecord(error)) add(`error ${String(error["code"])}`);
		else add(`${String(id).replace(/-\d+$/, "")} ${isRecord(result) ? String(result["status"] ?? "ok") : ""}`);
	}
	return tally;
}
