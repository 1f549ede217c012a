// stream-json, described as far as its shape fits: it is not JSON-RPC, so it has a document but no JSON Schema.

import { claudeTexts } from "../../src/frontends/claude/protocol.texts.ts";
import { claudeProtocol, refusedRequests } from "../../src/frontends/claude/protocol.ts";
import { protocolRelease } from "../../src/frontends/claude/version.ts";
import * as wire from "../../src/frontends/claude/wire.ts";
import type { DocumentDescription } from "./description.ts";

const introduction = `
The protocol between Claude's SDKs and the program they start: one JSON object per line, UTF-8, on stdin and stdout of
\`agentwire claude --input-format stream-json --output-format stream-json\`, as release ${protocolRelease} has it.
[guides/claude-sdk.md](../../guides/claude-sdk.md) shows how to use it.

\`\`\`
→ {"type":"control_request","request_id":"1","request":{"subtype":"initialize","hooks":null}}
← {"type":"control_response","response":{"subtype":"success","request_id":"1","response":{"commands":[],…}}}
→ {"type":"user","message":{"role":"user","content":"Say hello"},"parent_tool_use_id":null}
← {"type":"system","subtype":"init","session_id":"…","model":"…","tools":["Bash",…],…}
← {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Hello."}],…},…}
← {"type":"result","subtype":"success","result":"Hello.","num_turns":1,…}
\`\`\`

- **Prompts** are lines of type \`user\`; see [UserFrame](#userframe). Each has one turn and one \`result\`; prompts that come while a turn
  runs wait for it.
- **Control requests** travel in both directions: \`control_request\` with a \`request_id\`, and \`control_response\` with the same id.
  The request's \`subtype\` is its name. \`control_cancel_request\` withdraws a request of the server.
- **At the end of stdin** pending prompts are still answered; then the process ends. Open requests of the server count as
  refused.
- **\`can_use_tool\` is sent only** with \`--permission-prompt-tool stdio\`. Without it, calls that need an approval are refused.
`;

const closing = `
## Messages

| Message | When |
| --- | --- |
| \`system\` / \`init\` | A turn begins: session, directory, model, tools, MCP servers, permission mode. |
| \`assistant\` | A complete text, a piece of reasoning, or a tool call: one block each. |
| \`user\` | The result of a tool call. |
| \`stream_event\` | A piece of the answer, with \`--include-partial-messages\`. |
| \`system\` / \`api_retry\` | A model call failed and is repeated. |
| \`system\` / \`compact_boundary\` | The context was summarized. |
| \`system\` / \`task_notification\` | A background task ended. |
| \`result\` | The turn is over: \`success\`, \`error_during_execution\`, \`error_max_turns\`, \`error_max_budget_usd\` or \`error_max_structured_output_retries\`, with usage, cost, denied calls and the structured output. |

## Control requests that are refused

Each is answered with an error that names it: ${refusedRequests.map((name) => `\`${name}\``).join(", ")}.
`;

export const claude: DocumentDescription = {
	name: "claude",
	title: "stream-json of Claude's SDKs",
	introduction,
	closing,
	protocol: claudeProtocol,
	errors: [],
	errorData: null,
	values: {
		UserFrame: { schema: wire.userFrameSchema },
		TextBlock: { schema: wire.textBlockSchema },
		ImageBlock: { schema: wire.imageBlockSchema },
		HookMatcher: { schema: wire.hookMatcherSchema },
		PermissionUpdate: { schema: wire.permissionUpdateSchema },
		PermissionRule: { schema: wire.permissionRuleSchema },
	},
	sinceOf: null,
	texts: claudeTexts,
};
