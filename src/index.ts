// The library, `agentwire`: a kernel in your own process, used through the same `Kernel` as one that is connected to.
import { fileURLToPath } from "node:url";
import type { AgentOptions, SessionRecords } from "./agent-options.ts";
import { createPackageInstallation } from "./cli/installation/package.ts";
import { Kernel } from "./client/client.ts";
import { InProcessTransport } from "./frontends/shared/in-process.ts";
import { createHost } from "./host/create-host.ts";
import { productName, productVersion } from "./host/product.ts";
import type { SessionStore } from "./ports/store/session-store.ts";

export type {
	AgentOptions,
	ContentPart,
	ListedSession,
	Model,
	ModelChunk,
	ModelMessage,
	ModelPart,
	ModelRequest,
	ModelToolCall,
	SessionRecords,
} from "./agent-options.ts";
export * from "./client/client.ts";
export { type ScriptedAnswer, type ScriptedAnswers, type ScriptedModel, scriptedModel } from "./scripted-model.ts";

/** A kernel in this process. */
export interface Agent extends Kernel {
	/**
	 * Gives an uncaught exception or rejection to the session whose work threw it: its turn fails, everything else continues.
	 * Returns whether a session took it. Call it in your own `uncaughtException` and `unhandledRejection` handlers.
	 */
	takeFault(thrown: unknown): boolean;
}

/**
 * Starts a kernel in this process. It installs no handlers, writes nothing to stdout, and `close` releases everything. Several
 * may run at once, each with its own `home`. Invalid settings throw an error that names the key.
 */
export async function createAgent(options: AgentOptions): Promise<Agent> {
	// Built, this file is dist/lib/index.mjs.
	const directory = fileURLToPath(
		new URL(import.meta.url.endsWith("/lib/index.mjs") ? "../.." : "..", import.meta.url),
	);
	const { store, ...others } = options;
	const host = await createHost({
		environment: definedVariables(process.env),
		...others,
		...(store === undefined ? {} : { store: typeof store === "string" ? store : await openRecords(store) }),
		installation: createPackageInstallation(directory),
	});
	const server = { name: productName, version: productVersion };
	const kernel = new Kernel(new InProcessTransport({ sessions: host.sessions, server }, () => host.close()), options);
	return Object.assign(kernel, {
		takeFault(thrown: unknown): boolean {
			const owner = host.faultOwner();
			owner?.fail(thrown);
			return owner !== null;
		},
	});
}

async function openRecords(records: SessionRecords): Promise<SessionStore> {
	const { createMemoryStore } = await import("./ports/store/memory/memory-store.ts");
	return createMemoryStore(records);
}

function definedVariables(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
	return Object.fromEntries(
		Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
	);
}
