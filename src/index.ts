// The library, `agentwire`: a kernel in your own process, used through the same `Kernel` as one that is connected to.
import { fileURLToPath } from "node:url";
import type { AgentOptions } from "./agent-options.ts";
import { operations } from "./api/operations.ts";
import { KernelError } from "./base/errors.ts";
import { createPackageInstallation } from "./cli/installation/package.ts";
import {
	type Attachment,
	type CallName,
	Kernel,
	type Operations,
	type PublicEvent,
	Refused,
	type SessionAttachParams,
	type Transport,
} from "./client/client.ts";
import { toPublicEvent } from "./frontends/shared/public-event.ts";
import {
	attachPublic,
	callOperation,
	createOperationHandlers,
	type OperationHandlers,
	type PublicAttachment,
	readParams,
} from "./frontends/shared/public-operations.ts";
import { createHost, type Host } from "./host/create-host.ts";
import { productName, productVersion } from "./host/product.ts";

export type {
	AgentOptions,
	ContentPart,
	Model,
	ModelChunk,
	ModelMessage,
	ModelPart,
	ModelRequest,
	ModelToolCall,
} from "./agent-options.ts";
export * from "./client/client.ts";
export { type ScriptedAnswer, scriptedModel } from "./scripted-model.ts";

/** A kernel in this process. */
export interface Agent extends Kernel {
	/**
	 * Gives an uncaught exception or rejection to the session whose work threw it: its turn fails, everything else goes on.
	 * Returns whether a session took it. Call it in your own `uncaughtException` and `unhandledRejection` handlers.
	 */
	takeFault(thrown: unknown): boolean;
}

/**
 * Starts a kernel in this process. It installs no handlers, writes nothing to stdout, and `close` releases everything. Several
 * may run at once, each with a `home` of its own. Fails with an error that names the key for settings that cannot be used.
 */
export async function createAgent(options: AgentOptions): Promise<Agent> {
	// Built, this file is dist/lib/index.mjs.
	const directory = fileURLToPath(
		new URL(import.meta.url.endsWith("/lib/index.mjs") ? "../.." : "..", import.meta.url),
	);
	const host = await createHost({
		environment: definedVariables(process.env),
		...options,
		installation: createPackageInstallation(directory),
	});
	const kernel = new Kernel(new InProcess(host), options);
	return Object.assign(kernel, {
		takeFault(thrown: unknown): boolean {
			const owner = host.faultOwner();
			owner?.fail(thrown);
			return owner !== null;
		},
	});
}

function definedVariables(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
	return Object.fromEntries(
		Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
	);
}

/** This process may do everything. */
const origin = { scope: "control", turnKey: null, trace: null } as const;

class InProcess implements Transport {
	readonly reconnects = false;
	readonly #host: Host;
	readonly #handlers: OperationHandlers;

	constructor(host: Host) {
		this.#host = host;
		this.#handlers = createOperationHandlers({
			sessions: host.sessions,
			server: { name: productName, version: productVersion },
		});
	}

	async request<N extends CallName>(name: N, params: Operations[N]["params"]): Promise<Operations[N]["result"]> {
		if (!isOffered(name))
			throw new Refused("unsupported", `${name} needs a gateway; a kernel in this process has none.`);
		// Both types are made from the same schemas.
		return (await refusing(callOperation(this.#handlers, name, params, origin))) as Operations[N]["result"];
	}

	async attach(params: SessionAttachParams): Promise<Attachment> {
		const read = readParams(operations["session.attach"].params, params, "session.attach");
		const attachment = await refusing(attachPublic(this.#host.sessions, read, origin.scope));
		return { state: attachment.state, events: toPublicBatches(attachment), close: () => attachment.close() };
	}

	close(): Promise<void> {
		return this.#host.close();
	}
}

function isOffered(name: string): name is Parameters<typeof callOperation>[1] {
	return Object.hasOwn(operations, name);
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
