// Agent Client Protocol, version 2 (a draft), served only on request.
import { isRecord } from "../../../base/json.ts";
import { readEnvelope } from "../../../ports/rpc/envelope.ts";
import type { HostDialect } from "../../shared/dialect.ts";
import { acpRules } from "../envelope.ts";
import { DraftConnection } from "./connection.ts";
import { draftVersion } from "./wire.ts";

/** Claims a handshake for this or a later version. */
export const draftDialect: HostDialect = {
	name: "acp-2",
	rules: acpRules,
	claims(value) {
		const incoming = readEnvelope(value, acpRules);
		if (incoming.kind !== "request" || incoming.method !== "initialize" || !isRecord(incoming.params)) return false;
		const { protocolVersion } = incoming.params;
		return typeof protocolVersion === "number" && protocolVersion >= draftVersion;
	},
	converse: (kernelApi, peer) => new DraftConnection(kernelApi, peer),
};

/** Claims every first message, so that a client of another version learns the served one. */
export const onlyDraftDialect: HostDialect = {
	...draftDialect,
	claims: (value) => readEnvelope(value, acpRules).kind === "request",
};
