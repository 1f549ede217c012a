// A host of many sessions over doubles, whose models answer with the text of the prompt.

import type { SessionHandle } from "../../../src/api/kernel.ts";
import { randomIdentifiers } from "../../../src/base/ids.ts";
import { type Log, silentLog } from "../../../src/base/log.ts";
import { plainSessionOptions, type SessionOptions } from "../../../src/kernel/compose/session-options.ts";
import { Kernel } from "../../../src/kernel/hosting/kernel.ts";
import { SessionHost } from "../../../src/kernel/hosting/session-host.ts";
import type { Processes } from "../../../src/ports/processes/port.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import type { SessionStore } from "../../../src/ports/store/session-store.ts";
import { readConfiguration } from "../../../src/settings/config/configuration-reader.ts";
import { createFakeClock } from "../host/campaign-clock.ts";
import { createHostServices } from "../host/host-services.ts";
import { createMemoryFiles } from "../store/memory-files.ts";
import { noProcesses } from "./session-doubles.ts";

const agentFile = "version: 1\nagent:\n  name: reader\n  extend: default\n  tools: [kimi_cli.tools.file:ReadFile]\n";

export interface HostSettings {
	readonly hooks?: readonly object[];
	readonly processes?: Processes;
	/** Of the process. */
	readonly options?: Partial<SessionOptions>;
	readonly models?: object;
	readonly store?: SessionStore;
	readonly log?: Log;
}

/** A host of sessions over doubles: echo models, files and store in memory. */
export async function createHost(
	limits: object = {},
	{
		models = { m: { provider: "p", model: "echo", max_context_size: 1000 } },
		hooks = [],
		processes = noProcesses,
		options = {},
		store = createMemoryStore(),
		log = silentLog,
	}: HostSettings = {},
) {
	const files = createMemoryFiles();
	for (const directory of ["/work", "/other", "/more"]) await files.makeDirectory(directory);
	await files.replace("/work/reader.yaml", agentFile);
	const { configuration } = await readConfiguration(
		{
			kind: "text",
			text: JSON.stringify({
				default_model: "m",
				models,
				providers: { p: { type: "_echo", base_url: "", api_key: "" } },
				agentwire: { limits },
				hooks,
			}),
		},
		files,
		silentLog,
	);
	const clock = createFakeClock();
	const kernel = new Kernel({ store, configuration, hostServices: createHostServices({ files, clock, processes }) });
	const parts = {
		kernel,
		configuration,
		environment: {},
		workDir: "/work",
		options: { ...plainSessionOptions, ...options },
		clock,
		identifiers: randomIdentifiers,
		log,
	};
	const host = new SessionHost(parts);
	return { host, clock, kernel, files, parts };
}

/** Runs a turn of the echo model to its end. */
export async function runTurn({ session, startTurn }: SessionHandle): Promise<void> {
	const { events, close } = await session.attach({ client: null, tools: [], capabilities: [], hooks: null });
	await startTurn("text: hello");
	for await (const batch of events) if (batch.some(({ body }) => body.type === "turn.ended")) break;
	close();
}
