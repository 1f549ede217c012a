// Where tests of the client library run kernels: in this process, behind a gateway in this process, or the built executable.
import { randomUUID } from "node:crypto";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createPackageInstallation } from "../../../src/cli/installation/package.ts";
import { connect, type HttpOptions, type Kernel } from "../../../src/client/client.ts";
import { startGateway } from "../../../src/frontends/gateway/gateway.ts";
import { createQueueStore } from "../../../src/frontends/gateway/queues/queue-store.ts";
import { createHost } from "../../../src/host/create-host.ts";
import { type Agent, createAgent } from "../../../src/index.ts";
import { createMemoryFiles } from "../store/memory-files.ts";

const packageDirectory = path.resolve(import.meta.dirname, "../../..");

/** A directory that is removed when the test ends. */
export async function makeDirectory(): Promise<string> {
	const directory = await realpath(await mkdtemp(path.join(tmpdir(), "agentwire-client-")));
	onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
	return directory;
}

/** Options of a kernel whose model gives these answers in turn. */
export async function scriptedOptions(scripts: readonly string[]) {
	const home = await makeDirectory();
	const file = path.join(home, "scripts.json");
	await writeFile(file, JSON.stringify(scripts));
	const settings = {
		default_model: "m",
		models: { m: { provider: "p", model: "m", max_context_size: 100_000, capabilities: ["image_in"] } },
		providers: {
			p: { type: "_scripted_echo", base_url: "", api_key: "", env: { KIMI_SCRIPTED_ECHO_SCRIPTS: file } },
		},
	};
	return { home, settings };
}

export async function createScriptedAgent(scripts: readonly string[]): Promise<Agent> {
	return await createAgent({ ...(await scriptedOptions(scripts)), onNotice: () => {} });
}

/** A gateway in this process. `cut` breaks every connection of the client. */
export async function connectToGateway(scripts: readonly string[]): Promise<{
	readonly kernel: Kernel;
	readonly address: HttpOptions;
	cut(): void;
}> {
	const token = randomUUID().repeat(2);
	const host = await createHost({
		...(await scriptedOptions(scripts)),
		installation: createPackageInstallation(packageDirectory),
		environment: { PATH: process.env["PATH"] ?? "" },
	});
	const gateway = await startGateway({
		sessions: host.sessions,
		server: { name: "agentwire", version: "1" },
		address: "127.0.0.1",
		port: 0,
		names: [],
		tls: null,
		page: null,
		setup: null,
		queues: createQueueStore("/queues", createMemoryFiles(), silentLog),
		tokens: {
			scopeOf: async (given) => (given === token ? "control" : null),
			find: async () => null,
			prepare: async () => {},
		},
		converse: async () => {},
		clock: systemClock,
		log: silentLog,
	});
	onTestFinished(async () => {
		await host.close();
		await gateway.close();
	});
	let line = new AbortController();
	const address = { url: `http://127.0.0.1:${gateway.port}`, token };
	const kernel = await connect({
		...address,
		fetch: (input, init) => {
			const signals = [line.signal, ...(init?.signal == null ? [] : [init.signal])];
			return fetch(input, { ...init, signal: AbortSignal.any(signals) });
		},
	});
	const cut = () => {
		line.abort(new Error("the line was cut"));
		line = new AbortController();
	};
	return { kernel, address, cut };
}
