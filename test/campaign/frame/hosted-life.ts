// A server of many sessions in one life of the crash campaign, whatever its dialect.
import { randomIdentifiers } from "../../../src/base/ids.ts";
import { silentLog } from "../../../src/base/log.ts";
import { serve } from "../../../src/frontends/serve/serve.ts";
import { type HostDialect, noCompatibility } from "../../../src/frontends/shared/dialect.ts";
import { plainSessionOptions } from "../../../src/kernel/compose/session-options.ts";
import { SessionHost } from "../../../src/kernel/hosting/session-host.ts";
import { createSettingsDocuments } from "../../../src/kernel/hosting/settings-documents.ts";
import { createMemoryTransport } from "../../../src/ports/transports/memory.ts";
import { createCountingIdentifiers, type Serve, workDir } from "./memory-life.ts";

export const serveHosted =
	(dialect: HostDialect): Serve =>
	async ({ files, clock, life, createKernel }, { models }, number, note) => {
		const { kernel, configuration } = await createKernel(models, number);
		const identifiers = createCountingIdentifiers(life * 2 + 50);
		const sessions = new SessionHost({
			...{ kernel, configuration, workDir, clock, identifiers, log: silentLog },
			environment: {},
			options: plainSessionOptions,
		});
		const documents = createSettingsDocuments({ files, clock, workDir, home: "/home" });
		const { transport, client } = createMemoryTransport(100 * 1024 * 1024, 262_144);
		const send = (line: string): void => {
			note(line);
			transport.send(line);
		};
		const serving = serve({
			transport: { ...transport, send },
			session: null,
			host: { dialects: [dialect], account: null, sessions, documents, clock, identifiers: randomIdentifiers },
			server: { name: "agentwire", version: "0.0.0" },
			compatibility: noCompatibility,
			maximumInFlight: configuration.agentwire.limits.requestsInFlight,
			log: silentLog,
			signal: new AbortController().signal,
		});
		return { client, finish: () => serving.finish() };
	};
