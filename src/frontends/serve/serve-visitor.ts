// Serves one of several clients: the sessions continue without it.

import type { SessionApi } from "../../api/kernel.ts";
import { aborted, unlessAborted } from "../../base/abort.ts";
import { sleep, systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { Connection, type Peer } from "../../ports/rpc/connection.ts";
import type { EnvelopeRules } from "../../ports/rpc/envelope.ts";
import type { LineTransport } from "../../ports/rpc/transport.ts";
import type { Compatibility, HostApi, SharedConnection } from "../shared/dialect.ts";

/** Milliseconds for pending output when serving ends. */
const patience = 1000;

/** What a client asked for: the Agent Client Protocol with all sessions, or Kimi Wire with one. */
export type Visit = { readonly dialect: "acp" } | { readonly dialect: "kimi"; readonly session: SessionApi };

export interface VisitParts extends Omit<HostApi, "log"> {
	readonly compatibility: Compatibility;
	readonly maximumInFlight: number;
	readonly log: Log;
}

/** On abort the sessions are already stopped; sends their remaining output, then closes the transport. */
export async function serveVisitor(
	visit: Visit,
	parts: VisitParts,
	transport: LineTransport,
	signal: AbortSignal,
): Promise<void> {
	const { converse, rules } = await loadDialect(visit, parts);
	const settings = () => ({ rules: conversation.rules ?? rules, methods: conversation.methods });
	const connection: Connection = new Connection(transport, {
		undecided: settings,
		choose: settings,
		maximumInFlight: parts.maximumInFlight,
		log: parts.log,
	});
	const conversation = converse(connection);
	const left = Promise.race([connection.serve(), aborted(transport.gone)]);
	const hasLeft = await unlessAborted(
		left.then(() => true),
		signal,
	);
	if (hasLeft === null)
		await inTime(Promise.all([conversation.drained(), connection.idle()]).then(() => transport.flush()));
	conversation.leave();
	transport.close();
}

async function inTime(work: Promise<void>): Promise<void> {
	const done = new AbortController();
	await Promise.race([work, sleep(systemClock, patience, done.signal)]);
	done.abort();
}

async function loadDialect(
	visit: Visit,
	parts: VisitParts,
): Promise<{ readonly rules: EnvelopeRules; converse(peer: Peer): SharedConnection }> {
	switch (visit.dialect) {
		case "acp": {
			const { acpDialect } = await import("../acp/dialect.ts");
			return { rules: acpDialect.rules, converse: (peer) => acpDialect.converse(parts, peer) };
		}
		case "kimi": {
			const { kimiDialect } = await import("../kimi/dialect.ts");
			const kernelApi = { ...parts, session: visit.session };
			return { rules: kimiDialect.rules, converse: (peer) => kimiDialect.converse(kernelApi, peer) };
		}
	}
}
