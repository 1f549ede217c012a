// The Agent Client Protocol in the liveness campaign: an editor with many sessions over one connection, to a server whose models,
// network, store and clock are the campaign's.
import { acpDialect } from "../../../src/frontends/acp/dialect.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import type { SessionStore } from "../../../src/ports/store/session-store.ts";
import { nextTurn } from "../../support/sessions/campaign-server.ts";
import { hostedPlace } from "../../support/sessions/hosted-server.ts";
import { createMemoryFiles, type MemoryFiles } from "../../support/store/memory-files.ts";
import type { Sent } from "../frame/actor.ts";
import type { Tally } from "../frame/campaign.ts";
import { type CalledTool, type HostRunning, startHost, toMoves } from "../frame/hosted-liveness.ts";
import { type LivenessDialect, settle, shutDown } from "../frame/liveness.ts";
import {
	type AcpAction,
	type AcpSettings,
	type AnswerKind,
	acpActions,
	acpScenes,
	acpSettings,
	answerKinds,
	type CallKind,
	type PromptKind,
} from "./liveness-actions.ts";
import { AcpActor, modelCount, sessionOfRequest, sessionOfSent } from "./liveness-client.ts";
import { cutsOf, findFaults, outcomeOf, stopReasonOf } from "./liveness-rules.ts";

const { workDir: cwd } = hostedPlace;
const question = { question: "Which way?", options: [{ label: "Left" }, { label: "Right" }] };
const writtenPath = (callId: string): string => `${cwd}/${callId}.txt`;

interface AcpRunning extends HostRunning<AnswerKind> {
	readonly client: AcpActor;
	readonly settings: AcpSettings;
}

async function startOver(settings: AcpSettings, store: SessionStore, files: MemoryFiles): Promise<AcpRunning> {
	const models = Array.from({ length: modelCount }, (_, index) => `m${index + 1}`);
	const server = { dialect: acpDialect, models };
	const started = await startHost(settings, { store, files }, server, 60, (client) => new AcpActor(client));
	const running: AcpRunning = { ...started, settings };
	const clientCapabilities = {
		fs: { readTextFile: settings.files, writeTextFile: settings.files },
		session: { notices: {}, compaction: {} },
		...(settings.forms ? { elicitation: { form: {} } } : {}),
	};
	running.client.request("initialize", { protocolVersion: 1, clientCapabilities });
	await settle(acpLiveness, running);
	return running;
}

function perform(action: AcpAction, running: AcpRunning): void {
	const { client, provider } = running;
	switch (action.do) {
		case "new":
			client.request("session/new", { cwd, mcpServers: [] });
			return;
		case "list":
			client.request("session/list", {});
			return;
		case "cancel-unknown":
			client.cancel("01936f8a-7b2c-7000-8000-000000000001");
			return;
		case "withdraw": {
			const open = client.unanswered();
			const sent = open[action.which % Math.max(1, open.length)];
			if (sent !== undefined) client.withdraw(sent.id);
			return;
		}
		case "model": {
			const session = sessionAt(client, action.session);
			if (session === null) return;
			client.note(`${session.model}: ${JSON.stringify(action.answer)}`);
			provider.gate(session.model).push(toMoves(action.answer, running, toTool));
			return;
		}
		default: {
			const session = sessionAt(client, action.session);
			if (session !== null) performOn(session.sessionId, action, client);
		}
	}
}

type OnSession = Exclude<
	AcpAction,
	{ do: "new" } | { do: "list" } | { do: "cancel-unknown" } | { do: "withdraw" } | { do: "model" }
>;

function performOn(sessionId: string, action: OnSession, client: AcpActor): void {
	switch (action.do) {
		case "prompt":
			for (let time = 0; time < action.times; time += 1) prompt(client, sessionId, action.kind);
			return;
		case "cancel":
			client.cancel(sessionId);
			return;
		case "load":
		case "resume":
			client.request(`session/${action.do}`, { sessionId, cwd, mcpServers: [] });
			return;
		case "close":
		case "delete":
			client.request(`session/${action.do}`, { sessionId });
			return;
		case "steer":
			client.request("_session/steering", { sessionId, prompt: [{ type: "text", text: "and this" }] });
			return;
		case "mode":
			client.request("session/set_mode", { sessionId, modeId: action.mode }, "mode");
			return;
		case "option":
			client.request(
				"session/set_config_option",
				{ sessionId, configId: action.option, value: action.value },
				"option",
			);
			return;
	}
}

const promptTexts: Readonly<Record<PromptKind, string>> = {
	plain: "do it",
	question: "/btw why",
	compact: "/compact",
	"unknown-command": "/nothing",
};

function prompt(client: AcpActor, sessionId: string, kind: PromptKind): Sent {
	const text = `${promptTexts[kind]}${kind === "plain" ? ` ${client.sent.length + 1}` : ""}`;
	return client.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
}

/** The n-th session that the editor knows; null when there is none. */
function sessionAt({ sessions }: AcpActor, n: number) {
	return sessions.at(n % Math.max(1, sessions.length)) ?? null;
}

function toTool(kind: CallKind, id: string): CalledTool {
	switch (kind) {
		case "write":
			return ["WriteFile", { path: writtenPath(id), content: "written" }];
		case "read":
			return ["ReadFile", { path: `${cwd}/read.txt` }];
		case "ask":
			return ["AskUserQuestion", { questions: [question] }];
		case "todo":
			return ["SetTodoList", { todos: [{ title: "Do it", status: "in_progress" }] }];
		case "unknown":
			return ["Nothing", {}];
		case "broken":
			return ["WriteFile", '{"path":'];
	}
}

/** Whether a prompt waits for its model, for the editor, or for time; one that was cancelled waits for nothing. */
function mayWait(sent: Sent, running: AcpRunning): boolean {
	const { client, provider } = running;
	if (sent.method !== "session/prompt" || cutsOf(sent, client).length > 0) return false;
	const sessionId = sessionOfSent(sent);
	const model = client.sessions.find((session) => session.sessionId === sessionId)?.model ?? "m";
	if (provider.gate(model).isWaiting()) return true;
	// It waits with the one before it in line.
	const first = client
		.unanswered("session/prompt")
		.find((other) => sessionOfSent(other) === sessionId && cutsOf(other, client).length === 0);
	const since = Math.max(client.timePassedAt, first?.at ?? sent.at);
	// A summary is retried without a notice.
	const isCompacting = JSON.stringify(first?.params ?? "").includes(promptTexts.compact);
	const isRetrying = client.updates.some(
		({ at, kind, sessionId: of }) =>
			of === sessionId && at >= since && (kind === "notice" || (isCompacting && kind === "compaction_update")),
	);
	if (isRetrying) return true;
	return client.openInteractions().some((interaction) => sessionOfRequest(interaction) === sessionId);
}

/** Sessions that the editor knows and did not delete. */
function livingSessions(client: AcpActor): readonly string[] {
	const deleted = new Set(client.sent.filter(({ method }) => method === "session/delete").map(sessionOfSent));
	return client.sessions.map(({ sessionId }) => sessionId).filter((id) => !deleted.has(id));
}

/** Sessions with a turn that came to its end: they are stored. */
function storedSessions(client: AcpActor): ReadonlySet<string> {
	return new Set(client.updates.flatMap(({ sessionId, kind }) => (kind === "agent_message_chunk" ? [sessionId] : [])));
}

/** Milliseconds to wait for commands that may never be sent, because the session is gone. */
const releasePatience = 250;

/** A session that was opened is held until its commands were sent, which no request waits for. */
async function awaitReleases(client: AcpActor): Promise<void> {
	const isHeld = ({ at, sessionId }: { readonly at: number; readonly sessionId: string }): boolean =>
		!client.updates.some((update) => {
			return update.kind === "available_commands_update" && update.sessionId === sessionId && update.at > at;
		});
	const opened = client.sent.flatMap((sent) => {
		const isOpening = sent.method === "session/load" || sent.method === "session/resume";
		return isOpening && outcomeOf(sent) === "result" ? [{ at: sent.at, sessionId: sessionOfSent(sent) }] : [];
	});
	// Turns of the event loop are short, and on a busy machine many go by before the commands are known.
	const since = performance.now();
	for (let turn = 0; opened.some(isHeld); turn += 1) {
		if (turn >= 500 && performance.now() - since > releasePatience) return;
		await nextTurn();
	}
}

/** While others hang, a new session comes to the end of its first turn, unless there is no room for it. */
async function promptConcurrently(running: AcpRunning): Promise<void> {
	const { client, provider, faults, settings } = running;
	await settle(acpLiveness, running);
	client.atRest = true;
	client.note("a session while the others hang");
	await awaitReleases(client);
	const waiting = new Set(client.unanswered().map(sessionOfSent)).size;
	const isFull = waiting >= Math.min(settings.slots, settings.turns);
	const created = client.request("session/new", { cwd, mcpServers: [] });
	await settle(acpLiveness, running);
	const session = client.sessions.at(-1);
	if (outcomeOf(created) !== "result" || session === undefined) {
		if (!isFull) faults.push(`a session while the others hang ends with ${outcomeOf(created)}`);
		return;
	}
	provider.gate(session.model).open();
	const sent = prompt(client, session.sessionId, "plain");
	await settle(acpLiveness, running);
	if (stopReasonOf(sent) === "end_turn" || (outcomeOf(sent) === "overloaded" && isFull)) return;
	faults.push(`a prompt while the others hang ends with ${outcomeOf(sent)} ${stopReasonOf(sent)}`);
}

/** Every session that is not deleted takes a further prompt; one that was closed is loaded before. */
async function requestOnceMore(running: AcpRunning): Promise<void> {
	const { client, faults } = running;
	const stored = storedSessions(client);
	const closed = new Set(client.sent.filter(({ method }) => method === "session/close").map(sessionOfSent));
	for (const sessionId of livingSessions(client)) {
		if (closed.has(sessionId) && !stored.has(sessionId)) continue;
		if (closed.has(sessionId)) client.request("session/load", { sessionId, cwd, mcpServers: [] });
		const sent = prompt(client, sessionId, "plain");
		await settle(acpLiveness, running);
		if (stopReasonOf(sent) !== "end_turn")
			faults.push(`a further prompt of ${sessionId} ends with ${outcomeOf(sent)} ${stopReasonOf(sent)}`);
	}
}

async function judge(running: AcpRunning): Promise<readonly string[]> {
	const { client, settings, provider } = running;
	const isScarce = settings.slots < 1000 || settings.turns < 60;
	return [...findFaults(client, isScarce), ...provider.complaints(), ...(await findUnapproved(running))];
}

/** Files that were written without a permission, where nobody chose a mode that asks for none. */
async function findUnapproved({ client, files }: AcpRunning): Promise<readonly string[]> {
	const found: string[] = [];
	const chosen = client.sent.filter(({ method }) => method === "mode" || method === "option");
	// What an editor that is gone answered last cannot be known.
	for (const { kind, update, sessionId, at } of client.isGone ? [] : client.updates) {
		if (kind !== "tool_call" || update["name"] !== "WriteFile") continue;
		const toolCallId = String(update["toolCallId"]);
		const callId = toolCallId.split("/").at(-1) ?? "";
		const isWritten =
			(await files.read(writtenPath(callId))) !== null ||
			client.interactions.some(
				({ type, params }) => type === "fs/write_text_file" && params["path"] === writtenPath(callId),
			);
		const asksNobody = chosen.some(
			(sent) => sessionOfSent(sent) === sessionId && ["auto", "yolo"].includes(String(sent.params["modeId"])),
		);
		if (!isWritten || asksNobody) continue;
		const isAllowed = client.interactions.some((interaction) => {
			const { type, params, answer } = interaction;
			if (type !== "session/request_permission" || sessionOfRequest(interaction) !== sessionId) return false;
			const isThis = JSON.stringify(params["toolCall"]).includes(`/${callId}"`);
			return answer?.how === "always" || (isThis && answer?.how === "yes");
		});
		if (!isAllowed) found.push(`${callId} at ${at} wrote without a permission`);
	}
	return found;
}

/** Another server over what is left loads every session that is stored, and none that was deleted. */
async function reopen({ client, settings, store, files }: AcpRunning): Promise<readonly string[]> {
	const roomy = { ...settings, slots: 1024, turns: 64, outboxLimit: 262_144, files: false };
	const again = await startOver(roomy, store, files);
	openModels(again);
	const stored = storedSessions(client);
	const deletes = client.sent.filter(({ method }) => method === "session/delete");
	const faults: string[] = [];
	for (const { sessionId, model } of client.sessions) {
		const own = deletes.filter((sent) => sessionOfSent(sent) === sessionId);
		const isDeleted = own.some((sent) => outcomeOf(sent) === "result");
		// Whether it is stored or deleted cannot be known.
		if (!isDeleted && (own.length > 0 || !stored.has(sessionId) || client.isGone)) continue;
		again.client.sessions.push({ sessionId, model });
		const load = again.client.request("session/load", { sessionId, cwd, mcpServers: [] });
		const sent = prompt(again.client, sessionId, "plain");
		await settle(acpLiveness, again);
		const wanted = isDeleted ? "-32002" : "result";
		for (const each of [load, sent]) {
			if (outcomeOf(each) !== wanted) faults.push(`${each.method} of ${sessionId} ends with ${outcomeOf(each)}`);
		}
	}
	again.client.endInput();
	await shutDown(acpLiveness, again);
	faults.push(...again.faults, ...again.client.faults, ...again.provider.complaints());
	return faults.map((fault) => `opened again: ${fault}`);
}

function openModels({ provider }: AcpRunning): void {
	provider.gate("m").open();
	for (let number = 1; number <= modelCount; number += 1) provider.gate(`m${number}`).open();
}

function count({ client }: AcpRunning, tally: Tally): void {
	for (const { kind } of client.updates) tally.add(kind);
	for (const { type } of client.interactions) tally.add(type);
	for (const sent of client.sent) tally.add(`${sent.method} ${stopReasonOf(sent) ?? outcomeOf(sent) ?? "unanswered"}`);
}

export const acpLiveness: LivenessDialect<AnswerKind, AcpAction, AcpSettings, AcpRunning> = {
	actions: acpActions,
	scenes: acpScenes,
	answers: answerKinds,
	yes: "yes",
	finishes: ["answer", "answer", "time", "cancel", "cancel", "archive", "end", "end", "gone"],
	settings: acpSettings,
	maxSteps: 24,
	start: (settings) => startOver(settings, createMemoryStore(), createMemoryFiles()),
	perform,
	mayWait,
	openModels,
	prepareEnd: promptConcurrently,
	cancelAll({ client }, finish) {
		for (const id of livingSessions(client)) {
			if (finish === "cancel") client.cancel(id);
			else client.request("session/close", { sessionId: id });
		}
	},
	survivors: ({ client }) => client.unanswered("session/prompt"),
	requestOnceMore,
	judge,
	reopen,
	count,
};
