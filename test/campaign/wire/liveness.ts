// Kimi Wire in the liveness campaign: a server of one session whose model, store and clock are the campaign's.
import { isRecord } from "../../../src/base/json.ts";
import { compileJsonSchema } from "../../../src/core/tools/json-schema.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import type { SessionStore } from "../../../src/ports/store/session-store.ts";
import { type ModelMove, whatIsIllegal } from "../../support/models/campaign-model.ts";
import { type CampaignServer, createCampaignServer } from "../../support/sessions/campaign-server.ts";
import { createMemoryFiles, type MemoryFiles } from "../../support/store/memory-files.ts";
import type { Sent } from "../frame/actor.ts";
import type { Tally } from "../frame/campaign.ts";
import type { Fields } from "../frame/life.ts";
import { answerOpen, type Finish, type LivenessDialect, type Running, settle, shutDown } from "../frame/liveness.ts";
import {
	type AnswerKind,
	answerKinds,
	type Greeting,
	lastAgent,
	type WireAction,
	type WireSettings,
	wireActions,
	wireScenes,
	wireSettings,
} from "./liveness-actions.ts";
import { eventOf, toAside, WireActor } from "./liveness-client.ts";
import { findInteractiveFaults } from "./liveness-interactive.ts";
import { findFaults, type ObservedEffect } from "./liveness-rules.ts";

const clientTool = {
	name: "ClientTool",
	description: "Does it elsewhere.",
	parameters: { type: "object", properties: { n: { type: "integer" } } },
};

/** The validator is loaded on first use; loading takes time that an interleaving cannot see. */
const warmUp = compileJsonSchema(clientTool.parameters);

interface WireRunning extends Running<AnswerKind> {
	readonly client: WireActor;
	readonly settings: WireSettings;
	readonly server: CampaignServer;
	readonly effects: ObservedEffect[];
	readonly store: SessionStore;
	readonly files: MemoryFiles;
	/** Plan mode before the end; null when the input ended under what ran. */
	planMode: boolean | null;
	/** Lets every write to the store succeed from now on. */
	mend(): void;
}

async function startOver(settings: WireSettings, store: SessionStore, files: MemoryFiles): Promise<WireRunning> {
	await warmUp;
	const { latency, deadlines, outboxLimit, failure } = settings;
	const effects: ObservedEffect[] = [];
	let isMended = false;
	const server = await createCampaignServer({
		...{ store, files, latency, outboxLimit },
		failsWrite: (n) => failure !== null && !isMended && n >= failure.from && n < failure.from + failure.count,
		deadlines: deadlines
			? { approval: 30, question: 30, "client-tool": 60 }
			: { approval: 0, question: 0, "client-tool": 0 },
		onEffect: (effect) => effects.push({ ...effect, at: client.transcript.length }),
	});
	const client = new WireActor(server.client);
	const { clock, serving, activity, close } = server;
	return {
		...{ settings, server, client, effects, store, files, clock, serving, activity, close },
		quietTurns: latency + 4,
		unseen: 0,
		faults: [],
		planMode: null,
		mend() {
			isMended = true;
		},
	};
}

async function start(settings: WireSettings): Promise<WireRunning> {
	const running = await startOver(settings, createMemoryStore(), createMemoryFiles());
	if (settings.greeting !== null) {
		perform({ do: "initialize", greeting: settings.greeting }, running);
		await settle(wireLiveness, running);
	}
	return running;
}

function perform(action: WireAction, { server, client }: WireRunning): void {
	switch (action.do) {
		case "prompt":
			client.send("prompt", { user_input: "Do it." });
			return;
		case "command":
			client.send("prompt", { user_input: action.text });
			return;
		case "aside":
			client.send("prompt", { user_input: toAside(action.question, client.sent.length) }, "aside");
			return;
		case "steer":
			client.send("steer", { user_input: [{ type: "text", text: "This way." }] });
			return;
		case "cancel":
		case "replay":
			client.send(action.do, undefined);
			return;
		case "initialize":
			client.send("initialize", toHandshake(action.greeting));
			return;
		case "plan-mode":
			client.send("set_plan_mode", { enabled: action.enabled });
			return;
		case "model":
			client.note(`model: ${action.moves.map(nameOf).join(", ")}`);
			server.gate.push(action.moves.map((move) => withAgent(move, client.lastAgentId)));
			return;
	}
}

function nameOf(move: ModelMove): string {
	return move.kind === "call" ? move.name : move.kind === "fail" ? move.failure : move.kind;
}

function toHandshake({ tools, able, hooks }: Greeting): Fields {
	return {
		protocol_version: "1.7",
		...(tools ? { external_tools: [clientTool] } : {}),
		capabilities: { supports_question: able, supports_plan_mode: able },
		...(hooks.length === 0 ? {} : { hooks: hooks.map((hook, index) => ({ id: `hook-${index}`, ...hook })) }),
	};
}

/** The move with the last subagent where its mark is. */
function withAgent(move: ModelMove, agentId: string): ModelMove {
	if (move.kind !== "call" || move.arguments === null) return move;
	return { ...move, arguments: move.arguments.replace(lastAgent, agentId) };
}

/** Whether a turn may wait for the model, for the client, or for time. */
function mayWait({ method }: Sent, { server, client, clock }: WireRunning): boolean {
	if (method !== "prompt" && method !== "aside") return false;
	return server.gate.isWaiting() || client.openInteractions().length > 0 || clock.waiting() > 0;
}

/** A prompt with one effect works; the effect is that of a subagent when one is to be resumed. */
async function requestOnceMore(running: WireRunning, resumed: string | null = null): Promise<void> {
	const { server, client, effects, faults } = running;
	const resumption: readonly ModelMove[] = [
		{
			kind: "call",
			id: "last-agent",
			name: "Agent",
			arguments: JSON.stringify({ description: "again", prompt: "Once more.", resume: resumed }),
		},
		{ kind: "done", counted: true },
	];
	await settle(wireLiveness, running);
	client.atRest = true;
	client.note("a good prompt");
	running.mend();
	const before = effects.length;
	server.gate.open();
	server.gate.close();
	server.gate.push([
		...(resumed === null ? [] : resumption),
		{ kind: "call", id: "last-call", name: "Touch", arguments: '{"n":9}' },
		{ kind: "done", counted: true },
	]);
	const sent = client.send("prompt", { user_input: "Once more." });
	await answerOpen(wireLiveness, running);
	server.gate.open();
	await answerOpen(wireLiveness, running);
	const result = sent.response?.message["result"];
	if (!isRecord(result) || result["status"] !== "finished") faults.push("a good prompt does not finish");
	if (effects.length !== before + 1) faults.push("a good prompt does not have its effect");
	running.planMode = server.planMode();
}

async function judge(running: WireRunning, finish: Finish): Promise<readonly string[]> {
	const { client, effects, server, settings } = running;
	const isComplete = finish !== "gone";
	const isOpen = isComplete && finish !== "end";
	const storeFailed = settings.failure !== null;
	const { delivered, faults } = findFaults(client, effects, isComplete, storeFailed);
	const planMode = isOpen && !storeFailed ? running.planMode : null;
	const found = [...faults, ...server.gate.complaints];
	found.push(...findInteractiveFaults(client, delivered, { isComplete, storeFailed, isOpen, planMode }));
	if (server.session.turnId !== null) found.push("a turn runs on after the end");
	if (!meansDefect(running) && client.transcript.some(({ message }) => isInternal(message)))
		found.push("an internal error");
	found.push(...checkContexts(server, server.contextRows));
	return found;
}

/** Whether the model was made to fail in a way that is our own fault, which alone may be answered as such. */
function meansDefect({ client, settings }: WireRunning): boolean {
	return (
		settings.failure !== null || client.transcript.some(({ from, text }) => from === "note" && text.includes("defect"))
	);
}

function isInternal({ error }: Fields): boolean {
	return isRecord(error) && error["code"] === -32603;
}

/** Whether a provider accepts the contexts of subagents, and of the session. */
function checkContexts({ agentRows }: CampaignServer, own: CampaignServer["contextRows"]): readonly string[] {
	return [["the session", own] as const, ...agentRows].flatMap(([agent, rows]) => {
		const illegal = whatIsIllegal(rows.flatMap((row) => (row.type === "message" ? [row.message] : [])));
		return illegal === null ? [] : [`the persisted context of ${agent} is not legal: ${illegal}`];
	});
}

/**
 * Opens the session again after an end under what ran, as another process would, and uses it and the subagent that the last
 * event was of.
 */
async function reopen(running: WireRunning, finish: Finish): Promise<readonly string[]> {
	if (finish !== "end" && finish !== "gone") return [];
	const { settings, store, files, client, server } = running;
	const again = await startOver({ ...settings, outboxLimit: 262_144, failure: null }, store, files);
	const faults: string[] = [];
	const isWhole = settings.failure === null;
	const resumes = client.lastAgentId !== "none" && isWhole;
	if (isWhole && again.server.planMode() !== server.planMode()) faults.push("plan mode is not as it was");
	await requestOnceMore(again, resumes ? client.lastAgentId : null);
	again.client.endInput();
	await shutDown(wireLiveness, again);
	faults.push(...again.faults, ...again.client.faults, ...again.server.gate.complaints);
	if (resumes && !again.client.transcript.some(({ text }) => text.includes("resumed: true"))) {
		faults.push("the subagent does not go on");
	}
	faults.push(...checkContexts(again.server, []));
	return faults.map((fault) => `opened again: ${fault}`);
}

function count({ client, effects }: WireRunning, tally: Tally): void {
	tally.add("effects", effects.length);
	for (const { from, message } of client.transcript) {
		if (from === "server" && message["method"] !== undefined) tally.add(eventOf(message).type);
	}
	for (const { method, response } of client.sent) {
		const { result, error } = response?.message ?? {};
		if (isRecord(error)) tally.add(`error ${String(error["code"])}`);
		else tally.add(`${method} ${isRecord(result) ? String(result["status"] ?? "ok") : "unanswered"}`);
	}
}

export const wireLiveness: LivenessDialect<AnswerKind, WireAction, WireSettings, WireRunning> = {
	actions: wireActions,
	scenes: wireScenes,
	answers: answerKinds,
	yes: "approve",
	finishes: ["answer", "answer", "time", "cancel", "end", "end", "gone"],
	settings: wireSettings,
	maxSteps: 16,
	start,
	perform,
	mayWait,
	openModels: ({ server }) => server.gate.open(),
	cancelAll(running) {
		const { client } = running;
		if (client.unanswered().some((sent) => client.isCancellable(sent) !== false)) perform({ do: "cancel" }, running);
	},
	survivors: ({ client }) => client.unanswered().filter((sent) => client.isCancellable(sent) === true),
	requestOnceMore,
	judge,
	reopen,
	count,
};
