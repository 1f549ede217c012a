// A gateway over sessions in memory, with a valid token of each scope.

import type { Scope } from "../../../src/api/operations.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { randomIdentifiers } from "../../../src/base/ids.ts";
import { silentLog } from "../../../src/base/log.ts";
import { tokenCheckSpan } from "../../../src/frontends/gateway/access/token-watch.ts";
import { startGateway } from "../../../src/frontends/gateway/gateway.ts";
import type { Operations } from "../../../src/frontends/gateway/operations.ts";
import { createQueueStore } from "../../../src/frontends/gateway/queues/queue-store.ts";
import type { Setup } from "../../../src/frontends/gateway/setup.ts";
import type { Converse } from "../../../src/frontends/gateway/sockets/sockets.ts";
import { serveVisitor } from "../../../src/frontends/serve/serve-visitor.ts";
import { noCompatibility } from "../../../src/frontends/shared/dialect.ts";
import { createSettingsDocuments } from "../../../src/kernel/hosting/settings-documents.ts";
import type { Files } from "../../../src/ports/files/port.ts";
import { createHost, type HostSettings } from "../sessions/session-host.ts";
import { createMemoryFiles } from "../store/memory-files.ts";

export const control = "c".repeat(64);
export const observe = "o".repeat(64);

/** Close it when it is not needed any more. */
export async function openGateway(
	settings: HostSettings = {},
	/** In place of the protocols. */
	converse: Converse | null = null,
	operations: Operations | null = null,
	queueFiles: Files = createMemoryFiles(),
	setup: Setup | null = null,
) {
	const { log = silentLog } = settings;
	const { host, clock, files } = await createHost({}, settings);
	const valid = new Map<string, Scope>([
		[control, "control"],
		[observe, "observe"],
	]);
	const tokens = {
		scopeOf: async (token: string) => valid.get(token) ?? null,
		find: async () => null,
		prepare: async () => {},
	};
	const server = { name: "agentwire", version: "1.2.3" };
	const visitParts = {
		sessions: host,
		account: null,
		documents: createSettingsDocuments({ files, clock, workDir: "/work", home: "/home" }),
		clock,
		identifiers: randomIdentifiers,
		server,
		compatibility: noCompatibility,
		maximumInFlight: 256,
		log,
	};
	const gateway = await startGateway({
		sessions: host,
		server,
		address: "127.0.0.1",
		port: 0,
		names: [],
		tls: null,
		page: null,
		setup,
		queues: createQueueStore("/share/queues", queueFiles, log),
		tokens,
		...(operations === null ? {} : { operations }),
		converse: converse ?? ((visit, transport, signal) => serveVisitor(visit, visitParts, transport, signal)),
		// Streams and connections live by the clock of the machine, but for what tests wait for.
		clock: {
			now: clock.now,
			monotonic: clock.monotonic,
			after: (ms, run, inBackground) => (ms >= tokenCheckSpan ? clock : systemClock).after(ms, run, inBackground),
		},
		log,
	});
	const close = async () => {
		await host.stop();
		await gateway.close();
	};
	return { gateway, host, clock, valid, tokens, files: queueFiles, port: gateway.port, close };
}
