// What a client of Meerkat RPC was sent about a session, and whether its files have it.
import { isRecord } from "../../../src/base/json.ts";
import type { SessionLife } from "../frame/crash-round.ts";
import type { Fields } from "../frame/life.ts";
import { checkContextHas, loggedMessages, type Message } from "../frame/session-files.ts";
import { eventOf, parseLine, planIndexOf, readId, turnId } from "./crash-client.ts";

/** What a client was sent about one session over all its lives. */
export interface Reported {
	/** Events, in the order of their coming. */
	readonly events: readonly Fields[];
	/** Runs that were answered with a result. */
	readonly results: number;
	/** Whether the client was answered that it is archived. */
	readonly isArchived: boolean;
}

/** What is on stable storage by the time it is delivered, and what has to be by the time the next of them is. */
const commits = new Set(["run_started", "run_completed", "run_failed"]);

/**
 * Gathers what was delivered. When the power was lost, only what was committed counts, also of what processes before had
 * sent: the last commit, and all before it.
 */
export function gather(lives: readonly Pick<SessionLife, "delivered" | "lostPower">[]): Reported {
	const events: Fields[] = [];
	let results = 0;
	let isArchived = false;
	for (const { delivered, lostPower } of lives) {
		for (const message of delivered.map(parseLine)) {
			const event = eventOf(message);
			if (event !== null) events.push(event);
			const { method, result } = message;
			if (method !== undefined || !isRecord(result)) continue;
			if ("usage" in result) results += 1;
			if (result["archived"] === true) isArchived = true;
		}
		if (!lostPower) continue;
		const last = events.findLastIndex(({ type }) => commits.has(String(type)));
		const step = events.findLastIndex(({ type }) => type === "turn_started");
		events.splice(Math.max(last + 1, step, 0));
	}
	return { events, results, isArchived };
}

/** The plan that a session is of; null when no run of it was reported. */
export function planOf({ events }: Pick<Reported, "events">): number | null {
	return events.map(({ prompt }) => planIndexOf(prompt)).find((index) => index !== null) ?? null;
}

/** What of an event the log has to have; null for what it need not. */
function toPersisted({ type, prompt, content, id, args }: Fields): readonly unknown[] | null {
	switch (type) {
		case "run_started":
			return ["begin", prompt];
		case "turn_started":
			return ["step"];
		case "text_complete":
			return ["text", content];
		case "tool_call_requested":
			return ["call", id, args];
		case "tool_execution_completed":
			return ["result", id];
		case "run_completed":
		case "run_failed":
			return ["end"];
		default:
			return null;
	}
}

/** The same of a message of the log. */
function toLogged({ type, payload }: Message): readonly unknown[] | null {
	const call = isRecord(payload["function"]) ? payload["function"] : {};
	switch (type) {
		case "TurnBegin":
			return ["begin", payload["user_input"]];
		case "StepBegin":
			return ["step"];
		case "ContentPart":
			return payload["type"] === "text" ? ["text", payload["text"]] : null;
		case "ToolCall":
			return ["call", payload["id"], JSON.parse(String(call["arguments"]))];
		case "ToolResult":
			return ["result", payload["tool_call_id"]];
		case "TurnEnd":
			return ["end"];
		default:
			return null;
	}
}

/** The texts of a step in one, as they are delivered at its end. */
function withWholeTexts(persisted: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
	const whole: (readonly unknown[])[] = [];
	/** Where the text of the present step is. */
	let at = -1;
	for (const each of persisted) {
		const [kind, content] = each;
		if (kind === "step") at = -1;
		if (kind === "text" && at !== -1) whole[at] = ["text", `${whole[at]?.[1]}${content}`];
		else whole.push(each);
		if (kind === "text" && at === -1) at = whole.length - 1;
	}
	return whole;
}

/**
 * Whether all that was delivered is in the log. Results and calls of one step are delivered in another order than they are
 * persisted, and the result of a cancelled call is not persisted: so every kind is looked for by itself.
 */
export function checkDeliveredIsPersisted({ events, results }: Reported, logged: readonly Message[]): string[] {
	const persisted = withWholeTexts(logged.flatMap((message) => [toLogged(message)].filter((each) => each !== null)));
	const left = persisted.map((each) => JSON.stringify(each));
	const faults: string[] = [];
	for (const event of events) {
		const wanted = toPersisted(event);
		if (wanted === null || isCutOff(event)) continue;
		const at = left.indexOf(JSON.stringify(wanted));
		if (at === -1) faults.push(`delivered but not persisted: ${JSON.stringify(wanted)}`);
		else left.splice(at, 1);
	}
	const ends = persisted.filter(([kind]) => kind === "end").length;
	if (ends < results) faults.push(`${results} runs were answered, ${ends} ends are persisted`);
	const begun = persisted.filter(([kind]) => kind === "begin").map(([, prompt]) => prompt);
	const delivered = events.flatMap(({ type, prompt }) => (type === "run_started" ? [prompt] : []));
	const inOrder = begun.filter((prompt) => delivered.includes(prompt));
	if (faults.length === 0 && JSON.stringify(inOrder) !== JSON.stringify(delivered))
		faults.push("runs are persisted in another order");
	return faults;
}

/** A result that says that the call was cut off is not the call's own. */
function isCutOff({ type, result }: Fields): boolean {
	return type === "tool_execution_completed" && String(result).includes("was cut off");
}

/** The inputs of runs, and the results of the steps that were over, as far as they were delivered. */
function countDelivered(events: readonly Fields[]): { readonly inputs: number; readonly results: number } {
	let inputs = 0;
	let results = 0;
	let inStep = 0;
	for (const event of events) {
		if (event["type"] === "tool_execution_completed" && !isCutOff(event)) inStep += 1;
		if (event["type"] !== "turn_started") continue;
		if (event["turn_number"] === 0) inputs += 1;
		else results += inStep;
		inStep = 0;
	}
	return { inputs, results };
}

/** What Meerkat RPC promises of a session over all its lives; `mayBeArchived`: its client wanted it to be. */
export function judgeMeerkat(id: string, lives: readonly SessionLife[], mayBeArchived: boolean): string[] {
	const last = lives.at(-1);
	if (last === undefined) return [];
	const { isArchived } = gather(lives.slice(0, -1));
	const reported = gather(lives);
	const isCertain = isArchived || !mayBeArchived;
	return [
		...checkDeliveredIsPersisted(reported, loggedMessages(last.after)),
		...checkContextHas(countDelivered(reported.events), last.after),
		// A session that was reported in the only life has nothing to be found again.
		...(lives.length === 1 ? [] : checkFound(id, last.delivered, isArchived, isCertain)),
	];
}

/** Whether the last process finds the session, or does not find one that was archived. */
function checkFound(id: string, delivered: readonly string[], isArchived: boolean, isCertain: boolean): string[] {
	const messages = delivered.map(parseLine);
	return [readId(id), turnId(id)].flatMap((requestId) => {
		const response = messages.find((message) => message["id"] === requestId);
		const error = isRecord(response?.["error"]) ? response["error"] : null;
		const isThere = isRecord(response?.["result"]);
		const isNotFound = isRecord(error?.["data"]) && error["data"]["code"] === "SESSION_NOT_FOUND";
		const isRight = !isCertain ? isThere || isNotFound : isArchived ? isNotFound : isThere;
		return isRight ? [] : [`${requestId}: ${JSON.stringify(response)}`];
	});
}
