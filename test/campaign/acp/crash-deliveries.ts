// What an editor was sent about a session over its lives, and whether the last load shows all of it.
import { isRecord } from "../../../src/base/json.ts";
import type { SessionLife } from "../frame/crash-round.ts";
import type { Fields } from "../frame/life.ts";
import { parseLine, readId } from "./crash-client.ts";
import { whatIsWrongWithCall, whatIsWrongWithResponse } from "./official-schema.ts";

type Delivered = Pick<SessionLife, "delivered" | "lostPower">;

function updateOf({ method, params }: Fields): Fields | null {
	if (method !== "session/update" || !isRecord(params)) return null;
	return isRecord(params["update"]) ? params["update"] : null;
}

const isPrompted = ({ id, method, result }: Fields): boolean =>
	method === undefined && isRecord(result) && readId(id).kind === "prompt";

/** By then, all before it is on stable storage: a turn has ended, or a command is about to run. */
function isCommit(message: Fields): boolean {
	const { status, toolCallId } = updateOf(message) ?? {};
	return isPrompted(message) || (status === "in_progress" && String(toolCallId).includes("/call-"));
}

/** Stands where a life begins. */
const begin: Fields = {};

/** Answers the request that a life of the session begins with: what comes before it is of earlier ones. */
const isOpened = ({ id, method }: Fields): boolean => method === undefined && /^(new|load) /.test(String(id));

/** The messages of the lives; after a power loss only what was committed counts, of earlier processes too. */
export function gather(lives: readonly Delivered[]): readonly Fields[] {
	const messages: Fields[] = [];
	/** How many of them are on stable storage. */
	let committed = 0;
	for (const { delivered, lostPower } of lives) {
		const own = delivered.map(parseLine);
		const opened = own.findIndex(isOpened);
		const commit = own.findLastIndex(isCommit);
		messages.push(begin);
		if (opened !== -1 && commit > opened) committed = messages.length + commit + 1;
		messages.push(...own);
		if (lostPower) messages.splice(committed);
	}
	return messages;
}

/** The plan that a session is of; null when its model was not chosen. */
export function planOf(messages: readonly Fields[]): number | null {
	const chosen = messages.find(({ id, method }) => method === undefined && readId(id).kind === "model");
	return chosen === undefined ? null : readId(chosen["id"]).index;
}

/** A conversation as an editor shows it. */
interface Shown {
	/** Texts and reasoning that are whole, by message: something came after them that begins only then. */
	readonly texts: Map<string, string>;
	/** What became of calls. */
	readonly calls: Map<string, string>;
	readonly plans: Set<string>;
	readonly prompts: number;
}

/** `isOver`: nothing is being written at the end. */
function show(messages: readonly Fields[], isOver: boolean): Shown {
	const texts = new Map<string, string>();
	const calls = new Map<string, string>();
	const plans = new Set<string>();
	/** The message that is being written, and its texts so far. */
	let open: unknown = null;
	const parts = new Map<string, string>();
	let prompts = 0;
	const close = (): void => {
		for (const [key, text] of parts) if (!texts.has(key)) texts.set(key, text);
		parts.clear();
		open = null;
	};
	for (const message of messages) {
		// What the life before did not end stays unfinished.
		if (message === begin) parts.clear();
		if (isPrompted(message)) {
			prompts += 1;
			close();
		}
		const update = updateOf(message);
		if (update === null) continue;
		const { sessionUpdate: kind, messageId, content, toolCallId, status, entries } = update;
		switch (kind) {
			case "agent_message_chunk":
			case "agent_thought_chunk": {
				if (open !== messageId) close();
				open = messageId;
				const key = `${kind} ${messageId}`;
				parts.set(key, (parts.get(key) ?? "") + String(isRecord(content) ? content["text"] : ""));
				break;
			}
			case "user_message_chunk":
				close();
				texts.set(`${kind} ${messageId}`, String(isRecord(content) ? content["text"] : ""));
				break;
			case "tool_call":
			case "tool_call_update":
				if (status === "in_progress") close();
				if (status === "completed" || status === "failed") calls.set(String(toolCallId), status);
				break;
			case "plan":
				plans.add(JSON.stringify(entries));
				break;
			default:
				break;
		}
	}
	if (isOver) close();
	return { texts, calls, plans, prompts };
}

/** Whether the load of the last life shows all that was delivered before. */
export function checkLoaded(before: readonly Fields[], last: readonly Fields[], id: string): string[] {
	const at = last.findIndex((message) => message["method"] === undefined && message["id"] === `load ${id}`);
	const response = last[at];
	if (response === undefined) return ["it was not loaded"];
	if (response["error"] !== undefined) return [`it cannot be loaded: ${JSON.stringify(response["error"])}`];
	const delivered = show(before, false);
	const loaded = show(last.slice(0, at), true);
	const faults: string[] = [];
	for (const [key, text] of delivered.texts) {
		if (loaded.texts.get(key) !== text)
			faults.push(`${key} was ${JSON.stringify(text)}, and is ${JSON.stringify(loaded.texts.get(key))}`);
	}
	for (const [call, status] of delivered.calls) {
		if (loaded.calls.get(call) !== status) faults.push(`${call} was ${status}, and is ${loaded.calls.get(call)}`);
	}
	for (const plan of delivered.plans) if (!loaded.plans.has(plan)) faults.push(`the plan is lost: ${plan}`);
	const inputs = [...loaded.texts.keys()].filter((key) => key.startsWith("user_message_chunk")).length;
	if (inputs < delivered.prompts) faults.push(`${delivered.prompts} prompts were answered, ${inputs} are shown`);
	return faults;
}

/** What the protocol promises of a session over all its lives. */
export function judgeAcp(id: string, lives: readonly SessionLife[]): string[] {
	const last = lives.at(-1);
	if (last === undefined) return [];
	const faults = lives.flatMap(({ delivered }) => delivered.map(parseLine).flatMap(checkMessage));
	if (lives.length === 1) return faults;
	const messages = last.delivered.map(parseLine);
	const prompted = messages.find((message) => isPrompted(message));
	// A session without a turn is not stored.
	if (prompted === undefined && !hasTurn(gather(lives))) return faults;
	if (last.completed && prompted === undefined) faults.push("a further prompt is not answered with a result");
	return [...faults, ...checkLoaded(gather(lives.slice(0, -1)), messages, id)];
}

/** Whether the client was sent anything of a turn. */
function hasTurn(messages: readonly Fields[]): boolean {
	const kinds = ["agent_message_chunk", "agent_thought_chunk", "tool_call", "user_message_chunk"];
	return messages.some(
		(message) => isPrompted(message) || kinds.includes(String(updateOf(message)?.["sessionUpdate"])),
	);
}

const resultOf: Readonly<Record<string, string>> = {
	load: "session/load",
	prompt: "session/prompt",
	model: "session/set_config_option",
	new: "session/new",
};

function checkMessage(message: Fields): string[] {
	const { id, method, result } = message;
	const of = result === undefined ? null : (resultOf[readId(id).kind] ?? null);
	const fault = method === undefined ? whatIsWrongWithResponse(of, message) : whatIsWrongWithCall(message);
	return fault === null ? [] : [`${fault}: ${JSON.stringify(message).slice(0, 300)}`];
}
