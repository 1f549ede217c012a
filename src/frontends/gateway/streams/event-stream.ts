// Never blocks a session: beyond its queue, a stream drops volatile events and reads durable ones from the journal.

import type { SessionsApi } from "../../../api/kernel.ts";
import type { OperationParams, Scope } from "../../../api/operations.ts";
import type { AgentEvent, EventBodyOf } from "../../../api/values/event.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { toErrorObject } from "../../shared/public-errors.ts";
import { toPublicEvent } from "../../shared/public-event.ts";
import { attachPublic, isMilestone, type PublicAttachment } from "../../shared/public-operations.ts";
import type { PromptQueues } from "../queues/prompt-queues.ts";
import { mergeEvents } from "./delta-merging.ts";
import type { EventSink } from "./event-sink.ts";

/** Milliseconds between heartbeats; a client that misses two reconnects. */
export const heartbeat = 15_000;
/** Milliseconds between writes of volatile events; text added meanwhile is merged into one event. */
export const mergeSpan = 25;
const mergeLimit = 256;

export interface StreamOptions {
	readonly attachments: readonly OperationParams<"session.attach">[];
	readonly scope: Scope;
}

export interface StreamParts {
	readonly sessions: SessionsApi;
	readonly clock: Clock;
	readonly log: Log;
	readonly queues: Pick<PromptQueues, "watch">;
}

/** Streams the sessions until the client disconnects or no session is left. */
export async function carryEvents(options: StreamOptions, parts: StreamParts, sink: EventSink): Promise<void> {
	let withdraw = () => {};
	const beat = () => {
		// Do not queue heartbeats for a client that does not read.
		if (!sink.isFull()) sink.write(": ping\n\n");
		withdraw = parts.clock.after(heartbeat, beat, true);
	};
	withdraw = parts.clock.after(heartbeat, beat, true);
	try {
		await Promise.all(options.attachments.map((params) => carrySession(params, options.scope, parts, sink)));
	} finally {
		withdraw();
	}
}

async function carrySession(
	params: OperationParams<"session.attach">,
	scope: Scope,
	{ sessions, clock, log, queues }: StreamParts,
	sink: EventSink,
): Promise<void> {
	const { sessionId } = params;
	const say = (name: string, data: object) => sink.write(toMessage(name, { sessionId, ...data }));
	let attachment: PublicAttachment | null = null;
	let unwatch = () => {};
	const detach = () => attachment?.close();
	try {
		attachment = await attachPublic(sessions, params, scope);
		if (sink.gone.aborted) return;
		sink.gone.addEventListener("abort", detach);
		say("state", attachment.state);
		unwatch = queues.watch(sessionId, (queue) => say("queue", queue));
		const writer = new EventWriter(sink, clock);
		for await (const batch of attachment.events) {
			for (const event of batch) if (attachment.wants(event.body.type)) writer.add(event);
			writer.settle();
			if (sink.isFull()) await sink.drained();
		}
		writer.flush();
		if (!sink.gone.aborted) say("closed", {});
	} catch (thrown) {
		log.debug("A session cannot be streamed.", { session: sessionId, error: thrown });
		if (!sink.gone.aborted) say("failed", { error: toErrorObject(thrown) });
	} finally {
		sink.gone.removeEventListener("abort", detach);
		unwatch();
		attachment?.close();
	}
}

/** Writes one session's events in order: the first volatile one at once, following ones merged. */
export class EventWriter {
	readonly #sink: Pick<EventSink, "write">;
	readonly #clock: Clock;
	#waiting: AgentEvent[] = [];
	#withdraw: (() => void) | null = null;
	#writtenAt = Number.NEGATIVE_INFINITY;

	constructor(sink: Pick<EventSink, "write">, clock: Clock) {
		this.#sink = sink;
		this.#clock = clock;
	}

	add(event: AgentEvent): void {
		if (isMilestone(event)) {
			this.flush();
			this.#sink.write(toEventMessage(event));
			return;
		}
		const last = this.#waiting.at(-1);
		const merged = last === undefined ? null : mergeEvents(last, event);
		if (merged === null) this.#waiting.push(event);
		else this.#waiting[this.#waiting.length - 1] = merged;
		if (this.#waiting.length >= mergeLimit) this.flush();
	}

	/** Call when no more events are available: writes queued ones now, or soon after the last write. */
	settle(): void {
		if (this.#waiting.length === 0 || this.#withdraw !== null) return;
		const since = this.#clock.monotonic() - this.#writtenAt;
		if (since >= mergeSpan) this.flush();
		else this.#withdraw = this.#clock.after(mergeSpan - since, () => this.flush());
	}

	flush(): void {
		this.#withdraw?.();
		this.#withdraw = null;
		const waiting = this.#waiting;
		this.#waiting = [];
		if (waiting.length === 0) return;
		this.#writtenAt = this.#clock.monotonic();
		this.#sink.write(waiting.map(toEventMessage).join(""));
	}
}

function toDeltaMessage(
	{ sessionId, turnId, agentPath, at }: AgentEvent,
	{ part, offset }: EventBodyOf<"content.delta">,
): string {
	const path = agentPath.length === 0 ? "[]" : JSON.stringify(agentPath);
	const place = offset === undefined ? "" : `,"offset":${offset}`;
	const origin = `"sessionId":${JSON.stringify(sessionId)},"turnId":${JSON.stringify(turnId)},"agentPath":${path},"at":${at}`;
	return `event: v\ndata: {${origin},"type":"content.delta","part":${JSON.stringify(part)}${place}}\n\n`;
}

function toEventMessage(event: AgentEvent): string {
	const { body } = event;
	if (body.type === "content.delta" && event.seq === undefined) return toDeltaMessage(event, body);
	if (body.type === "session.reset") {
		return toMessage("reset", { sessionId: event.sessionId, epoch: event.epoch ?? null });
	}
	const { seq, epoch } = event;
	const data = toPublicEvent(event);
	if (seq === undefined || epoch === undefined) return toMessage("v", data);
	return `id: ${encodeURIComponent(event.sessionId)}@${epoch}:${seq}\n${toMessage("e", data)}`;
}

/** JSON has no unescaped line breaks. */
function toMessage(name: string, data: object): string {
	return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
