// Meerkat RPC, described: both eras in one document.
import { defaultContract } from "../../src/base/contract-version.ts";
import { configSchema, configViewSchema } from "../../src/frontends/meerkat/configuration/config-view.ts";
import { createRules } from "../../src/frontends/meerkat/envelope.ts";
import { errorNumbers } from "../../src/frontends/meerkat/errors.ts";
import { meerkatTexts } from "../../src/frontends/meerkat/protocol.texts.ts";
import { meerkatProtocol } from "../../src/frontends/meerkat/protocol.ts";
import { providerParamsSchema, providerTagSchema } from "../../src/frontends/meerkat/turns/provider-params.ts";
import { toolOverlaySchema } from "../../src/frontends/meerkat/turns/turn-fields.ts";
import { imageBlockSchema, textBlockSchema } from "../../src/frontends/meerkat/wire/blocks.ts";
import {
	accountingSchema,
	countedUsageSchema,
	eventEnvelopeSchema,
	eventUsageSchema,
	seedEvents,
} from "../../src/frontends/meerkat/wire/wire-events.ts";
import * as history from "../../src/frontends/meerkat/wire/wire-history.ts";
import * as hooks from "../../src/frontends/meerkat/wire/wire-hooks.ts";
import { skillKeySchema, skillRefSchema } from "../../src/frontends/meerkat/wire/wire-skills.ts";
import * as wire from "../../src/frontends/meerkat/wire.ts";
import { blockValues, partValues, questionValues } from "./content-values.ts";
import type { Carried, ProtocolDescription } from "./description.ts";
import type { JsonSchema } from "./json-schema.ts";

/** The first contract with the shapes of the second set. */
const shortVersion = "0.8";
const contractVersion = `${defaultContract.major}.${defaultContract.minor}`;

const introduction = `
JSON-RPC 2.0, one JSON object per line, UTF-8, on stdin and stdout of \`agentwire rpc\`. [meerkat.md](../../guides/meerkat.md) describes its
purpose and behavior; [schema/meerkat.json](../../../schema/meerkat.json) has the same as JSON Schema.

\`\`\`
→ {"jsonrpc":"2.0","id":1,"method":"session/create","params":{"prompt":"Say hello"}}
← {"jsonrpc":"2.0","method":"session/event","params":{"session_id":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","event":{"type":"run_started","session_id":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","prompt":"Say hello"}}}
← {"jsonrpc":"2.0","method":"session/event","params":{"session_id":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","event":{"type":"turn_started","turn_number":0}}}
← {"jsonrpc":"2.0","method":"session/event","params":{"session_id":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","event":{"type":"text_delta","delta":"Hello."}}}
← {"jsonrpc":"2.0","method":"session/event","params":{"session_id":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","event":{"type":"text_complete","content":"Hello."}}}
← {"jsonrpc":"2.0","method":"session/event","params":{"session_id":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","event":{"type":"turn_completed","stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":2,"cache_creation_tokens":null,"cache_read_tokens":null}}}}
← {"jsonrpc":"2.0","method":"session/event","params":{"session_id":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","event":{"type":"run_completed","session_id":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","result":"Hello.","usage":{"input_tokens":9,"output_tokens":2,"cache_creation_tokens":null,"cache_read_tokens":null}}}}
← {"jsonrpc":"2.0","id":1,"result":{"session_id":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55","text":"Hello.","turns":1,"tool_calls":0,"usage":{"input_tokens":9,"output_tokens":2}}}
\`\`\`

- **Ids** of requests are strings or 64-bit integers, returned digit for digit; the server's own ids are strings. Client and server
  choose their ids independently. \`"jsonrpc":"2.0"\` is required. Batches and positional params are not supported.
- **The client calls** [methods](#methods), in any order. A method without an id has no effect. Unknown params are ignored.
- **The server sends** [events](#events): notifications of the method \`session/event\` with \`session_id\` and the \`event\` itself.
- **The server sends** [requests](#requests), each a method. The client replies with a result or an error. Only the first reply counts.
- **There are two sets of shapes.** A connection begins with those of the first protocol. From [\`capabilities/get\`](#capabilitiesget)
  on it has those of the present contract, ${contractVersion}: \`event\` is an [envelope](#eventenvelope) with the event as its
  \`payload\`, errors have other [numbers](#errors), and if a result has two forms, the second is used. **Since** ${shortVersion}
  marks everything that exists only then.
`;

const order = `
## Order

Events of a session are sent in the order in which things happen, and all events of a run before the response to its request. The
response to \`turn/interrupt\` comes before its effects. Requests for one session take effect in the order in which they arrive;
sessions never wait for each other, and responses come in the order in which the work is done. Several requests of the server may be
open; they may be answered in any order.
`;

/** What exists only in the shapes of the present contract. */
const ofContract: ReadonlySet<string | number> = new Set([
	"reasoning_delta",
	"reasoning_complete",
	"RunStarted.input",
	"HookFailed.reason",
	"RunStarted.identity",
	"RunCompleted.extraction_required",
	"RunCompleted.identity",
	"RunFailed.identity",
	"Retrying.retry",
	...["TurnStarted", "TextDelta", "TextComplete", "TurnCompleted", "Retrying", "RunCompleted"].map(
		(name) => `${name}.assistant_message_id`,
	),
	"SessionCreateParams.shell_env",
	"TurnStartParams.model",
	"TurnStartParams.provider",
	"extraction_succeeded",
	"extraction_failed",
	"skills_resolved",
	"tool_config_changed",
	"skill_resolution_failed",
	"SessionCreateParams.preload_skills",
	...["SessionCreateParams", "TurnStartParams"].map((name) => `${name}.skill_refs`),
	...["injected_context", "additional_instructions", "provider_params"].flatMap((name) => [
		`SessionCreateParams.${name}`,
		`TurnStartParams.${name}`,
	]),
	"SessionCreateParams.output_schema",
	"SessionCreateParams.structured_output_retries",
	"TurnStartParams.system_prompt",
	"TurnStartParams.turn_tool_overlay",
	"TurnStartResult.structured_output",
	"TurnStartResult.extraction_error",
	"SessionListParams.labels",
	...["SessionCreateResult", "SessionHistoryResult", "TurnStartResult"].map((name) => `${name}.session_ref`),
	"TurnStartResult.skill_diagnostics",
	"ToolExecute.dedupe_key",
	"ErrorData.error",
	...["UserMessage", "AssistantMessage", "ResultsMessage"].flatMap((name) => [
		`${name}.interaction_id`,
		`${name}.run_id`,
	]),
	"RunFailed.terminal_cause_kind",
	"ConfigSetParams.expected_generation",
	"ConfigPatchParams.expected_generation",
	"TurnStartResult.run_usage",
	"TurnStartResult.request_usage",
	"AssistantMessage.assistant_message_id",
	"TurnInterruptResult.session_id",
	"TurnInterruptResult.result",
	"SessionListParams.limit",
	"SessionListParams.offset",
	"Usage.total_tokens",
	"ToolExecutionCompleted.content",
	"ToolResultReceived.content",
	"RunFailed.error_class",
	"RunFailed.error_report",
	...["ConfigGetResult", "ConfigSetResult", "ConfigPatchResult"].flatMap((name) => [
		`${name}.config`,
		`${name}.generation`,
		`${name}.realm_id`,
		`${name}.instance_id`,
		`${name}.backend`,
	]),
]);

/** An event as it is, in the first protocol, and in its envelope; and what a stream has in addition. */
const event: Carried = (type, payload) => {
	const whole: JsonSchema = payload ?? {};
	if (type === "stream_end") return { method: { const: "session/stream_end" }, params: whole };
	const enveloped: JsonSchema = { $ref: "#/$defs/EventEnvelope", properties: { payload: whole } };
	const own = { session_id: { type: "string" }, event: type in seedEvents ? { anyOf: [whole, enveloped] } : enveloped };
	const streamed = { stream_id: { type: "string" }, sequence: { type: "integer" } };
	const params = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
		type: "object",
		properties,
		required: Object.keys(properties),
		additionalProperties: false,
	});
	return {
		method: { enum: ["session/event", "session/stream_event"] },
		params: { anyOf: [params(own), params({ ...streamed, ...own })] },
	};
};

export const meerkat: ProtocolDescription = {
	name: "meerkat",
	title: "Meerkat RPC",
	introduction,
	closing: order,
	protocol: meerkatProtocol,
	carry: { event, request: (method, params) => ({ method: { const: method }, params: params ?? {} }) },
	rules: createRules(() => "seed"),
	errors: Object.entries(errorNumbers).map(([name, { seed, contract }]) => ({
		name,
		numbers: { first: seed, contract },
	})),
	errorData: wire.errorDataSchema,
	values: {
		EventEnvelope: { schema: eventEnvelopeSchema },
		EventUsage: { schema: eventUsageSchema },
		CountedUsage: { schema: countedUsageSchema },
		RequestUsage: { schema: wire.requestUsageSchema },
		Accounting: { schema: accountingSchema },
		Usage: { schema: wire.usageSchema },
		Capability: { schema: wire.capabilitySchema },
		ToolDeclaration: { schema: wire.toolDeclarationSchema },
		SessionState: { schema: wire.sessionStateSchema },
		SessionSummary: { schema: wire.sessionSummarySchema },
		SessionDetails: { schema: wire.sessionDetailsSchema },
		TextBlock: { schema: textBlockSchema },
		ImageBlock: { schema: imageBlockSchema },
		ProviderParams: { schema: providerParamsSchema },
		ProviderTag: { schema: providerTagSchema },
		ToolOverlay: { schema: toolOverlaySchema },
		SkillKey: { schema: skillKeySchema },
		SkillRef: { schema: skillRefSchema },
		HooksOverride: { schema: hooks.hooksOverrideSchema },
		HookEntry: { schema: hooks.hookEntrySchema },
		HookCommand: { schema: hooks.hookRuntimes.command.pipe[1] },
		HookRequest: { schema: hooks.hookRuntimes.http.pipe[1] },
		Labels: { schema: wire.labelsSchema },
		CatalogProvider: { schema: wire.catalogProviderSchema },
		BudgetLimits: { schema: wire.budgetLimitsSchema },
		HistoryMessage: { schema: history.historyMessageSchema },
		SystemMessage: { schema: history.systemMessageSchema },
		UserMessage: { schema: history.userMessageSchema },
		AssistantMessage: { schema: history.assistantMessageSchema },
		ResultsMessage: { schema: history.resultsMessageSchema },
		TextAnswer: { schema: history.textAnswerSchema },
		ReasoningAnswer: { schema: history.reasoningAnswerSchema },
		ToolUseAnswer: { schema: history.toolUseAnswerSchema },
		ToolOutcome: { schema: history.toolOutcomeSchema },
		Config: { schema: configViewSchema, fromClient: configSchema },
		...partValues,
		...blockValues,
		...questionValues,
	},
	sinceOf: (what) => (ofContract.has(what) ? shortVersion : null),
	texts: meerkatTexts,
};
