// What the journal of a session promises after a stop (docs/explanation/guarantees.md): its events have numbers without gaps, its
// summaries and the files that other programs read say what its records do, and nothing of an interrupted step is lost.

import { toParts } from "../../../src/api/values/content.ts";
import { isRecord } from "../../../src/base/json.ts";
import { wholeText } from "../../../src/base/text/long-text.ts";
import { toToolMessage } from "../../../src/core/agent/tool-results.ts";
import { toLine } from "../../../src/ports/store/context-row.ts";
import { fromRecordLine } from "../../../src/ports/store/disk/journal/journal-record.ts";
import { readLogLine, toEvent, toEventLine } from "../../../src/ports/store/disk/logs/event-log.ts";
import { RunningSummary } from "../../../src/ports/store/journal-summary.ts";
import type { SessionState } from "../../../src/ports/store/session-store.ts";
import { contextRowsOf, eventsOf, everyRowOf, type Journal, parseObject, readJournal } from "./journal-file.ts";

/** Every command that ran was recorded as started, was approved, and ran once. */
export function checkEffects(commands: readonly string[], bytes: Buffer): string[] {
	const bodies = eventsOf(readJournal(bytes)).map(({ body }) => body);
	const approvals = bodies.filter(
		(body) =>
			(body.type === "permission.decided" && body.decision === "approve") ||
			(body.type === "interaction.resolved" && body.answer.kind === "approval" && body.answer.decision !== "reject"),
	).length;
	const faults: string[] = [];
	if (commands.length > approvals) faults.push(`${commands.length} commands ran on ${approvals} approvals`);
	for (const command of new Set(commands)) {
		const times = commands.filter((other) => other === command).length;
		if (times > 1) faults.push(`ran ${times} times: ${command}`);
		const started = bodies.some(
			(body) => body.type === "tool.started" && body.arguments?.includes(JSON.stringify(command)) === true,
		);
		if (!started) faults.push(`ran without being recorded: ${command}`);
	}
	return faults;
}

/**
 * Every input that the model gets as it is came into the context, whenever its turn was stopped, as often as it was given.
 * A context that another program went on with is taken as it is: its model never had what no step had begun with.
 */
export function checkInputs(bytes: Buffer): string[] {
	const journal = readJournal(bytes);
	const left = everyRowOf(journal).flatMap((row) =>
		row.type === "message" && row.message.role === "user" ? [JSON.stringify(row.message.content)] : [],
	);
	/** The inputs of turns without a step so far: one that ended so, was refused or withdrawn. */
	const open = new Map<string, string>();
	const due: string[] = [];
	for (const { agentPath, turnId, isFromLog, body } of eventsOf(journal)) {
		if (agentPath.length > 0) continue;
		if (body.type === "turn.started" && body.enters_context === true && turnId !== null)
			open.set(turnId, JSON.stringify(toParts(body.input)));
		if (body.type === "turn.ended" && turnId !== null) open.delete(turnId);
		if (body.type === "step.started") {
			if (isFromLog !== true) due.push(...open.values());
			open.clear();
		}
	}
	return due.flatMap((input) => {
		const index = left.indexOf(input);
		left.splice(0, index + 1);
		return index === -1 ? [`an input did not come into the context: ${input}`] : [];
	});
}

/** The numbers of the events are without gaps, and each summary says what the records before it do. */
export function checkJournal(bytes: Buffer): string[] {
	const { records, history, faults: unreadable } = readJournal(bytes);
	const faults = [...unreadable];
	const running = new RunningSummary();
	let seq = history.events;
	for (const record of records) {
		switch (record.kind) {
			case "event":
				if (record.event.seq !== seq + 1) faults.push(`journal: ${record.event.seq} follows the number ${seq}`);
				seq = record.event.seq ?? seq;
				running.addEvent(record.event);
				break;
			case "context":
				running.addContext(record.change);
				break;
			case "summary": {
				const { used, unfinishedCalls, unretained, isInStep, openTurn, startedInputs, waitingSteers, keyedTurns } =
					record.summary;
				const current = {
					used,
					unfinishedCalls,
					unretained,
					isInStep,
					openTurn,
					startedInputs,
					waitingSteers,
					keyedTurns,
				};
				const said = JSON.stringify(current);
				if (record.summary.seq !== seq) faults.push(`journal: a summary of ${record.summary.seq} events after ${seq}`);
				if (said !== JSON.stringify(running.current)) {
					faults.push(`journal: a summary says ${said}, the records before it ${JSON.stringify(running.current)}`);
				}
				break;
			}
			case "state":
			case "unreadable":
		}
	}
	return faults;
}

/** The files that other programs read. */
export interface Projected {
	readonly events: Buffer;
	readonly context: Buffer;
	readonly state: Buffer;
}

/** Whether the other files are what the journal says they are. */
export function checkProjections(bytes: Buffer, files: Projected): string[] {
	const journal = readJournal(bytes);
	if (journal.records.length === 0) return [];
	return [
		...checkEvents(journal, files.events),
		...checkRows(journal, files.context),
		...checkState(journal, files.state),
	];
}

function checkEvents(journal: Journal, events: Buffer): string[] {
	const { wire } = journal.history;
	const own = events.subarray(wire).toString("utf8").split("\n");
	// The first line of a log that began with the journal.
	if (wire === 0 && own[0]?.includes('"metadata"') === true) own.shift();
	const expected = eventsOf(journal).flatMap((event) => {
		const line = toEventLine(event);
		return line === null ? [] : [wholeText(line)];
	});
	return differences("wire.jsonl", own.slice(0, -1).map(inOurWords), expected);
}

/** A line as this program writes it: another one writes the same with other blanks and digits. */
function inOurWords(line: string): string {
	const read = readLogLine(parseObject(line));
	const written = read.kind === "record" ? toEventLine(toEvent(read.record, "")) : null;
	return written === null || !line.startsWith('{"timestamp": ') ? line : wholeText(written);
}

function checkRows(journal: Journal, context: Buffer): string[] {
	const found = context.toString("utf8").split("\n").slice(0, -1);
	return differences(
		"context.jsonl",
		found.map(inOurForm),
		contextRowsOf(journal).map((row) => wholeText(toLine(row))),
	);
}

function inOurForm(line: string): string {
	const row = line.startsWith('{"role": "_') ? null : parseObject(line);
	const [record] =
		row === null ? [] : [fromRecordLine({ context: "append", rows: [row] }, { sessionId: "", epoch: "" })];
	const [first] = record?.kind === "context" ? record.change.rows : [];
	return first === undefined ? line : wholeText(toLine(first));
}

function differences(name: string, found: readonly string[], expected: readonly string[]): string[] {
	const at = expected.findIndex((line, index) => line !== found[index]);
	if (at === -1 && found.length <= expected.length) return [];
	const place = at === -1 ? expected.length : at;
	return [
		`${name}: line ${place + 1} of ${found.length} is ${found[place]}, the journal has ${expected.length} and there ${expected[place]}`,
	];
}

/** Where `state.json` has each field that the program may have stored. */
const stateKeys: Readonly<Partial<Record<keyof SessionState, string>>> = {
	customTitle: "custom_title",
	planMode: "plan_mode",
	planSessionId: "plan_session_id",
	planSlug: "plan_slug",
	todos: "todos",
};

function checkState({ records }: Journal, bytes: Buffer): string[] {
	let state: Partial<SessionState> = {};
	for (const record of records) if (record.kind === "state") state = { ...state, ...record.state };
	if (Object.keys(state).length === 0) return [];
	const stored = parseObject(bytes.toString("utf8"));
	if (stored === null) return ["state.json: missing or damaged, and the journal has a state"];
	const approval = isRecord(stored["approval"]) ? stored["approval"] : {};
	const pairs: (readonly [string, unknown, unknown])[] = [
		...Object.entries(stateKeys).map(([field, key]) => [key, stored[key], state[field as keyof SessionState]] as const),
		["auto_approve_actions", approval["auto_approve_actions"], state.approval?.autoApproveActions],
		["archived", stored["archived"], state.archivedAt === undefined ? undefined : state.archivedAt !== null],
	];
	return pairs
		.filter(([, found, wanted]) => wanted !== undefined && JSON.stringify(found) !== JSON.stringify(wanted))
		.map(
			([key, found, wanted]) =>
				`state.json: ${key} is ${JSON.stringify(found)}, the journal has ${JSON.stringify(wanted)}`,
		);
}

/** What the session's own agent had said and done in a step that a crash interrupted, before its context had it. */
interface InterruptedStep {
	readonly text: string;
	readonly calls: readonly string[];
	/** What the model is to see of the calls that were over. */
	readonly results: ReadonlyMap<string, string>;
}

function interruptedStep({ records }: Pick<Journal, "records">): InterruptedStep | null {
	let step: { text: string; calls: string[]; results: Map<string, string> } | null = null;
	for (const record of records) {
		if (record.kind === "context") {
			const { kind, rows } = record.change;
			if (kind === "replace" || rows.some((row) => row.type === "message" && row.message.role === "assistant"))
				step = null;
		}
		if (record.kind !== "event" || record.event.agentPath.length > 0) continue;
		const { body } = record.event;
		switch (body.type) {
			case "step.started":
			case "step.retrying":
				step = { text: "", calls: [], results: new Map() };
				break;
			case "step.interrupted":
			case "turn.ended":
				step = null;
				break;
			case "recovery.reported":
				if (step !== null) step.text = "";
				break;
			case "content.completed":
				if (step !== null && body.part.type === "text") step.text += body.part.text;
				break;
			case "tool.requested":
				step?.calls.push(body.call.id);
				break;
			case "tool.result":
				step?.results.set(body.toolCallId, JSON.stringify(toToolMessage(body.toolCallId, body.result).content));
				break;
			default:
		}
	}
	return step === null || (step.text === "" && step.calls.length === 0) ? null : step;
}

/** Whether the next life gave its context what the interrupted step before it had said and done, before anything else. */
export function checkRetained(before: Buffer, after: Buffer): string[] {
	const old = readJournal(before);
	const { records } = readJournal(after);
	const added = { records: records.slice(old.records.length) };
	// What a power loss has left of the log that Kimi reads, and not of the journal, was taken over from there.
	const taken = added.records.findIndex(
		(record) =>
			record.kind !== "event" || (record.event.body.type === "turn.started" && record.event.isFromLog !== true),
	);
	const step = interruptedStep({ records: records.slice(0, old.records.length + Math.max(0, taken)) });
	if (step === null) return [];
	const changes = added.records.flatMap((record) => (record.kind === "context" ? [record.change] : []));
	// Without a change nothing was asked of the model; a context that another program went on with is taken as it is.
	if (changes.length === 0 || changes[0]?.kind === "replace") return [];
	const messages = contextRowsOf(added).flatMap((row) => (row.type === "message" ? [row.message] : []));
	const begin = messages.findIndex(({ role }) => role === "user");
	const recovered = begin === -1 ? messages : messages.slice(0, begin);
	const said = recovered.find(({ role }) => role === "assistant");
	const text = (said?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
	const calls = (said?.toolCalls ?? []).map(({ id }) => id);
	const faults: string[] = [];
	if (text !== step.text) faults.push(`the interrupted step had said ${step.text}, its context has ${text}`);
	if (step.calls.join() !== calls.join())
		faults.push(`the interrupted step had called ${step.calls}, its context has ${calls}`);
	for (const [id, wanted] of step.results) {
		const answers = recovered.filter(({ role, toolCallId }) => role === "tool" && toolCallId === id);
		if (!answers.some(({ content }) => JSON.stringify(content) === wanted)) {
			faults.push(`the result of ${id} in the interrupted step is not in the context: ${wanted}`);
		}
	}
	return faults;
}
