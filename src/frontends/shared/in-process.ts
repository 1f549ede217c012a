import type { SessionsApi } from "../../api/kernel.ts";
import { operations } from "../../api/operations.ts";
import { KernelError } from "../../base/errors.ts";
import {
	type Attachment,
	type CallName,
	type Operations,
	type PublicEvent,
	Refused,
	type SessionAttachParams,
	type Transport,
} from "../../client/client.ts";
import { toPublicEvent } from "./public-event.ts";
import {
	attachPublic,
	callOperation,
	createOperationHandlers,
	isCallable,
	type OperationHandlers,
	type OperationParts,
	type PublicAttachment,
	readParams,
} from "./public-operations.ts";

const origin = { scope: "control", turnKey: null, trace: null } as const;

export class InProcessTransport implements Transport {
	readonly reconnects = false;
	readonly #sessions: SessionsApi;
	readonly #handlers: OperationHandlers;
	readonly #close: () => Promise<void>;

	/** `close` ends what was started for this client. */
	constructor(parts: OperationParts, close: () => Promise<void>) {
		this.#sessions = parts.sessions;
		this.#handlers = createOperationHandlers(parts);
		this.#close = close;
	}

	async request<N extends CallName>(name: N, params: Operations[N]["params"]): Promise<Operations[N]["result"]> {
		const called: string = name;
		if (!isCallable(called)) {
			throw new Refused("unsupported", `${name} needs a gateway; a kernel in this process has none.`);
		}
		return (await refusing(callOperation(this.#handlers, called, params, origin))) as Operations[N]["result"];
	}

	async attach(params: SessionAttachParams): Promise<Attachment> {
		const read = readParams(operations["session.attach"].params, params, "session.attach");
		const attachment = await refusing(attachPublic(this.#sessions, read, origin.scope));
		return { state: attachment.state, events: toPublicBatches(attachment), close: () => attachment.close() };
	}

	close(): Promise<void> {
		return this.#close();
	}
}

async function refusing<T>(work: Promise<T>): Promise<T> {
	try {
		return await work;
	} catch (thrown) {
		if (thrown instanceof KernelError) throw new Refused(thrown.code, thrown.message, thrown.data);
		throw thrown;
	}
}

async function* toPublicBatches({ events, wants }: PublicAttachment): AsyncGenerator<readonly PublicEvent[]> {
	for await (const batch of events) yield batch.filter(({ body }) => wants(body.type)).map(toPublicEvent);
}
