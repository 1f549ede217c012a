// The app-server protocol of Codex: many threads over one connection.
import { readEnvelope } from "../../ports/rpc/envelope.ts";
import type { HostDialect, SharedConnection } from "../shared/dialect.ts";
import { CodexConnection } from "./connection.ts";
import { codexRules } from "./envelope.ts";
import type { CodexPlace } from "./threads.ts";

export function createCodexDialect(place: CodexPlace): HostDialect {
	return {
		name: "codex",
		rules: codexRules,
		/** It is offered alone, so that whatever is sent is meant for it. */
		claims: (value) => readEnvelope(value, codexRules).kind === "request",
		converse: (kernelApi, peer): SharedConnection => new CodexConnection(kernelApi, peer, place),
	};
}
