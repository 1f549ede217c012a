// The fork of a session: a new one that begins with a copy of what the session has, or of its beginning. Background work,
// its notifications and files of output stay with the session they belong to.

import { toParts } from "../../api/values/content.ts";
import type { ContextRow, HistoryEntry } from "../../api/values/conversation.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import { eachOf } from "../../base/collections.ts";
import { KernelError } from "../../base/errors.ts";
import type { SessionState, StoredSession } from "../../ports/store/session-store.ts";
import { toTitle } from "../../ports/store/title.ts";
import type { ForkOptions } from "../api.ts";
import type { ForkSource } from "../session/fork-source.ts";
import { readCreationOptions } from "./creation-options.ts";

/** Events that are written together. */
const batchSize = 500;

const forkMark = "Fork: ";

/** Writes the copy. Fails `invalid-input` where it cannot be cut so. */
export async function writeFork(source: ForkSource, options: ForkOptions, target: StoredSession): Promise<void> {
	const { cut } = options;
	const { stored, rows, end, plan } = source;
	const retained = cut === undefined ? rows : cutRows(rows, cut.messages);
	const writer = new EventWriter(target);
	const place = cut === undefined ? { end, isWithinTurn: false } : await findPlace(source, cut.messages);
	for await (const event of eachOf(stored.events())) {
		const { seq = 0 } = event;
		if (seq > place.end) break;
		await writer.add(event);
	}
	await writer.finish(place.isWithinTurn);
	await copyAgents(stored, target, writer.agentIds);
	const added: readonly ContextRow[] =
		cut?.replacement === undefined ? [] : [{ type: "message", message: cut.replacement }];
	const whole = [...retained, ...added];
	// The rows come last: with them nothing of a step is missing in the context.
	await target.commit({
		...(whole.length === 0 ? {} : { context: { kind: "replace" as const, rows: whole } }),
		state: { ...toForkState(stored, options), ...plan, customTitle: titleOf(stored, writer.firstPrompt) },
	});
}

/**
 * The state of a fork. What a person approved for the session was for that one, and the fork asks again; what its creator
 * made it with holds for the fork as well, and so does its workspace, of which its context speaks.
 */
function toForkState(stored: StoredSession, { cut, isOpenedAnew = false }: ForkOptions): Partial<SessionState> {
	const { additionalDirs, todos, creationOptions } = stored.state();
	const { approvesEverything = false, isAway = false } = readCreationOptions(creationOptions)?.mode ?? {};
	return {
		approval: { yolo: approvesEverything, afk: isAway, autoApproveActions: [] },
		additionalDirs: isOpenedAnew ? [] : additionalDirs,
		creationOptions,
		forkedFrom: stored.id,
		// They may be of a turn that was cut off.
		todos: cut === undefined ? todos : [],
	};
}

function titleOf(stored: StoredSession, firstPrompt: string | null): string | null {
	const title = stored.state().customTitle ?? firstPrompt;
	if (title === null) return null;
	return title.startsWith(forkMark) ? title : `${forkMark}${title}`;
}

/** The rows up to the end of the first so many messages. */
function cutRows(rows: readonly ContextRow[], messages: number): readonly ContextRow[] {
	const all = messagesOf(rows);
	if (messages > all.length) {
		throw new KernelError(
			"invalid-input",
			`The conversation cannot be cut after ${messages} messages: it has ${all.length}.`,
		);
	}
	const retained = all.slice(0, messages);
	const open = openCalls(retained);
	if (open.length > 0) {
		const answered = new Set(open);
		const last = all.findLastIndex(({ toolCallId }) => toolCallId !== undefined && answered.has(toolCallId));
		const advice =
			last < messages
				? "cut it before the message that has them"
				: `cut it after ${last + 1} messages, or before the message that has them`;
		throw new KernelError(
			"invalid-input",
			`The conversation cannot be cut after ${messages} messages: tool calls would be without their results (${open.join(", ")}); ${advice}.`,
		);
	}
	let seen = 0;
	const end = rows.findIndex((row) => row.type === "message" && ++seen > messages);
	return end === -1 ? rows : rows.slice(0, end);
}

function messagesOf(rows: readonly ContextRow[]): readonly HistoryEntry[] {
	return rows.flatMap((row) => (row.type === "message" ? [row.message] : []));
}

/** The calls of these messages that none of them answers. */
function openCalls(messages: readonly HistoryEntry[]): readonly string[] {
	const open = new Set<string>();
	for (const { toolCalls = [], toolCallId } of messages) {
		for (const { id } of toolCalls) open.add(id);
		if (toolCallId !== undefined) open.delete(toolCallId);
	}
	return [...open];
}

/** A place in the log at which a message began. */
interface Mark {
	readonly key: string;
	/** Whether it begins a turn. */
	readonly isFirst: boolean;
	readonly seq: number;
}

const stepKey = "step";

function toMark({ body, agentPath, seq = 0 }: AgentEvent): Mark | null {
	if (agentPath.length > 0) return null;
	switch (body.type) {
		case "turn.started":
		case "steer.consumed":
			return { key: inputKey(toParts(body.input)), isFirst: body.type === "turn.started", seq };
		case "step.started":
			return { key: stepKey, isFirst: false, seq };
		default:
			return null;
	}
}

function inputKey(content: HistoryEntry["content"]): string {
	return `input ${content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n")}`;
}

/** The key of the mark that a message has in the log; null for one that has none. */
function keyOf({ role, content }: HistoryEntry): string | null {
	if (role === "assistant") return stepKey;
	return role === "user" ? inputKey(content) : null;
}

/**
 * The last event of what is retained, and whether it is within a turn. Messages have no place in the log: those that are cut
 * off are matched with its inputs and steps from the end, because a compaction may have removed the beginning.
 */
async function findPlace({ stored, rows, end }: ForkSource, messages: number) {
	const marks: Mark[] = [];
	const places = new Map<string, number[]>();
	for await (const event of eachOf(stored.events())) {
		if ((event.seq ?? 0) > end) break;
		const mark = toMark(event);
		if (mark === null) continue;
		const known = places.get(mark.key);
		if (known === undefined) places.set(mark.key, [marks.length]);
		else known.push(marks.length);
		marks.push(mark);
	}
	let at = marks.length;
	for (const message of messagesOf(rows).slice(messages).toReversed()) {
		const key = keyOf(message);
		const known = key === null ? [] : (places.get(key) ?? []);
		while ((known.at(-1) ?? -1) >= at) known.pop();
		// What is not in the log, such as a reminder, is nowhere in it.
		at = known.at(-1) ?? at;
	}
	const mark = marks[at];
	if (mark === undefined) return { end, isWithinTurn: false };
	return { end: mark.seq - 1, isWithinTurn: !mark.isFirst };
}

/** Copies events in batches. */
class EventWriter {
	readonly #target: StoredSession;
	readonly #agentIds = new Set<string>();
	#batch: AgentEvent[] = [];
	#last: AgentEvent | null = null;
	#firstPrompt: string | null = null;

	constructor(target: StoredSession) {
		this.#target = target;
	}

	/** The subagents whose events were copied. */
	get agentIds(): ReadonlySet<string> {
		return this.#agentIds;
	}

	/** The title that the first prompt gives; null without one. */
	get firstPrompt(): string | null {
		return this.#firstPrompt;
	}

	async add({ seq: _, epoch: __, ...event }: AgentEvent): Promise<void> {
		const { body, agentPath } = event;
		this.#batch.push({ ...event, sessionId: this.#target.id });
		for (const { agentId } of agentPath) if (agentId !== null) this.#agentIds.add(agentId);
		if (agentPath.length === 0) {
			this.#last = event;
			if (body.type === "turn.started") this.#firstPrompt ??= toTitle(body.input);
		}
		if (this.#batch.length >= batchSize) await this.#flush();
	}

	/** The turn that was cut is over. */
	async finish(isWithinTurn: boolean): Promise<void> {
		if (isWithinTurn && this.#last !== null) {
			const { turnId, at } = this.#last;
			const body = { type: "turn.ended", outcome: null } as const;
			await this.add({ sessionId: this.#target.id, turnId, agentPath: [], at, body });
		}
		await this.#flush();
	}

	async #flush(): Promise<void> {
		const events = this.#batch;
		this.#batch = [];
		if (events.length > 0) await this.#target.commit({ events });
	}
}

/** The subagents can be asked again: they know what they knew. */
async function copyAgents(source: StoredSession, target: StoredSession, ids: ReadonlySet<string>): Promise<void> {
	for (const id of ids) {
		const agent = await source.openAgent(id);
		if (agent === null) continue;
		const copy = await target.createAgent(agent.description);
		await copy.begin("");
		if (agent.contextRows.length > 0) await copy.changeContext({ kind: "append", rows: agent.contextRows });
		await copy.setStatus("idle");
	}
}
