// What shows hooks, those of clients and those of the settings.

const lines = String.raw;

const hook = lines`← HookRequest & "id":"{ask}"`;
const block = lines`→ "id":"{ask}","result":{"request_id":"{ask}","action":"block"`;
const blockedTool = lines`no ← ApprovalRequest
	← ToolResult & "is_error":true & "text":"Hook blocked"`;
const blockedBy = lines`← HookResolved & "action":"block","reason":`;
const allowedTool = lines`← HookTriggered & "event":"PreToolUse"
	← HookResolved & "action":"allow","reason":""
	← ToolResult & "is_error":false`;

/** By wire-protocol §4.12. */
export const hookScenarioProofs = {
	"hook-client-allow": lines`≡ with: yolo
		→ initialize & "hooks":[{"id":"s1","event":"PreToolUse"
		← HookTriggered & "event":"PreToolUse"
		${hook} & "subscription_id":"s1"
		→ "id":"{ask}","result" & "action":"allow"
		←! HookResolved & "action":"allow"
		← ToolResult & "is_error":false`,
	"hook-client-block": lines`${hook} & "event":"PreToolUse"
		${block},"reason":"not today"
		←! HookResolved & "action":"block","reason":"not today"
		${blockedTool} & "message":"not today"
		${hook.replaceAll("ask", "bare")}
		→ "id":"{bare}","result":{"request_id":"{bare}","action":"block"}
		←! HookResolved & "action":"block","reason":""
		${blockedTool} & Blocked by PreToolUse`,
	"hook-subscriptions": lines`→ initialize & "id":"{i}" & "event":"Whatever"
		←! "id":"{i}","result" & "configured":{"Stop":2,"PreToolUse":2}`,
	"hook-repeated-initialize": lines`→ initialize & "hooks":[{"id":"a"
		→ initialize & "id":"{i}" & "hooks":[{"id":"e","event":"UserPromptSubmit"
		←! "id":"{i}","result" & "configured":{"Stop":1,"UserPromptSubmit":1}
		no ← HookRequest & "event":"Stop"
		← HookRequest & "subscription_id":"e"
		no ← HookRequest & "event":"Stop"
		→ initialize & "id":"{j}" & !"hooks"
		←! "id":"{j}","result" & "configured":{"Stop":1}
		no ← HookRequest
		← =finished`,
	"hook-command-exit-2": lines`≡ >&2; exit 2
		${blockedBy}"not today"
		${blockedTool} & "message":"not today"`,
	"hook-command-json": lines`≡ permissionDecision
		${blockedBy}"by rule"
		${blockedTool} & "message":"by rule"`,
	"hook-command-crash": lines`≡ "command":"exit 1"
		${allowedTool}`,
	"hook-command-timeout": lines`≡ "command":"sleep 30","timeout":1
		${allowedTool}`,
	"hook-command-fail-closed": lines`≡ "fail_closed":true
		${blockedBy}"<text:reason>"
		${blockedTool} & <text:reason>`,
	"hook-first-reason": lines`≡ echo one
		≡ echo two
		← HookTriggered & "hook_count":2
		${blockedBy}"one"
		${blockedTool}`,
	"hook-untold": lines`≡ >&2; exit 2
		no ← "type":"Hook
		→ prompt
		no ← "type":"Hook
		← ToolResult & "is_error":true & Hook blocked
		no ← "type":"Hook
		← =finished`,
	"hook-prompt-block": lines`${hook} & "event":"UserPromptSubmit"
		${block},"reason":"Keep it."
		←! HookResolved & "action":"block"
		←! TurnBegin
		←! ContentPart & Keep it.
		←! TurnEnd
		←! =finished
		← ContentPart & Prompt blocked by hook.
		← =finished`,
	"hook-stop-block": lines`${hook} & "event":"Stop" & "stop_hook_active":false
		${block},"reason":"Run the tests."
		←! HookResolved & "action":"block"
		←! StepBegin & "n":1
		no ← TurnBegin
		← TurnEnd
		←! =finished`,
	"hook-stop-cancel": lines`${hook} & "event":"Stop"
		→ cancel & "id":"{k}"
		←! "id":"{k}","result":{}
		←! HookResolved & "event":"Stop"
		←! TurnEnd
		←! =cancelled`,
	"hook-subagent-prompt": lines`← SubagentEvent & "event":{"type":"HookTriggered" & UserPromptSubmit
		← SubagentEvent & "event":{"type":"HookResolved" & "action":"block"
		no ← "event":{"type":"StepBegin"
		← ToolResult & "is_error":true & A hook blocked the prompt
		← =finished`,
	"hook-subagent-stop": lines`← SubagentEvent & "event":{"type":"HookTriggered" & "event":"Stop"
		${hook} & "event":"Stop"
		${block}
		←! SubagentEvent & "event":{"type":"HookResolved" & "action":"block"
		←! SubagentEvent & "event":{"type":"StepBegin"
		no ← "event":{"type":"HookTriggered"
		← SubagentEvent & "event":{"type":"TurnEnd"
		← ToolResult & "is_error":false
		← HookTriggered & "event":"Stop"`,
	"hook-post-tool": lines`← HookTriggered & "event":"PostToolUse"
		${hook} & "tool_output":"hi\n"
		← ToolResult & "is_error":false
		${block}
		← HookResolved & "event":"PostToolUse"
		← TurnEnd
		←! =finished`,
	"hook-post-tool-error": lines`→ initialize & PostToolUseFailure
		no ← HookRequest & "subscription_id":"s2"
		← HookTriggered & "event":"PostToolUse"
		no ← HookRequest & "subscription_id":"s2"
		← ToolResult & "is_error":true
		no ← HookRequest & "subscription_id":"s2"
		← HookResolved & "event":"PostToolUse"
		← =finished`,
	"hook-stop-failure": lines`← StepInterrupted
		←! HookTriggered & "event":"StopFailure","target":"APIStatusError"
		${hook} & "error_type":"APIStatusError"
		→ "id":"{ask}","result"
		←! HookResolved & "event":"StopFailure"
		←! TurnEnd
		←! -32003
		← HookTriggered & "event":"StopFailure","target":"APITimeoutError","hook_count":2`,
	"hook-session": lines`≡ "event":"SessionStart","command"
		≡ "event":"SessionEnd","command"
		no ← "type":"Hook
		→ initialize & "event":"SessionStart" & "event":"SessionEnd"
		no ← "type":"Hook
		until file start.json
		no ← "type":"Hook
		← =finished
		no ← "type":"Hook
		process
		until file end.json
		no ← "type":"Hook
		← =finished`,
};
