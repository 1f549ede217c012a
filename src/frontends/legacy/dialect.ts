// The legacy dialect, before Kimi Wire: `run` and `interrupt` with snake_case events.
import { readEnvelope } from "../../ports/rpc/envelope.ts";
import type { Dialect } from "../shared/dialect.ts";
import { envelopeRules } from "./envelope.ts";
import { LegacyConnection } from "./methods.ts";

export const legacyDialect: Dialect = {
	name: "legacy",
	rules: envelopeRules,
	claims(value) {
		const incoming = readEnvelope(value, envelopeRules);
		if (incoming.kind !== "request" && incoming.kind !== "notification") return false;
		return incoming.method === "run" || incoming.method === "interrupt";
	},
	converse: (kernelApi, peer) => new LegacyConnection(kernelApi, peer),
};
