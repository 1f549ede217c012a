import * as v from "valibot";
import { type CommandOf, type CommandType, type CommandValues, commands } from "../api/commands.ts";
import type { Attachment, SessionApi } from "../api/kernel.ts";
import type { SchemaOf } from "../api/object-schemas.ts";
import { eventSchema, historyEntrySchema } from "../api/schemas.ts";
import type { AttachOptions } from "../api/session-options.ts";
import type { MessageHistory, SessionSnapshot } from "../api/session-state.ts";
import type { HistoryEntry } from "../api/values/conversation.ts";
import type { AgentEvent, Cursor } from "../api/values/event.ts";
import { unlessAborted } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import { type Caller, read } from "./caller.ts";
import type { Result } from "./protocol.ts";

const eventsSchema: SchemaOf<readonly AgentEvent[]> = v.array(eventSchema);
const messagesSchema: SchemaOf<readonly HistoryEntry[]> = v.array(historyEntrySchema);

export class RemoteSession implements SessionApi {
	readonly id: string;
	readonly workDir: string;
	readonly #caller: Caller;
	readonly #place: { readonly session: string };

	constructor(
		caller: Caller,
		{ session, id, workDir }: Pick<Result<"sessions.acquire">, "session" | "id" | "workDir">,
	) {
		this.#caller = caller;
		this.#place = { session };
		this.id = id;
		this.workDir = workDir;
	}

	async send<T extends CommandType>(command: CommandOf<T>): Promise<CommandValues[T]> {
		const value = await this.#caller.request("session.send", { ...this.#place, command });
		const schema: SchemaOf<CommandValues[T]> = commands[command.type as T].value;
		return read(command.type, schema, value);
	}

	async attach(options: AttachOptions): Promise<Attachment> {
		const attached = await this.#caller.request("session.attach", { ...this.#place, options });
		const { id, stream, snapshot, tools } = attached;
		const caller = this.#caller;
		return {
			id,
			snapshot,
			tools,
			events: readDelivered(caller, stream),
			async drained() {
				// A lost connection has nothing left to consume.
				if (!caller.lost.aborted) await unlessAborted(caller.request("stream.drained", { stream }), caller.lost);
			},
			close: () => caller.notify("stream.close", { stream }),
		};
	}

	snapshot(): Promise<SessionSnapshot> {
		return this.#caller.request("session.snapshot", this.#place);
	}

	async conversation(): Promise<MessageHistory> {
		const { systemPrompt, stream } = await this.#caller.request("session.conversation", this.#place);
		const messages: HistoryEntry[] = [];
		for await (const batch of readStored(this.#caller, stream, messagesSchema))
			for (const message of batch) messages.push(message);
		return { systemPrompt, messages };
	}

	async *events(after?: Cursor): AsyncGenerator<readonly AgentEvent[]> {
		const cursor = after === undefined ? {} : { after };
		const { stream } = await this.#caller.request("session.events", { ...this.#place, ...cursor });
		yield* readStoredEvents(this.#caller, stream);
	}

	async stop(): Promise<void> {
		await this.#caller.request("session.stop", this.#place);
	}

	fail(thrown: unknown): void {
		this.#caller.notify("session.fail", { ...this.#place, message: errorText(thrown) });
	}
}

async function readBatch<Item>(
	caller: Caller,
	stream: string,
	schema: SchemaOf<readonly Item[]>,
): Promise<{ readonly items: readonly Item[]; readonly ended: boolean }> {
	const { items, ended } = await caller.request("stream.next", { stream });
	return { items: read("stream.next", schema, items), ended };
}

export function readStoredEvents(caller: Caller, stream: string): AsyncGenerator<readonly AgentEvent[]> {
	return readStored(caller, stream, eventsSchema);
}

/** Reads stored batches to the end. Fails with `closed` when the connection is lost first. */
async function* readStored<Item>(
	caller: Caller,
	stream: string,
	schema: SchemaOf<readonly Item[]>,
): AsyncGenerator<readonly Item[]> {
	let hasEnded = false;
	try {
		while (!hasEnded) {
			const { items, ended } = await readBatch(caller, stream, schema);
			hasEnded = ended;
			if (items.length > 0) yield items;
		}
	} finally {
		// The reader stopped early.
		if (!hasEnded) caller.notify("stream.close", { stream });
	}
}

/** Batches of an attachment, which end with the session or connection. Requesting one acknowledges the last. */
function readDelivered(caller: Caller, stream: string): AsyncIterable<readonly AgentEvent[]> {
	let hasEnded = false;
	return {
		async *[Symbol.asyncIterator]() {
			while (!hasEnded) {
				try {
					const { items, ended } = await readBatch(caller, stream, eventsSchema);
					hasEnded = ended;
					if (items.length > 0) yield items;
				} catch (thrown) {
					hasEnded = true;
					if (caller.lost.aborted) return;
					// The session must not wait for a client that cannot read.
					caller.notify("stream.close", { stream });
					throw thrown;
				}
			}
		},
	};
}
