// The app-server in the liveness campaign: a client with many threads over one connection, and a tool of its own.
import fc from "fast-check";
import { isRecord } from "../../../src/base/json.ts";
import { createCodexDialect } from "../../../src/frontends/codex/dialect.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import type { SessionStore } from "../../../src/ports/store/session-store.ts";
import { hostedPlace } from "../../support/sessions/hosted-server.ts";
import { createMemoryFiles, type MemoryFiles } from "../../support/store/memory-files.ts";
import type { Sent } from "../frame/actor.ts";
import * as hosted from "../frame/hosted-liveness.ts";
import { answerOpen, type LivenessDialect, settle, shutDown } from "../frame/liveness.ts";
import { toCodexWire } from "./codex-wire.ts";
import { answer, type CallKind, type SdkRunning, scenes, session, toTool, waits } from "./liveness-actions.ts";
import {
	type AnswerKind,
	answerKinds,
	type KnownSession,
	type Notice,
	SdkActor,
	sessionOf,
	type ToResult,
} from "./liveness-client.ts";
import { checkPrompt, checkTurns, cutOff, findUnapproved, type ItemFact, type PromptEnd } from "./liveness-rules.ts";

const onThread = ["resume", "fork", "read", "archive", "name/set", "revert"] as const;

type Action =
	| { readonly do: "start" }
	| { readonly do: "list" }
	| { readonly do: "prompt"; readonly session: number; readonly times: 1 | 2 }
	| { readonly do: "interrupt" | "steer"; readonly session: number; readonly isCurrent: boolean }
	| { readonly do: (typeof onThread)[number]; readonly session: number }
	| { readonly do: "model"; readonly session: number; readonly answer: hosted.ModelAnswer<CallKind> };

interface Settings extends hosted.HostLimits {
	readonly experimentalApi: boolean;
}

type Running = SdkRunning<Settings>;

/** How many models threads can have of their own; later threads share one. */
const modelCount = 16;
const models = Array.from({ length: modelCount }, (_, index) => `m${index + 1}`);
const { workDir: cwd, shareDir: home } = hostedPlace;

const toResult: ToResult = ({ type, params }, how) => {
	if (how === "wrong") return { decision: "maybe", success: 5 };
	if (type === "item/tool/call")
		return { success: how !== "no", contentItems: [{ type: "inputText", text: "painted" }] };
	if (type === "item/tool/requestUserInput") {
		const [question] = Array.isArray(params["questions"]) ? params["questions"] : [];
		const id = isRecord(question) ? String(question["id"]) : "";
		return { answers: how === "no" ? {} : { [id]: { answers: ["Left"] } } };
	}
	return { decision: { yes: "accept", always: "acceptForSession", no: "decline", stop: "cancel" }[how] };
};

async function startOver(settings: Settings, store: SessionStore, files: MemoryFiles): Promise<Running> {
	const dialect = createCodexDialect({ home, sandbox: "workspace-write", hasNetwork: true, directoryOf: () => null });
	const create = (client: Parameters<typeof toCodexWire>[0]) => new SdkActor(toCodexWire(client), toResult);
	const started = await hosted.startHost(settings, { store, files }, { dialect, models }, 60, create);
	const running: Running = { ...started, settings };
	const { experimentalApi } = settings;
	running.client.request("initialize", { clientInfo: { name: "c", version: "1" }, capabilities: { experimentalApi } });
	await settle(codexLiveness, running);
	return running;
}

/** The model of the next thread. */
function nextModel({ sent }: SdkActor): string {
	const opened = sent.filter(({ method }) => method === "thread/start" || method === "thread/fork").length;
	return `m${Math.min(opened + 1, modelCount)}`;
}

function prompt(client: SdkActor, threadId: string): Sent {
	return client.request("prompt", { threadId, input: [{ type: "text", text: `do ${client.sent.length + 1}` }] });
}

/** The n-th thread that the client knows; null when there is none. */
const threadAt = ({ sessions }: SdkActor, n: number): KnownSession | null =>
	sessions.at(n % Math.max(1, sessions.length)) ?? null;

/** The turn that the client started last in a thread. */
function lastTurn({ notices }: SdkActor, threadId: string): string {
	const turns = notices.filter(({ method, params }) => method === "accepted" && sessionOf(params) === threadId);
	return String(turns.at(-1)?.params["turnId"] ?? "none");
}

function perform(action: Action, running: Running): void {
	const { client, provider } = running;
	if (action.do === "start") {
		const paint = { name: "paint", description: "Paints.", inputSchema: { type: "object" } };
		client.request("thread/start", {
			cwd,
			model: nextModel(client),
			approvalPolicy: "on-request",
			dynamicTools: [paint],
		});
		return;
	}
	if (action.do === "list") return void client.request("thread/list", {});
	const thread = threadAt(client, action.session);
	if (thread === null) return;
	const { id: threadId, model } = thread;
	const turnId = lastTurn(client, threadId);
	switch (action.do) {
		case "model":
			provider.gate(model).push(hosted.toMoves(action.answer, running, toTool("paint")));
			return;
		case "prompt":
			for (let time = 0; time < action.times; time += 1) prompt(client, threadId);
			return;
		case "interrupt":
			client.request("turn/interrupt", { threadId, turnId: action.isCurrent ? turnId : "none" });
			return;
		case "steer": {
			const expectedTurnId = action.isCurrent ? turnId : "none";
			client.request("turn/steer", { threadId, expectedTurnId, input: [{ type: "text", text: "and this" }] });
			return;
		}
		default: {
			const more = { name: "n", beforeTurnId: turnId, includeTurns: true };
			const own = action.do === "fork" ? { model: nextModel(client) } : {};
			client.request(`thread/${action.do}`, { threadId, ...more, ...own });
		}
	}
}

function turnOf({ response }: Sent): Readonly<Record<string, unknown>> | null {
	const result = response?.message["result"];
	return isRecord(result) && isRecord(result["turn"]) ? result["turn"] : null;
}

function endOf(sent: Sent): PromptEnd | null {
	const status = turnOf(sent)?.["status"];
	if (sent.method !== "prompt" || (status !== "completed" && status !== "interrupted" && status !== "failed"))
		return null;
	return status;
}

const errorOf = ({ response }: Sent): string | null => {
	const error = response?.message["error"];
	return isRecord(error) ? `${error["code"]} ${error["message"]}` : null;
};

/** What requests may be refused for. */
const refusals =
	/^-32600 (?:no active turn|expected active turn|thread not found|Session not found|There is no session|No agent turn is|The session has no turn|An agent turn is (?:already )?in progress|A turn runs in)/;

function checkRequest(sent: Sent, { client, settings }: Running): readonly string[] {
	const error = errorOf(sent);
	if (error === null || refusals.test(error)) return [];
	const isScarce = settings.slots < 1000 || settings.turns < 60;
	if (isScarce && error.startsWith("-32001 ")) return [];
	const isLeft =
		(sent.response?.at ?? 0) >= client.endsAt || client.sent.some(({ method }) => method === "thread/archive");
	if (isLeft && / is (?:ending|closing)\.$/.test(error)) return [];
	return [`${sent.id} fails: ${error}`];
}

/** A turn, and what of it is under way, as the response to `thread/resume` tells it. */
function toldAgain({ method, response }: Sent): { readonly turn: unknown } | null {
	const result = response?.message["result"];
	if (method !== "thread/resume" || !isRecord(result) || !isRecord(result["thread"])) return null;
	const { status, turns } = result["thread"];
	const isActive = isRecord(status) && status["type"] === "active";
	return { turn: isActive && Array.isArray(turns) ? turns.at(-1) : null };
}

function factsOf({ notices, sent }: SdkActor): readonly ItemFact[] {
	const resumed = sent.flatMap((each) => {
		const params = toldAgain(each);
		const { threadId } = each.params;
		return params === null ? [] : [{ at: each.response?.at ?? 0, method: "resumed", params: { ...params, threadId } }];
	});
	const open = new Set<string>();
	const steps: Notice[] = [...notices, ...resumed].sort((one, other) => one.at - other.at);
	return steps.flatMap(({ at, method, params }): ItemFact[] => {
		const thread = sessionOf(params);
		const placed = { session: thread, at, content: null };
		const begin = (): ItemFact[] => {
			open.add(thread);
			return [{ ...placed, fact: { kind: "begin", name: "" } }];
		};
		const end = (what: string): ItemFact[] => {
			open.delete(thread);
			return [
				{ ...placed, fact: { kind: "end", what } },
				{ ...placed, fact: { kind: "answered", mayLackTurn: false } },
			];
		};
		const item = (id: unknown, isOver: boolean): ItemFact => ({
			...{ session: thread, at },
			fact: { kind: "inside", what: method },
			content: { id: String(id), isOver },
		});
		if (method === "turn/started") return begin();
		if (method === "turn/completed") return end(method);
		if (method === "resumed") {
			const left = open.has(thread) ? end(cutOff) : [];
			const { turn } = params;
			if (!isRecord(turn) || !Array.isArray(turn["items"])) return left;
			const items = turn["items"].filter((each) => isRecord(each) && each["status"] === "inProgress");
			return [...left, ...begin(), ...items.map(({ id }) => item(id, false))];
		}
		if (!method.startsWith("item/") && method !== "error") return [];
		if (method !== "item/started" && method !== "item/completed")
			return [{ ...placed, fact: { kind: "inside", what: method } }];
		return [item(isRecord(params["item"]) ? params["item"]["id"] : null, method === "item/completed")];
	});
}

async function judge(running: Running): Promise<readonly string[]> {
	const { client, provider } = running;
	return [
		...client.sent.flatMap((sent) => [
			...checkRequest(sent, running),
			...checkPrompt(client, sent, endOf(sent), ["turn/interrupt", "thread/archive"]),
		]),
		...checkTurns(factsOf(client), !client.isGone),
		...(await findUnapproved(running)),
		...provider.complaints(),
	];
}

/** Threads that the client did not archive. */
function livingThreads({ sessions, sent }: SdkActor): readonly KnownSession[] {
	const archived = new Set(
		sent.filter(({ method }) => method === "thread/archive").map(({ params }) => sessionOf(params)),
	);
	return sessions.filter(({ id }) => !archived.has(id));
}

/** Resumes each thread and prompts in it. */
async function resumeAll(running: Running, threads: readonly KnownSession[]): Promise<void> {
	const { client, faults } = running;
	for (const { id: threadId } of threads) {
		const resumed = client.request("thread/resume", { threadId });
		await settle(codexLiveness, running);
		const sent = prompt(client, threadId);
		await answerOpen(codexLiveness, running);
		if (endOf(sent) !== "completed") {
			faults.push(`a further prompt of ${threadId} is ${endOf(sent)}: ${errorOf(resumed)}, ${errorOf(sent)}`);
		}
	}
}

/** Another server over what is left resumes every thread that has had a turn. */
async function reopen({ client, settings, store, files }: Running): Promise<readonly string[]> {
	const again = await startOver({ ...settings, slots: 1024, turns: 64, outboxLimit: 262_144 }, store, files);
	openModels(again);
	const hasTurn = ({ id }: KnownSession): boolean =>
		client.notices.some(({ method, params }) => method === "turn/completed" && sessionOf(params) === id);
	await resumeAll(again, livingThreads(client).filter(hasTurn));
	again.client.endInput();
	await shutDown(codexLiveness, again);
	const faults = [...again.faults, ...again.client.faults, ...again.provider.complaints()];
	return faults.map((fault) => `opened again: ${fault}`);
}

function openModels({ provider }: Running): void {
	for (const model of ["m", ...models]) provider.gate(model).open();
}

const on = (kind: (typeof onThread)[number]) => fc.record({ do: fc.constant(kind), session });
const prompts = fc.record({ do: fc.constant("prompt" as const), session, times: fc.constantFrom<1 | 2>(1, 1, 1, 2) });
const current = (kind: "interrupt" | "steer") =>
	fc.record({ do: fc.constant(kind), session, isCurrent: fc.constantFrom(true, true, true, false) });

export const codexLiveness: LivenessDialect<AnswerKind, Action, Settings, Running> = {
	actions: [
		{ weight: 5, arbitrary: fc.constant<Action>({ do: "start" }) },
		{ weight: 7, arbitrary: prompts },
		{ weight: 10, arbitrary: fc.record({ do: fc.constant("model" as const), session, answer }) },
		{ weight: 2, arbitrary: current("interrupt") },
		{ weight: 1, arbitrary: current("steer") },
		{ weight: 2, arbitrary: on("resume") },
		...(["fork", "read", "archive", "name/set", "revert"] as const).map((kind) => ({
			weight: 1,
			arbitrary: on(kind),
		})),
		{ weight: 1, arbitrary: fc.constant<Action>({ do: "list" }) },
	],
	scenes: scenes<Action>(
		[{ do: "start" }],
		(calls) => ({ do: "model", session: -1, answer: { words: 1, calls, end: "done" } }),
		{ do: "prompt", session: -1, times: 1 },
		[
			{ do: "interrupt", session: -1, isCurrent: true },
			{ do: "resume", session: -1 },
			{ do: "archive", session: -1 },
		],
	),
	answers: answerKinds,
	yes: "yes",
	finishes: ["answer", "answer", "time", "cancel", "archive", "end", "end", "gone"],
	settings: fc.record({ ...hosted.hostLimits, experimentalApi: fc.boolean() }),
	maxSteps: 24,
	start: (settings) => startOver(settings, createMemoryStore(), createMemoryFiles()),
	perform,
	mayWait(sent, running) {
		if (sent.method !== "prompt") return false;
		const thread = running.client.sessions.find(({ id }) => id === sessionOf(sent.params));
		return thread !== undefined && waits(running, thread, "error");
	},
	openModels,
	cancelAll({ client }, finish) {
		for (const { id: threadId } of livingThreads(client)) {
			if (finish === "archive") client.request("thread/archive", { threadId });
			else client.request("turn/interrupt", { threadId, turnId: lastTurn(client, threadId) });
		}
	},
	survivors: ({ client }) => client.unanswered("prompt"),
	requestOnceMore: (running) => resumeAll(running, livingThreads(running.client)),
	judge,
	reopen,
	count({ client }, tally) {
		for (const { method } of client.notices) tally.add(method);
		for (const { type } of client.interactions) tally.add(type);
		for (const sent of client.sent) {
			tally.add(`${sent.method} ${endOf(sent) ?? (errorOf(sent) === null ? "" : "refused")}`.trim());
		}
	},
};
