import { readEnvelope } from "../../ports/rpc/envelope.ts";
import type { HostDialect, SharedConnection } from "../shared/dialect.ts";
import { AcpConnection } from "./connection.ts";
import { acpRules } from "./envelope.ts";

export const acpDialect = {
	name: "acp",
	rules: acpRules,
	/** The only dialect offered, so it claims everything. */
	claims: (value) => readEnvelope(value, acpRules).kind === "request",
	converse: (kernelApi, peer): SharedConnection => new AcpConnection(kernelApi, peer),
} satisfies HostDialect;
