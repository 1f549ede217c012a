// Kimi Wire, described.
import { envelopeRules } from "../../src/dialects/kimi/envelope.ts";
import { errorNumbers } from "../../src/dialects/kimi/errors.ts";
import { kimiProtocol } from "../../src/dialects/kimi/protocol.ts";
import * as wire from "../../src/dialects/kimi/wire.ts";
import * as content from "../../src/events/content.ts";
import { mcpServerStatusSchema, mcpStatusSchema } from "../../src/events/event.ts";
import { history, sinceOf, undocumented } from "../../src/messages/history.ts";
import { nestedMessageSchema } from "../../src/messages/message.ts";
import { protocolVersion } from "../../src/messages/protocol-version.ts";
import { blockValues, partValues, questionValues } from "./content-values.ts";
import { numberedErrors, type ProtocolDescription, typedMessage } from "./description.ts";
import { kimiWireTexts } from "./kimi-wire-texts.ts";

const introduction = `
JSON-RPC 2.0, one JSON object a line, UTF-8, on stdin and stdout of \`agentwire --wire\`; a link to the program called
\`kimi\` or \`kimi-agent\` needs no flag. The same as JSON Schema is in
[schema/kimi-wire.json](../../schema/kimi-wire.json). This is version ${protocolVersion}.

\`\`\`
→ {"jsonrpc":"2.0","id":"1","method":"prompt","params":{"user_input":"Say hello"}}
← {"jsonrpc":"2.0","method":"event","params":{"type":"TurnBegin","payload":{"user_input":"Say hello"}}}
← {"jsonrpc":"2.0","method":"event","params":{"type":"StepBegin","payload":{"n":1}}}
← {"jsonrpc":"2.0","method":"event","params":{"type":"ContentPart","payload":{"type":"text","text":"Hello."}}}
← {"jsonrpc":"2.0","method":"event","params":{"type":"TurnEnd","payload":{}}}
← {"jsonrpc":"2.0","id":"1","result":{"status":"finished"}}
\`\`\`

- **Ids** are strings. A reply bears the id of its request; the ids of both sides are apart. \`"jsonrpc"\` may be left out by
  the client, and keys that nobody knows are ignored.
- **The client calls** [methods](#methods). A method without an id does nothing, but for \`event\`.
- **The server tells** [events](#events): notifications of the method \`event\` with \`{"type", "payload"}\` as params.
- **The server asks** by [requests](#requests) of the method \`request\`, again with \`{"type", "payload"}\`. The client replies
  with a result, or with an error. The first reply counts.
- **The server leaves nothing out**: a field without a value is null, unless it is said that it may be absent. A client may
  leave out what has an entry under "If absent".
- **Since** is the version whose document first names something; a field without one came with what it is a field of.
  *Undocumented* is what none of them names, although servers send it.
`;

const order = `
## Order

Events come in the order in which things happen, and all those of a turn come before the answer to its prompt. The answer
to \`cancel\` comes before what it causes. Answers to other requests may come at any time. \`TurnBegin\` is the first event of
a turn, but for hooks of its prompt; \`TurnEnd\` is the last. An approval is told before it is answered, and answered before
the result of its call. Several requests may be open; they may be answered in any order.
`;

const olderClients = `
## Older clients

A version that a client declares switches nothing off. What helps a client that was made for an older version is asked for,
by a setting in [\`[agentwire]\`](../configuration.md#agentwire) or by a variable of the environment:

| Setting | Variable | Effect |
| --- | --- | --- |
| \`max_events = "1.2"\` | \`AGENTWIRE_EVENTS=1.2\` | Only messages that the document of this version names are told, of subagents and in a replay too. Undocumented ones are told under no such cap. Requests that wait for an answer are sent all the same, and fields are left as they are. |
| \`typed_parts = true\` | \`AGENTWIRE_TYPED_PARTS=1\` | \`TextPart\`, \`ThinkPart\`, \`ImageURLPart\`, \`AudioURLPart\` and \`VideoURLPart\` instead of \`ContentPart\`. |
| \`former_names = true\` | \`AGENTWIRE_FORMER_NAMES=1\` | \`ApprovalRequestResolved\` instead of \`ApprovalResponse\`. So it is under the cap 1.0 anyway. |

Nothing needs to be asked for to answer approvals by [\`event\`](#event), to leave out the handshake, or to have
\`task_tool_call_id\` in a \`SubagentEvent\`: it is there, besides \`parent_tool_call_id\`, for clients that declare a version
below 1.6 or make no handshake, and under a cap below 1.6. Logs of every version can be replayed.
`;

/** What each version brought, from its history. */
function versions(): string {
	const rows = history.map(({ version, methods, messages, fields, errors, renamed }) => {
		const names = [...methods, ...messages, ...fields, ...errors].map((what) => `\`${what}\``);
		const changes = Object.entries(renamed).map(([former, name]) => `\`${former}\` is called \`${name}\``);
		return `| ${version} | ${[...names, ...changes].join(", ")} |`;
	});
	return ["## Versions", "", "| Version | Brought |", "| --- | --- |", ...rows].join("\n");
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
