// A fork starts with a copy of the source or its beginning. Background work, its notifications and output files stay with the source.

import path from "node:path";
import type { ForkCut, ForkOptions } from "../../api/session-options.ts";
import { toParts } from "../../api/values/content.ts";
import type { ContextRow, HistoryEntry } from "../../api/values/conversation.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import { eachOf } from "../../base/collections.ts";
import { KernelError } from "../../base/errors.ts";
import type { SessionState, StoredSession } from "../../ports/store/session-store.ts";
import { toTitle } from "../../ports/store/title.ts";
import type { FileCheckout } from "../../ports/workspace/file-history.ts";
import type { ForkSource } from "../session/fork-source.ts";
import { readCreationOptions } from "./creation-options.ts";

const batchSize = 500;

const forkMark = "Fork: ";

/** Writes the copy. Fails with `invalid-input` for an invalid cut. */
export async function writeFork(
	source: ForkSource,
	options: ForkOptions,
	target: StoredSession,
	/** For a fork in a separate directory. */
	copy: Pick<FileCheckout, "writeHistory"> | null = null,
): Promise<void> {
	const { stored, rows, messages, end, plan } = source;
	const cut = messages === null ? options.cut : { messages };
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
	const { files } = options;
	const whole =
		files === undefined
			? [...retained, ...added]
			: [
					...retained.filter(({ type }) => type !== "system-prompt"),
					...added,
					movedRow(stored.workDir, files.directory),
				];
	await writeHistory(stored, target, copy);
	// Rows come last, so the context never misses part of a step.
	await target.commit({
		...(whole.length === 0 ? {} : { context: { kind: "replace" as const, rows: whole } }),
		state: { ...toForkState(stored, cut, options), ...plan, customTitle: titleOf(stored, writer.firstPrompt) },
	});
}

/** Copies the creation options and the workspace, which the context mentions, but no user approvals. */
function toForkState(
	stored: StoredSession,
	cut: ForkCut | undefined,
	{ isOpenedAnew = false }: ForkOptions,
): Partial<SessionState> {
	const { additionalDirs, todos, creationOptions } = stored.state();
	const { approvesEverything = false, isAway = false } = readCreationOptions(creationOptions)?.mode ?? {};
	return {
		approval: { yolo: approvesEverything, afk: isAway, autoApproveActions: [] },
		additionalDirs: isOpenedAnew ? [] : additionalDirs,
		creationOptions,
		forkedFrom: stored.id,
		// The todos may come from a turn that was cut off.
		todos: cut === undefined ? todos : [],
	};
}

/** The fork can go back to the same points as its source. */
async function writeHistory(
	stored: StoredSession,
	target: StoredSession,
	copy: Pick<FileCheckout, "writeHistory"> | null,
): Promise<void> {
	if (stored.directory === null || target.directory === null) return;
	const { historyDirectory } = await import("../../ports/workspace/history-space.ts");
	const to = path.join(target.directory, historyDirectory);
	const place = target.historyPlace;
	if (copy !== null) return await copy.writeHistory(to, place);
	const { copyHistory, copySaved } = await import("../../ports/workspace/history-copy.ts");
	if (place !== undefined && stored.historyPlace !== undefined) {
		await copySaved(stored.historyPlace, place, Infinity);
		return;
	}
	await copyHistory(path.join(stored.directory, historyDirectory), to);
}

/** Tells the model, which knows the paths of the other directory. */
function movedRow(from: string, to: string): ContextRow {
	const text = `<system>This session goes on in a copy of its files: the working directory is ${to} now. Leave ${from} alone.</system>`;
	return { type: "message", message: { role: "user", content: [{ type: "text", text }] } };
}

function titleOf(stored: StoredSession, firstPrompt: string | null): string | null {
	const title = stored.state().customTitle ?? firstPrompt;
	if (title === null) return null;
	return title.startsWith(forkMark) ? title : `${forkMark}${title}`;
}

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

function openCalls(messages: readonly HistoryEntry[]): readonly string[] {
	const open = new Set<string>();
	for (const { toolCalls = [], toolCallId } of messages) {
		for (const { id } of toolCalls) open.add(id);
		if (toolCallId !== undefined) open.delete(toolCallId);
	}
	return [...open];
}

/** Log position where a message starts. */
interface Mark {
	readonly key: string;
	/** Whether it starts a turn. */
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

/** Key of the message's mark in the log, or null. */
function keyOf({ role, content }: HistoryEntry): string | null {
	if (role === "assistant") return stepKey;
	return role === "user" ? inputKey(content) : null;
}

/** Last retained event, and whether it is in a turn. Messages are matched with the log from the end: compaction drops beginnings. */
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
		// Some messages, such as reminders, are not in the log.
		at = known.at(-1) ?? at;
	}
	const mark = marks[at];
	if (mark === undefined) return { end, isWithinTurn: false };
	return { end: mark.seq - 1, isWithinTurn: !mark.isFirst };
}

class EventWriter {
	readonly #target: StoredSession;
	readonly #agentIds = new Set<string>();
	#batch: AgentEvent[] = [];
	#last: AgentEvent | null = null;
	#firstPrompt: string | null = null;

	constructor(target: StoredSession) {
		this.#target = target;
	}

	get agentIds(): ReadonlySet<string> {
		return this.#agentIds;
	}

	/** Title derived from the first prompt, or null. */
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

	/** Ends the turn that was cut. */
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

/** Subagents of the fork can be resumed with their context. */
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
