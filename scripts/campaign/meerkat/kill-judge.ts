// Judges sessions of a process that was killed: what was told of each is in its files, and they are as the crash campaign
// wants them.
import { isRecord } from "../../../src/base/json.ts";
import {
	checkAgents,
	checkContext,
	checkContextHasDelivered,
	checkEffects,
	checkFiles,
	countUnclosed,
	countUnknown,
	readJsonLines,
	type SessionFiles,
	unfinishedCalls,
} from "../crash/crash-checks.ts";
import type { Message } from "../crash/crash-deliveries.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a client was told of one session over the lives of its processes. */
export interface ReportedSession {
	readonly id: string;
	/** Events, in the order of their coming. */
	readonly events: Fields[];
	/** Runs that were answered with a result. */
	results: number;
	/** Whether the client was told that it is archived. */
	isArchived: boolean;
}

/** What is on stable storage by the time it is told, and what has to be by the time the next of them is. */
const commits = new Set(["run_started", "run_completed", "run_failed"]);

/**
 * Gathers what is told of each session; `sessions` grows. When the power was lost, only what was committed counts, also of
 * what processes before told: the last commit of each session, and all before it.
 */
export function gather(delivered: readonly Fields[], sessions: Map<string, ReportedSession>, lostPower = false): void {
	gatherAll(delivered, sessions);
	if (!lostPower) return;
	for (const { events } of sessions.values()) {
		const last = events.findLastIndex(({ type }) => commits.has(String(type)));
		const step = events.findLastIndex(({ type }) => type === "turn_started");
		events.splice(Math.max(last + 1, step, 0));
	}
}

function gatherAll(delivered: readonly Fields[], sessions: Map<string, ReportedSession>): void {
	for (const { id, method, params, result } of delivered) {
		if (method === "session/event" && isRecord(params) && isRecord(params["event"])) {
			sessionOf(String(params["session_id"]), sessions).events.push(params["event"]);
			continue;
		}
		if (method !== undefined || !isRecord(result)) continue;
		if (typeof result["session_id"] === "string") {
			const session = sessionOf(result["session_id"], sessions);
			if ("usage" in result) session.results += 1;
		}
		if (result["archived"] === true) archivedBy(String(id), sessions);
	}
}

function sessionOf(id: string, sessions: Map<string, ReportedSession>): ReportedSession {
	const known = sessions.get(id) ?? { id, events: [], results: 0, isArchived: false };
	sessions.set(id, known);
	return known;
}

/** The session of a plan is found by the prompt of its runs. */
function archivedBy(requestId: string, sessions: Map<string, ReportedSession>): void {
	const index = requestId.slice("archive-".length);
	for (const session of sessions.values()) {
		if (session.events.some(({ prompt }) => String(prompt).startsWith(`session ${index},`))) session.isArchived = true;
	}
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

function messagesOf(events: Buffer): Message[] {
	return readJsonLines(events).values.flatMap(({ message }) => {
		if (!isRecord(message) || typeof message["type"] !== "string") return [];
		return [{ type: message["type"], payload: isRecord(message["payload"]) ? message["payload"] : {} }];
	});
}

/** The texts of a step in one, as they are told at its end. */
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
 * Whether all that was told is in the log. Results and calls of one step are told in another order than they are kept,
 * and a cut-off call's result is not kept: so every kind is looked for by itself.
 */
function checkDeliveredIsPersisted({ events, results }: ReportedSession, logged: readonly Message[]): string[] {
	const persisted = withWholeTexts(logged.flatMap((message) => [toLogged(message)].filter((each) => each !== null)));
	const left = persisted.map((each) => JSON.stringify(each));
	const faults: string[] = [];
	for (const event of events) {
		const wanted = toPersisted(event);
		if (wanted === null || isCutOff(event)) continue;
		const at = left.indexOf(JSON.stringify(wanted));
		if (at === -1) faults.push(`told but not kept: ${JSON.stringify(wanted)}`);
		else left.splice(at, 1);
	}
	const ends = persisted.filter(([kind]) => kind === "end").length;
	if (ends < results) faults.push(`${results} runs were answered, ${ends} ends are kept`);
	const begun = persisted.filter(([kind]) => kind === "begin").map(([, prompt]) => prompt);
	const delivered = events.flatMap(({ type, prompt }) => (type === "run_started" ? [prompt] : []));
	const inOrder = begun.filter((prompt) => delivered.includes(prompt));
	if (faults.length === 0 && JSON.stringify(inOrder) !== JSON.stringify(delivered))
		faults.push("runs are kept in another order");
	return faults;
}

/** A result that says that the call was cut off is not the call's own. */
function isCutOff({ type, result }: Fields): boolean {
	return type === "tool_execution_completed" && String(result).includes("was cut off");
}

/** What the checks of the crash campaign look at. */
function toMessages(events: readonly Fields[]): readonly Message[] {
	return events.flatMap((event): Message[] => {
		if (event["type"] === "turn_started")
			return [{ type: "StepBegin", payload: { n: Number(event["turn_number"]) + 1 } }];
		return event["type"] === "tool_execution_completed" && !isCutOff(event)
			? [{ type: "ToolResult", payload: {} }]
			: [];
	});
}

/** Faults of one session; `before` are its files as the last life found them, `after` as it left them. */
export function judgeSession(
	delivered: ReportedSession,
	before: SessionFiles,
	after: SessionFiles,
	commands: readonly string[],
): string[] {
	const faults = [
		...checkDeliveredIsPersisted(delivered, messagesOf(after.events)),
		// A half-written end is cut off with the next append, which not every recovery brings.
		...checkFiles(before, after).filter(
			(fault) => fault !== "calls: the last line is not ended" || !before.calls.equals(after.calls),
		),
		...checkContext(after.context),
		...checkAgents(after),
		...checkEffects(commands, after.calls),
		...checkContextHasDelivered(toMessages(delivered.events), after),
	];
	if (unfinishedCalls(after.calls).length > 0) faults.push("calls are left unfinished");
	const unknown = countUnknown(after.context) - countUnknown(before.context);
	if (!delivered.isArchived && unknown !== countUnclosed(before)) {
		faults.push(`${countUnclosed(before)} calls were to be closed as unknown, ${unknown} were`);
	}
	return faults.map((fault) => `${delivered.id}: ${fault}`);
}
