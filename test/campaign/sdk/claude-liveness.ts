// stream-json in the liveness campaign: a client with hooks and a tool of its own.
import fc from "fast-check";
import { isRecord } from "../../../src/base/json.ts";
import { parseClaudeFlags } from "../../../src/cli/arguments/sdk/claude-options.ts";
import { readClaudeOptions } from "../../../src/cli/claude/claude-settings.ts";
import { serveClaude } from "../../../src/frontends/claude/serve.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import type { SessionStore } from "../../../src/ports/store/session-store.ts";
import { hostedPlace } from "../../support/sessions/hosted-server.ts";
import { createMemoryFiles, type MemoryFiles } from "../../support/store/memory-files.ts";
import type { Sent } from "../frame/actor.ts";
import * as hosted from "../frame/hosted-liveness.ts";
import type { Fields } from "../frame/life.ts";
import { answerOpen, type LivenessDialect, passTime, settle, shutDown } from "../frame/liveness.ts";
import { toClaudeWire } from "./claude-wire.ts";
import { answer, type CallKind, type SdkRunning, scenes, toTool, waits } from "./liveness-actions.ts";
import { type AnswerKind, answerKinds, SdkActor, type ToResult } from "./liveness-client.ts";
import { checkPrompt, checkTurns, findUnapproved, type ItemFact, type PromptEnd } from "./liveness-rules.ts";

type Action =
	| { readonly do: "prompt"; readonly times: 1 | 2 }
	| { readonly do: "control"; readonly request: Fields & { readonly subtype: string } }
	| { readonly do: "model"; readonly answer: hosted.ModelAnswer<CallKind> };

interface Settings extends hosted.HostLimits {
	readonly hooks: boolean;
	readonly tools: boolean;
}

type Running = SdkRunning<Settings>;
const formats = ["--input-format", "stream-json", "--output-format", "stream-json"];

const toResult: ToResult = ({ type, params }, how) => {
	if (how === "wrong") return { behavior: "maybe", decision: 5, mcp_response: 5 };
	if (type === "hook_callback") return how === "no" || how === "stop" ? { decision: "block", reason: "no" } : {};
	if (type === "mcp_message") return { mcp_response: toMcp(params["message"], how === "no" || how === "stop") };
	if (how === "no" || how === "stop") return { behavior: "deny", message: "no", interrupt: how === "stop" };
	const updates = how === "always" ? { updatedPermissions: params["permission_suggestions"] ?? [] } : {};
	return { behavior: "allow", updatedInput: params["input"], ...updates };
};

function toMcp(message: unknown, fails: boolean): Fields {
	const { id = null, method } = isRecord(message) ? message : {};
	if (fails) return { jsonrpc: "2.0", id, error: { code: -1, message: "no" } };
	const inputSchema = { type: "object" };
	const results: Fields = {
		initialize: { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "s", version: "1" } },
		"tools/list": { tools: [{ name: "paint", inputSchema }] },
		"tools/call": { content: [{ type: "text", text: "painted" }] },
	};
	return { jsonrpc: "2.0", id, result: results[String(method)] ?? {} };
}

async function startOver(settings: Settings, store: SessionStore, files: MemoryFiles, more: readonly string[]) {
	const flags = parseClaudeFlags([...formats, "--permission-prompt-tool", "stdio", ...more]);
	const place = { currentDir: hostedPlace.workDir, home: "/home/me" };
	const options = await readClaudeOptions(flags, place, files);
	const front: NonNullable<Parameters<typeof hosted.startHost>[2]["front"]> = (transport, host, signal) => {
		const { ended, finish } = serveClaude(transport, host, options, signal);
		return { ended: ended.then(() => "input-ended" as const), finish };
	};
	const create = (client: Parameters<typeof toClaudeWire>[0]) => new SdkActor(toClaudeWire(client), toResult);
	const running: Running = { ...(await hosted.startHost(settings, { store, files }, { front }, 60, create)), settings };
	running.client.request("initialize", {
		hooks: settings.hooks ? { PreToolUse: [{ matcher: "Write|Read", hookCallbackIds: ["h"] }] } : {},
		sdkMcpServers: settings.tools ? ["s"] : [],
	});
	await settle(claudeLiveness, running);
	return running;
}

function prompt(client: SdkActor): Sent {
	return client.request("prompt", { content: `do ${client.sent.length + 1}` });
}

function endOf({ response, method }: Sent): PromptEnd | null {
	const result = response?.message["result"];
	if (method !== "prompt" || !isRecord(result)) return null;
	if (result["subtype"] === "success") return "completed";
	return JSON.stringify(result["errors"]).includes("The turn was interrupted.") ? "interrupted" : "failed";
}

/** What a control request may be refused for, in words. */
const refusals =
	/^initialize comes before|^No prompt of this session|^set_permission_mode|is not a task|^There is no|^No model/;

function checkControl({ response, method }: Sent): readonly string[] {
	const error = response?.message["error"];
	if (method === "prompt" || !isRecord(error) || refusals.test(String(error["message"]))) return [];
	return [`${method} fails: ${error["message"]}`];
}

const turnNotices = ["assistant", "user", "api_retry"];

function factsOf({ notices, sent }: SdkActor): readonly ItemFact[] {
	const session = "";
	const ends = sent.flatMap((each) => (each.method === "prompt" && each.response !== null ? [each.response] : []));
	const steps = [
		...notices.map((notice) => ({ at: notice.at, notice })),
		...ends.map(({ at }) => ({ at, notice: null })),
	];
	let isOpen = false;
	return steps
		.sort((one, other) => one.at - other.at)
		.flatMap(({ at, notice }): ItemFact[] => {
			if (notice === null) {
				const answered = { session, at, fact: { kind: "answered", mayLackTurn: !isOpen }, content: null } as const;
				if (!isOpen) return [answered];
				isOpen = false;
				return [{ session, at, fact: { kind: "end", what: "a result" }, content: null }, answered];
			}
			const { method, params } = notice;
			if (method === "init") {
				isOpen = true;
				return [{ session, at, fact: { kind: "begin", name: "" }, content: null }];
			}
			if (!turnNotices.includes(method)) return [];
			const content = isRecord(params["message"]) ? params["message"]["content"] : null;
			const [block] = Array.isArray(content) ? content : [];
			const { type, id, tool_use_id: of } = isRecord(block) ? block : {};
			const item =
				type === "tool_use"
					? { id: String(id), isOver: false }
					: type === "tool_result"
						? { id: String(of), isOver: true }
						: null;
			return [{ session, at, fact: { kind: "inside", what: method }, content: item }];
		});
}

async function judge(running: Running): Promise<readonly string[]> {
	const { client, provider } = running;
	const modes = client.sent.filter(({ method }) => method === "set_permission_mode");
	return [
		...client.sent.flatMap((sent) => [...checkControl(sent), ...checkPrompt(client, sent, endOf(sent), ["interrupt"])]),
		...checkTurns(factsOf(client), !client.isGone),
		...(modes.length > 0 ? [] : await findUnapproved(running)),
		...provider.complaints(),
	];
}

/** Another server over what is left continues the session, if it has had a turn. */
async function reopen({ client, settings, store, files }: Running): Promise<readonly string[]> {
	const [known] = client.sessions;
	if (known === undefined || !client.notices.some(({ method }) => method === "assistant")) return [];
	const roomy = { ...settings, hooks: false, tools: false, outboxLimit: 262_144 };
	const again = await startOver(roomy, store, files, ["--resume", known.id]);
	again.provider.gate("m").open();
	const sent = prompt(again.client);
	await settle(claudeLiveness, again);
	again.client.endInput();
	await shutDown(claudeLiveness, again);
	const end = endOf(sent);
	const faults = [...again.client.faults, ...again.provider.complaints()];
	if (end !== "completed") faults.push(`a prompt of ${known.id} is ${end}`);
	return faults.map((fault) => `opened again: ${fault}`);
}

const control = (subtype: string, members: Fields = {}): fc.Arbitrary<Action> =>
	fc.constant({ do: "control", request: { subtype, ...members } });
const modes = ["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk", "nothing"] as const;
const prompts = fc.record({ do: fc.constant("prompt" as const), times: fc.constantFrom<1 | 2>(1, 1, 1, 2) });
const model = (given: hosted.ModelAnswer<CallKind>): Action => ({ do: "model", answer: given });
const interrupt: Action = { do: "control", request: { subtype: "interrupt" } };

export const claudeLiveness: LivenessDialect<AnswerKind, Action, Settings, Running> = {
	actions: [
		{ weight: 7, arbitrary: prompts },
		{ weight: 10, arbitrary: answer.map(model) },
		{ weight: 3, arbitrary: fc.constant(interrupt) },
		{ weight: 1, arbitrary: fc.constantFrom(...modes).chain((mode) => control("set_permission_mode", { mode })) },
		{ weight: 1, arbitrary: control("set_model", { model: "m" }) },
		{ weight: 1, arbitrary: control("mcp_status") },
		{ weight: 1, arbitrary: control("rename_session", { title: "t" }) },
		{ weight: 1, arbitrary: control("rewind_files", { user_message_id: "u" }) },
		{ weight: 1, arbitrary: control("initialize") },
		{ weight: 1, arbitrary: control("set_max_thinking_tokens", { max_thinking_tokens: 1000 }) },
	],
	scenes: scenes<Action>([], (calls) => model({ words: 1, calls, end: "done" }), { do: "prompt", times: 1 }, [
		interrupt,
	]),
	answers: answerKinds,
	yes: "yes",
	finishes: ["answer", "answer", "time", "cancel", "end", "end", "gone"],
	settings: fc.record({ ...hosted.hostLimits, hooks: fc.boolean(), tools: fc.boolean() }),
	maxSteps: 24,
	start: (settings) => startOver(settings, createMemoryStore(), createMemoryFiles(), []),
	perform(action, running) {
		const { client, provider } = running;
		if (action.do === "model") provider.gate("m").push(hosted.toMoves(action.answer, running, toTool("mcp__s__paint")));
		else if (action.do === "control") client.request(action.request.subtype, action.request);
		else for (let time = 0; time < action.times; time += 1) prompt(client);
	},
	/** The session is opened by what needs it first, and asks the client for its tools. */
	mayWait: ({ method }, running) =>
		method === "prompt"
			? waits(running, { id: "", model: "m" }, "api_retry")
			: running.client.openInteractions().length > 0,
	openModels: ({ provider }) => provider.gate("m").open(),
	async prepareEnd(running, finish) {
		if (finish !== "end") return;
		// The turns that run go on to their end.
		running.provider.gate("m").open();
		for (let retry = 0; retry < 5; retry += 1) {
			await settle(claudeLiveness, running);
			passTime(running, 120);
		}
		await settle(claudeLiveness, running);
	},
	cancelAll: ({ client }) => void client.request("interrupt", {}),
	survivors: ({ client }) => client.unanswered("prompt"),
	async requestOnceMore(running) {
		const sent = prompt(running.client);
		await answerOpen(claudeLiveness, running);
		if (endOf(sent) !== "completed") running.faults.push(`a further prompt is ${endOf(sent)}`);
	},
	judge,
	reopen,
	count({ client }, tally) {
		for (const { method } of client.notices) tally.add(method);
		for (const { type } of client.interactions) tally.add(type);
		for (const sent of client.sent) tally.add(`${sent.method} ${endOf(sent) ?? ""}`.trim());
	},
};
