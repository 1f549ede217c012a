// Kimi Wire, described.

import * as content from "../../src/api/values/content.ts";
import { mcpServerStatusSchema, mcpStatusSchema } from "../../src/api/values/event.ts";
import { history, sinceOf, undocumented } from "../../src/formats/history.ts";
import { nestedMessageSchema } from "../../src/formats/message.ts";
import { protocolVersion } from "../../src/formats/protocol-version.ts";
import { envelopeRules } from "../../src/frontends/kimi/envelope.ts";
import { errorNumbers } from "../../src/frontends/kimi/errors.ts";
import { kimiWireTexts } from "../../src/frontends/kimi/protocol.texts.ts";
import { kimiProtocol } from "../../src/frontends/kimi/protocol.ts";
import * as wire from "../../src/frontends/kimi/wire.ts";
import { blockValues, partValues, questionValues } from "./content-values.ts";
import { numberedErrors, type ProtocolDescription, typedMessage } from "./description.ts";

const introduction = `
JSON-RPC 2.0, one JSON object per line, UTF-8, on stdin and stdout of \`agentwire --wire\`; a link to the program called
\`kimi\` or \`kimi-agent\` needs no flag. [schema/kimi-wire.json](../../../schema/kimi-wire.json) has the same as JSON Schema. This
is version ${protocolVersion}.

\`\`\`
→ {"jsonrpc":"2.0","id":"1","method":"prompt","params":{"user_input":"Say hello"}}
← {"jsonrpc":"2.0","method":"event","params":{"type":"TurnBegin","payload":{"user_input":"Say hello"}}}
← {"jsonrpc":"2.0","method":"event","params":{"type":"StepBegin","payload":{"n":1}}}
← {"jsonrpc":"2.0","method":"event","params":{"type":"ContentPart","payload":{"type":"text","text":"Hello."}}}
← {"jsonrpc":"2.0","method":"event","params":{"type":"TurnEnd","payload":{}}}
← {"jsonrpc":"2.0","id":"1","result":{"status":"finished"}}
\`\`\`

- **Ids** are strings. A reply has the id of its request; client and server choose their ids independently. The client may omit
  \`"jsonrpc"\`. Unknown keys are ignored.
- **The client calls** [methods](#methods). A method without an id has no effect, except \`event\`.
- **The server sends** [events](#events): notifications of the method \`event\` with \`{"type", "payload"}\` as params.
- **The server sends** [requests](#requests) of the method \`request\`, again with \`{"type", "payload"}\`. The client replies with a
  result or an error. Only the first reply counts.
- **The server omits nothing**: a field without a value is null, unless its type says that it may be absent. A client may omit every
  field that the "If absent" column does not mark as required.
- **Since** is the version whose document first names something; a field without a version came with its message. *Undocumented*
  messages are in no document, although servers send them.
`;

const order = `
## Order

Events are sent in the order in which things happen, and all events of a turn before the response to its prompt. The response to
\`cancel\` comes before its effects. Responses to other requests may come at any time. \`TurnBegin\` is the first event of a turn,
except for the hooks of its prompt; \`TurnEnd\` is the last. The \`ApprovalResponse\` of a call follows its \`ApprovalRequest\` and
precedes its \`ToolResult\`. Several requests may be open; they may be answered in any order.
`;

const olderClients = `
## Older clients

The version that a client declares switches nothing off. To serve a client made for an older version, use a setting in
[\`[agentwire]\`](../configuration.md#agentwire) or an environment variable:

| Setting | Variable | Effect |
| --- | --- | --- |
| \`max_events = "1.2"\` | \`AGENTWIRE_EVENTS=1.2\` | A cap on events: only messages that the document of this version names are sent, also those of subagents and in a replay. Undocumented messages are not sent under any cap. Requests that need an answer are still sent, and fields stay as they are. |
| \`typed_parts = true\` | \`AGENTWIRE_TYPED_PARTS=1\` | \`TextPart\`, \`ThinkPart\`, \`ImageURLPart\`, \`AudioURLPart\` and \`VideoURLPart\` instead of \`ContentPart\`. |
| \`former_names = true\` | \`AGENTWIRE_FORMER_NAMES=1\` | \`ApprovalRequestResolved\` instead of \`ApprovalResponse\`. The cap 1.0 implies it. |
| \`exact_approvals = true\` | \`AGENTWIRE_EXACT_APPROVALS=1\` | The \`display\` of an \`ApprovalRequest\` lacks the \`brief\` block that says what an approval for the session covers. |

No setting is needed to answer approvals by [\`event\`](#event) or to omit \`initialize\`. A \`SubagentEvent\` has
\`task_tool_call_id\` in addition to \`parent_tool_call_id\` for clients that declare a version below 1.6 or send no \`initialize\`, and
under a cap below 1.6. Logs of every version can be replayed.
`;

/** What each version brought, from its history. */
function versions(): string {
	const rows = history.map(({ version, methods, messages, fields, errors, renamed }) => {
		const names = [...methods, ...messages, ...fields, ...errors].map((what) => `\`${what}\``);
		const changes = Object.entries(renamed).map(([former, name]) => `\`${former}\` is called \`${name}\``);
		return `| ${version} | ${[...names, ...changes].join(", ")} |`;
	});
	return ["## Versions", "", "| Version | Added |", "| --- | --- |", ...rows].join("\n");
}

export const kimiWire: ProtocolDescription = {
	name: "kimi-wire",
	title: "Kimi Wire",
	introduction,
	closing: [order, olderClients, versions()].map((part) => part.trim()).join("\n\n"),
	protocol: kimiProtocol,
	carry: { event: typedMessage("event"), request: typedMessage("request") },
	rules: envelopeRules,
	errors: numberedErrors(envelopeRules, errorNumbers),
	errorData: null,
	values: {
		UserInput: { schema: content.userInputSchema },
		...partValues,
		ClientInfo: { schema: wire.clientInfoSchema },
		ExternalTool: { schema: wire.externalToolSchema },
		ClientCapabilities: { schema: wire.clientCapabilitiesSchema },
		HookSubscription: { schema: wire.hookSubscriptionSchema },
		ServerInfo: { schema: wire.serverInfoSchema },
		SlashCommand: { schema: wire.slashCommandSchema },
		ExternalToolsResult: { schema: wire.externalToolsResultSchema },
		HooksInfo: { schema: wire.hooksInfoSchema },
		TokenUsage: { schema: content.tokenUsageSchema },
		McpStatus: { schema: mcpStatusSchema },
		McpServerStatus: { schema: mcpServerStatusSchema },
		ToolReturnValue: { schema: content.toolReturnSchema, fromClient: wire.clientToolReturnSchema },
		...blockValues,
		...questionValues,
		NestedMessage: { schema: nestedMessageSchema },
	},
	sinceOf: (what) => (undocumented.includes(String(what)) ? "undocumented" : sinceOf(what)),
	texts: kimiWireTexts,
};
