// POST /api/chat starts a turn or decides approvals, GET /api/chat/ID/stream streams it, POST /api/chat/ID/stop cancels it.
import * as v from "valibot";
import type { SessionApi, SessionsApi } from "../../../api/kernel.ts";
import type { Scope } from "../../../api/operations.ts";
import { cursorSchema } from "../../../api/schemas.ts";
import type { Cursor } from "../../../api/values/event.ts";
import type { PromptFile } from "../../../api/values/prompt-file.ts";
import type { Clock } from "../../../base/clock.ts";
import { KernelError } from "../../../base/errors.ts";
import { toPublicEvent } from "../../shared/public-event.ts";
import { attachPublic, readParams, withSession } from "../../shared/public-operations.ts";
import { readHistory } from "../history.ts";
import type { CallMethod } from "../methods.ts";
import type { EventSink } from "../streams/event-sink.ts";
import { heartbeat } from "../streams/event-stream.ts";
import { type ChatChunk, ChatChunks, type MessageState } from "./chat-chunks.ts";

/** Identifies the stream format for `useChat`. */
export const chatHeaders = { "x-vercel-ai-ui-message-stream": "v1" } as const;

/** Milliseconds without an event after which a blocked turn has asked for all its approvals. */
const approvalSpan = 200;
/** Events per read when searching for the start of a turn. */
const searchLength = 500;

const text = v.string();
const partSchema = v.looseObject({ type: text });
const requestSchema = v.looseObject({
	id: text,
	messages: v.pipe(
		v.array(
			v.looseObject({
				id: text,
				role: v.picklist(["system", "user", "assistant"]),
				parts: v.array(partSchema),
				metadata: v.optional(v.unknown()),
			}),
		),
		v.minLength(1),
	),
	trigger: v.optional(v.picklist(["submit-message", "regenerate-message"])),
});
type ChatMessage = v.InferOutput<typeof requestSchema>["messages"][number];

const filePartSchema = v.looseObject({ mediaType: text, filename: v.optional(text), url: text });
const answeredPartSchema = v.looseObject({
	state: v.literal("approval-responded"),
	toolCallId: text,
	approval: v.looseObject({ id: text, approved: v.boolean(), reason: v.optional(text) }),
});
type AnsweredPart = v.InferOutput<typeof answeredPartSchema>;
const metadataSchema = v.looseObject({ turnId: text, cursor: cursorSchema });

export interface ChatPlace extends MessageState {
	readonly sessionId: string;
	readonly turnId: string;
	readonly after: Cursor;
}

export interface ChatParts {
	readonly sessions: SessionsApi;
	readonly call: CallMethod;
	readonly clock: Clock;
}

export async function acceptChat(body: unknown, { sessions, call }: ChatParts): Promise<ChatPlace> {
	const { id: sessionId, messages, trigger } = readParams(requestSchema, body, "A chat request");
	if (trigger === "regenerate-message") {
		throw new KernelError("unsupported", "An answer cannot be regenerated: send the question as a new message.");
	}
	const origin = { scope: "control", turnKey: null, trace: null } as const;
	const last = messages.at(-1);
	if (last?.role === "assistant") {
		const { metadata, answered, shown } = readAnswers(last);
		for (const part of answered) await call("interaction.respond", toResponse(sessionId, part), origin);
		const denied = answered.flatMap(({ approval, toolCallId }) => (approval.approved ? [] : [toolCallId]));
		const place = await withSession(sessions, sessionId, {}, ({ session }) => findTurn(session, metadata.turnId));
		return { ...place, from: metadata.cursor, shown, denied };
	}
	if (last?.role !== "user") throw new KernelError("invalid-input", "The last message must be from the user.");
	const params = { sessionId, input: textOf(last), files: filesOf(last), key: `chat ${last.id}` };
	const { turnId } = v.parse(v.object({ turnId: text }), await call("turn.start", params, origin));
	return await withSession(sessions, sessionId, {}, ({ session }) => findTurn(session, turnId));
}

/** The running turn from its beginning; null if none runs. */
export function findRunningTurn(sessionId: string, sessions: SessionsApi): Promise<ChatPlace | null> {
	return withSession(sessions, sessionId, { archived: true }, async ({ session }) => {
		const { turnId } = await session.snapshot();
		return turnId === null ? null : await findTurn(session, turnId);
	});
}

export async function carryChat(
	place: ChatPlace,
	scope: Scope,
	{ sessions, clock }: ChatParts,
	sink: EventSink,
): Promise<void> {
	const { sessionId, turnId, after } = place;
	const write = (chunk: ChatChunk) => sink.write(`data: ${JSON.stringify(chunk)}\n\n`);
	const attachment = await attachPublic(
		sessions,
		{ sessionId, after, answers: scope === "control", client: { name: "useChat", version: null } },
		scope,
	);
	const detach = () => attachment.close();
	sink.gone.addEventListener("abort", detach);
	let withdrawBeat = () => {};
	const beat = () => {
		if (!sink.isFull()) sink.write(": ping\n\n");
		withdrawBeat = clock.after(heartbeat, beat, true);
	};
	withdrawBeat = clock.after(heartbeat, beat, true);
	let withdrawPause = () => {};
	let isPaused = false;
	const pause = () => {
		isPaused = true;
		attachment.close();
	};
	try {
		const chunks = new ChatChunks(turnId, place, write);
		for await (const batch of attachment.events) {
			withdrawPause();
			for (const event of batch) chunks.take(toPublicEvent(event));
			if (chunks.isOver) break;
			if (chunks.awaitsApproval) withdrawPause = clock.after(approvalSpan, pause);
			if (sink.isFull()) await sink.drained();
		}
		if (sink.gone.aborted) return;
		if (isPaused) chunks.pause();
		else if (!chunks.isOver) write({ type: "error", errorText: "The session was closed." });
		sink.write("data: [DONE]\n\n");
	} finally {
		withdrawBeat();
		withdrawPause();
		sink.gone.removeEventListener("abort", detach);
		attachment.close();
	}
}

function readAnswers({ parts, metadata }: ChatMessage) {
	const answered = parts.flatMap((part) => {
		const read = v.safeParse(answeredPartSchema, part);
		return read.success ? [read.output] : [];
	});
	if (answered.length === 0) throw new KernelError("invalid-input", "The last message decides nothing.");
	const shown = parts.flatMap(({ toolCallId }) => (typeof toolCallId === "string" ? [toolCallId] : []));
	return { answered, shown, metadata: readParams(metadataSchema, metadata, "The metadata of a message") };
}

function toResponse(sessionId: string, { approval }: AnsweredPart) {
	const { id: interactionId, approved, reason = "" } = approval;
	return {
		sessionId,
		interactionId,
		answer: { kind: "approval", decision: approved ? "approve" : "reject", feedback: reason },
	};
}

async function findTurn(session: SessionApi, turnId: string): Promise<ChatPlace> {
	for (let before: number | null = null; ; ) {
		const page = await readHistory(session, { before, limit: searchLength });
		const started = page.events.find((event) => event.type === "turn.started" && event.turnId === turnId);
		if (started !== undefined || page.before === null) {
			const after = { epoch: page.cursor.epoch, seq: Math.max(0, (started?.seq ?? 1) - 1) };
			return { sessionId: session.id, turnId, after, from: after, shown: [], denied: [] };
		}
		before = page.before;
	}
}

function textOf({ parts }: ChatMessage): string {
	return parts
		.flatMap((part) => (part.type === "text" && typeof part["text"] === "string" ? [part["text"]] : []))
		.join("\n");
}

function filesOf({ parts }: ChatMessage): readonly PromptFile[] {
	return parts
		.filter(({ type }) => type === "file")
		.map((part, index) => {
			const { mediaType, url, filename } = readParams(filePartSchema, part, "A file");
			const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
			if (data === undefined) throw new KernelError("invalid-input", "A file must be a data URL in base64.");
			return { name: filename ?? `file-${index + 1}`, type: mediaType, data };
		});
}
