import type { Peer } from "../../ports/rpc/connection.ts";
import { readEnvelope } from "../../ports/rpc/envelope.ts";
import type { HostApi, HostDialect, SharedConnection } from "../shared/dialect.ts";
import { CodexConnection } from "./connection.ts";
import { codexRules } from "./envelope.ts";
import type { CodexPlace } from "./threads.ts";

export function createCodexDialect(place: CodexPlace) {
	return {
		name: "codex",
		rules: codexRules,
		/** Offered alone, so every first message belongs to it. */
		claims: (value: unknown) => readEnvelope(value, codexRules).kind === "request",
		converse: (kernelApi: HostApi, peer: Peer): SharedConnection => new CodexConnection(kernelApi, peer, place),
	} satisfies HostDialect;
}
