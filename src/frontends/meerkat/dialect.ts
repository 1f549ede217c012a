// Meerkat RPC: many sessions over one connection, in the shapes of its first protocol and of its current contract.
import { type ContractVersion, defaultContract } from "../../base/contract-version.ts";
import { isRecord } from "../../base/json.ts";
import { readEnvelope } from "../../ports/rpc/envelope.ts";
import type { HostDialect } from "../shared/dialect.ts";
import { createRules } from "./envelope.ts";
import { MeerkatConnection } from "./methods.ts";
import type { Realm } from "./realm/realm.ts";

const rules = createRules(() => "seed");

const foreignKeys = ["protocol_version", "client", "external_tools", "capabilities", "hooks"];

export function createMeerkatDialect(contract: ContractVersion, realm: Realm | null = null): HostDialect {
	return {
		name: "meerkat",
		rules,
		/** All methods but the handshake have a slash in their name. */
		claims(value) {
			const incoming = readEnvelope(value, rules);
			if (incoming.kind !== "request") return false;
			const { method, params } = incoming;
			if (method !== "initialize") return method.includes("/");
			return !(isRecord(params) && foreignKeys.some((key) => key in params));
		},
		converse: (kernelApi, peer) => new MeerkatConnection(kernelApi, peer, contract, realm),
	};
}

export const meerkatDialect = createMeerkatDialect(defaultContract);
