// A server of many sessions in one life of the crash campaign, whatever its dialect.
import { randomIdentifiers } from "../../../src/base/ids.ts";
import { silentLog } from "../../../src/base/log.ts";
import { serve } from "../../../src/frontends/serve/serve.ts";
import { type HostApi, type HostDialect, noCompatibility } from "../../../src/frontends/shared/dialect.ts";
import { plainSessionOptions } from "../../../src/kernel/compose/session-options.ts";
import { SessionHost } from "../../../src/kernel/hosting/session-host.ts";
import { createSettingsDocuments } from "../../../src/kernel/hosting/settings-documents.ts";
import type { LineTransport } from "../../../src/ports/rpc/transport.ts";
import { createMemoryTransport } from "../../../src/ports/transports/memory.ts";
import type { Part } from "./life.ts";
import { createCountingIdentifiers, type LifeWorld, type Serve, workDir } from "./memory-life.ts";

type Front = (
	transport: LineTransport,
	host: HostApi & { readonly requestsInFlight: number },
	part: Part,
	world: LifeWorld,
) => Promise<{ finish(): Promise<void> }>;

export const serveFront =
	(front: Front): Serve =>
	async (world, part, number, note) => {
		const { files, clock, life, createKernel } = world;
		const { kernel, configuration } = await createKernel(part.models, number);
		const identifiers = createCountingIdentifiers(life * 2 + 50 + number);
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
		const { requestsInFlight } = configuration.agentwire.limits;
		const server = { name: "agentwire", version: "0.0.0" };
		const host = { account: null, sessions, documents, clock, identifiers: randomIdentifiers, server, log: silentLog };
		const serving = await front({ ...transport, send }, { ...host, requestsInFlight }, part, world);
		return { client, finish: () => serving.finish() };
	};

export const serveHosted = (dialect: HostDialect): Serve =>
	serveFront(async (transport, { requestsInFlight, server, log, ...host }) =>
		serve({
			...{ transport, server, log },
			signal: new AbortController().signal,
			session: null,
			host: { ...host, dialects: [dialect] },
			compatibility: noCompatibility,
			maximumInFlight: requestsInFlight,
		}),
	);
