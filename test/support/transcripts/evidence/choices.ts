// What shows how a connection chooses its dialect, and what older clients are delivered.

const lines = String.raw;

/** Kimi Wire: methods of the other dialect are unknown, errors carry data, a blank line is answered. */
const isKimi = lines`
	→ run & "id":"{x}"
	←! "id":"{x}","error":{"code":-32601,"message":"Unexpected method received: run","data":null}
	→raw "\n"
	←! "id":null,"error":{"code":-32700`;

/** By the rows of wire-protocol §7.4. */
export const choiceProofs = {
	run: lines`→ run & "id":"{r}"
		← step_begin
		← "id":"{r}","result"
		→ prompt & "id":"{x}"
		←! "id":"{x}","error":{"code":-32601,"message":"Unknown method: prompt"}`,
	interrupt: lines`→ interrupt & "id":"{i}"
		←! "id":"{i}","result":{"status":"idle"}
		→raw "\n"
		nothing
		→ initialize & "id":"{x}"
		←! "id":"{x}","error":{"code":-32601,"message":"Unknown method: initialize"}`,
	initialize: lines`→ initialize & "id":"{i}"
		←! "id":"{i}","result"
		${isKimi}`,
	prompt: lines`→ prompt
		←! TurnBegin
		← =finished
		${isKimi}`,
	cancel: lines`→ cancel & "id":"{k}"
		←! "id":"{k}","error":{"code":-32000
		${isKimi}`,
	replay: lines`→ replay & "id":"{r}"
		←! "id":"{r}","result"
		${isKimi}`,
	steer: lines`→ steer & "id":"{s}"
		←! "id":"{s}","error":{"code":-32000
		${isKimi}`,
	set_plan_mode: lines`→ set_plan_mode & "id":"{s}"
		← "id":"{s}","result"
		${isKimi}`,
	"malformed-then-run": lines`→= {not-json}
		←! "id":null,"error":{"code":-32700
		→= []
		←! "id":null,"error":{"code":-32600
		→ run & "id":"{r}"
		← step_begin
		← "id":"{r}","result"`,
	"unknown-then-run": lines`→ "id":"{x}","method":"fly"
		←! "id":"{x}","error":{"code":-32601,"message":"Unexpected method received: fly","data":null}
		→ run & "id":"{r}"
		← step_begin
		← "id":"{r}","result"
		→ "id":"{x}","method":"fly"
		←! "id":"{x}","error":{"code":-32601,"message":"Unknown method: fly"}`,
};

const hooksAndRetries = lines`≡ "hooks":[
	≡ error: 503`;
const deliveredInVersionTwo = lines`
	no ← HookTriggered
	← ApprovalResponse
	no ← HookResolved
	← ToolResult
	no ← StepRetry
	← TurnEnd
	←! =finished`;
const deliveredByKind = lines`
	no ← ContentPart
	← ThinkPart & "payload":{"type":"think"
	← TextPart & "payload":{"type":"text"
	← ImageURLPart & "payload":{"type":"image_url"
	← AudioURLPart & "payload":{"type":"audio_url"
	← VideoURLPart & "payload":{"type":"video_url"
	no ← ContentPart
	← TurnEnd`;
const formerly = lines`← ApprovalRequest & "id":"{ask}"
	→ "method":"event" & "type":"ApprovalRequestResolved","payload":{"request_id":"{ask}"
	←! ApprovalRequestResolved & "request_id":"{ask}"
	no ← ApprovalResponse
	← TurnEnd`;

/** By the rows of wire-protocol §7.4 on older clients, and the extra field. */
export const olderProofs = {
	"max-events": lines`≡ agentwire: {"max_events":"1.2"}
		${hooksAndRetries}
		${deliveredInVersionTwo}`,
	"max-events-environment": lines`≡ environment: {"AGENTWIRE_EVENTS":"1.2"}
		≡ "max_events":"1.10"
		${hooksAndRetries}
		${deliveredInVersionTwo}`,
	"max-events-replay": lines`≡ agentwire: {"max_events":"1.2"}
		${hooksAndRetries}
		→ replay & "id":"{r}"
		no ← "type":"Hook
		←! TurnBegin
		no ← StepRetry
		← TurnEnd
		←! "id":"{r}","result":{"status":"finished","events":10,"requests":0}`,
	"max-events-first": lines`≡ agentwire: {"max_events":"1.0"}
		${hooksAndRetries}
		no ← ApprovalResponse
		← ApprovalRequestResolved
		no ← TurnEnd
		← =finished`,
	"max-events-cancelled": lines`≡ agentwire: {"max_events":"1.0"}
		← ApprovalRequest & "id":"{ask}"
		→ cancel & "id":"{k}"
		←! "id":"{k}","result":{}
		←! ApprovalRequestResolved & "request_id":"{ask}","response":"reject"
		←! =cancelled`,
	"max-events-requests": lines`≡ agentwire: {"max_events":"1.2"}
		← QuestionRequest & "id":"{ask}"
		→ "id":"{ask}","result"
		← ToolResult & User answered
		← =finished
		→ replay & "id":"{r}"
		no ← QuestionRequest
		← "id":"{r}","result":{"status":"finished" & "requests":0`,
	"max-events-subagent": lines`≡ "max_events":"1.0"
		≡ error: 503
		← SubagentEvent & "event":{"type":"TurnBegin"
		no ← "event":{"type":"StepRetry"
		← SubagentEvent & "event":{"type":"StatusUpdate"
		no ← "event":{"type":"TurnEnd"
		← ToolResult
		no ← TurnEnd
		← =finished`,
	"typed-parts": lines`≡ agentwire: {"typed_parts":true}
		${deliveredByKind}`,
	"typed-parts-environment": lines`≡ environment: {"AGENTWIRE_TYPED_PARTS":"1"}
		${deliveredByKind}`,
	"typed-parts-subagent": lines`≡ "typed_parts":true
		no ← "type":"ContentPart"
		← SubagentEvent & "event":{"type":"TextPart"
		no ← "type":"ContentPart"
		← TextPart
		← =finished`,
	"former-names": lines`≡ agentwire: {"former_names":true}
		${formerly}`,
	"former-names-environment": lines`≡ environment: {"AGENTWIRE_FORMER_NAMES":"on"}
		${formerly}`,
	"exact-approvals": lines`≡ agentwire: {"exact_approvals":true}
		← ApprovalRequest & "command":"touch ran"}]}}
		← =finished`,
	"declared-before-1.6": lines`→ initialize & "protocol_version":"1.5"
		no ← SubagentEvent & !"task_tool_call_id":"P"
		← SubagentEvent & "parent_tool_call_id":"P" & "task_tool_call_id":"P"
		no ← SubagentEvent & !"task_tool_call_id":"P"
		← =finished
		→ replay
		no ← SubagentEvent & !"task_tool_call_id":"P"
		← SubagentEvent & "parent_tool_call_id":"P" & "task_tool_call_id":"P"
		no ← SubagentEvent & !"task_tool_call_id":"P"
		← =finished`,
	"declared-1.6": lines`→ initialize & "protocol_version":"1.6"
		← SubagentEvent & "parent_tool_call_id":"P"
		no ← "task_tool_call_id"
		→ initialize & "protocol_version":"oldest"
		← SubagentEvent & "parent_tool_call_id":"P"
		no ← "task_tool_call_id"`,
	undeclared: lines`no → initialize
		→ prompt
		no ← SubagentEvent & !"task_tool_call_id":"P"
		← SubagentEvent & "parent_tool_call_id":"P" & "task_tool_call_id":"P"
		no ← SubagentEvent & !"task_tool_call_id":"P"
		← =finished`,
};
