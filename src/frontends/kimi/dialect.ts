// Kimi Wire, all versions: the declared version does not change what a client receives (wire-protocol §2.2).
import { isRecord } from "../../base/json.ts";
import { readEnvelope } from "../../ports/rpc/envelope.ts";
import type { Dialect, SharedConnection } from "../shared/dialect.ts";
import { envelopeRules } from "./envelope.ts";
import { KimiConnection } from "./methods.ts";

const handshakeKeys = ["protocol_version", "client", "external_tools", "capabilities", "hooks"];
const otherMethods: ReadonlySet<string> = new Set(["prompt", "steer", "replay", "set_plan_mode", "cancel"]);

export const kimiDialect = {
	name: "kimi",
	rules: envelopeRules,
	/** By method name; an `initialize` without any handshake key belongs to another protocol (§7.4). */
	claims(value) {
		const incoming = readEnvelope(value, envelopeRules);
		if (incoming.kind !== "request") return false;
		const { method, params } = incoming;
		return (
			otherMethods.has(method) ||
			(method === "initialize" && isRecord(params) && handshakeKeys.some((key) => key in params))
		);
	},
	converse: (kernelApi, peer): SharedConnection => new KimiConnection(kernelApi, peer),
} satisfies Dialect;
