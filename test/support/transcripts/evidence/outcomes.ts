// What shows the ways in which an interaction of Kimi Wire may end: the request, what the client says to it, and what is delivered of
// it then.

const lines = String.raw;

const approval = lines`← ApprovalRequest & "id":"{ask}"`;
const clientTool = lines`← ToolCallRequest & "id":"{ask}"`;
const question = lines`← QuestionRequest & "id":"{ask}"`;
const hook = lines`← HookRequest & "id":"{ask}"`;
const result = lines`→ "id":"{ask}","result":`;
const error = lines`→ "id":"{ask}","error":{`;

const approved = lines`←! ApprovalResponse & "request_id":"{ask}","response":"approve","feedback":""
	← ToolResult & "is_error":false`;
const rejected = lines`←! ApprovalResponse & "request_id":"{ask}","response":"reject","feedback":""
	← ToolResult & "is_error":true & "text":"Rejected by user"
	no ← StepBegin
	← TurnEnd
	←! =finished`;
const returned = lines`← ToolResult & "tool_call_id":"{ask}","return_value":{"is_error":false,"output":"opened"
	← =finished`;
const noTool = lines`← ToolResult & "tool_call_id":"{ask}","return_value":{"is_error":true & Invalid tool result
	← StepBegin`;
const dismissed = lines`←! ToolResult & "text":"User dismissed"
	← =finished`;
const allowed = lines`←! HookResolved & "action":"allow","reason":""
	← ToolResult & "is_error":false`;
const idle = lines`
	nothing
	→ cancel & "id":"{proof}"
	←! "id":"{proof}","error":{"code":-32000`;
const busy = lines`
	nothing
	→ prompt & "id":"{proof}"
	←! "id":"{proof}","error":{"code":-32000,"message":"An agent turn is already in progress"`;
const cancel = lines`→ cancel & "id":"{k}"
	←! "id":"{k}","result":{}`;
const event = lines`→ "method":"event" & "type":`;

const approvalProofs = {
	"approval/error-reply": lines`${approval}
		${error}
		${rejected}`,
	"approval/malformed-null": lines`${approval}
		${result}null
		${rejected}`,
	"approval/malformed-text": lines`${approval}
		${result}"approve"
		${rejected}`,
	"approval/malformed-list": lines`${approval}
		${result}[]
		${rejected}`,
	"approval/malformed-missing-request-id": lines`${approval}
		${result}{"response":"approve"}
		${rejected}`,
	"approval/malformed-request-id-number": lines`${approval}
		${result}{"request_id":1,"response":"approve"}
		${rejected}`,
	"approval/malformed-missing-response": lines`${approval}
		${result}{"request_id":"{ask}"}
		${rejected}`,
	"approval/malformed-unknown-response": lines`${approval}
		${result}{"request_id":"{ask}","response":"maybe"}
		${rejected}`,
	"approval/malformed-response-number": lines`${approval}
		${result}{"request_id":"{ask}","response":1}
		${rejected}`,
	"approval/malformed-feedback-number": lines`${approval}
		${result}{"request_id":"{ask}","response":"approve","feedback":1}
		${rejected}`,
	"approval/extra-keys": lines`${approval}
		${result}{"request_id":"{ask}","response":"approve","mood"
		${approved}`,
	"approval/mismatched-request-id": lines`${approval}
		${result}{"request_id":"another","response":"approve"}
		${approved}`,
	"approval/envelope-variants": lines`${approval}
		→ "id":"{ask}","result" & !"jsonrpc"
		${approved}
		← ApprovalRequest & "id":"{second}"
		→ "method":null,"id":"{second}","error":null,"result"
		←! ApprovalResponse & "request_id":"{second}","response":"approve"`,
	"approval/wrong-id": lines`${approval}
		→ "id":"wrong","result":{"request_id":"{ask}","response":"approve"}
		nothing
		${result}{"request_id":"{ask}","response":"reject"}
		${rejected}`,
	"approval/duplicate": lines`${approval}
		${result}{"request_id":"{ask}","response":"reject"}
		${result}{"request_id":"{ask}","response":"approve"}
		${rejected}`,
	"approval/late": lines`${approval}
		← ApprovalResponse & "{ask}"
		← =finished
		${result}{"request_id":"{ask}","response":"approve"}
		${idle}`,
	"approval/cancel": lines`${approval}
		${cancel}
		←! ApprovalResponse & "request_id":"{ask}","response":"reject","feedback":""
		no ← ToolResult
		← TurnEnd
		←! =cancelled`,
	"approval/late-after-cancel": lines`${approval}
		${cancel}
		← =cancelled
		${result}{"request_id":"{ask}","response":"approve"}
		${idle}`,
	"approval/end-of-input": lines`${approval}
		close stdin
		←! ApprovalResponse & "request_id":"{ask}","response":"reject","feedback":""
		←! TurnEnd
		←! =cancelled
		exit 0`,
	"approval/end-of-input-several": lines`${approval}
		← ApprovalRequest & "id":"{second}"
		close stdin
		←! ApprovalResponse & "request_id":"{ask}","response":"reject"
		←! ApprovalResponse & "request_id":"{second}","response":"reject"
		←! TurnEnd
		←! =cancelled
		exit 0`,
	"approval/deadline": lines`≡ "approval_timeout"
		${approval}
		no → "{ask}"
		←! ApprovalResponse & "request_id":"{ask}","response":"reject","feedback":"<text
		← ToolResult & "is_error":true & Rejected: <text
		no → any
		← =finished`,
	"approval/event-form": lines`${approval}
		${event}"ApprovalRequestResolved","payload":{"request_id":"{ask}","response":"approve"}
		${approved}`,
	"approval/event-form-later-name": lines`${approval}
		${event}"ApprovalResponse","payload":{"request_id":"{ask}","response":"reject","feedback":"not now"}
		←! ApprovalResponse & "request_id":"{ask}","response":"reject","feedback":"not now"
		←! ToolResult & Rejected: not now`,
	"approval/event-form-malformed": lines`${approval}
		${event}"ApprovalRequestResolved","payload":{"request_id":"unknown","response":"approve"}
		${event}"ApprovalRequestResolved","payload":{"request_id":"{ask}","response":"maybe"}
		${event}"ApprovalRequestResolved","payload":{"request_id":"{ask}"}
		${event}"ApprovalRequestResolved","payload":{"request_id":5,"response":"approve"}
		${event}"ApprovalRequestResolved","payload":null
		${event}"ToolResult","payload":{"request_id":"{ask}","response":"approve"}
		${busy}
		${result}{"request_id":"{ask}","response":"approve"}
		${approved}`,
	// Of an agent in the background, with no turn at all.
	"approval/background": lines`← =finished
		← ApprovalRequest & "id":"{ask}" & "source_kind":"background_agent"
		${result}{"request_id":"{ask}","response":"approve_for_session"
		←! ApprovalResponse & "request_id":"{ask}","response":"approve_for_session"`,
	"approval/background-cancel": lines`← ApprovalRequest & "id":"{ask}" & "source_kind":"background_agent"
		${cancel}
		no ← ApprovalResponse & "request_id":"{ask}"
		← =cancelled
		no ← ApprovalResponse & "request_id":"{ask}"
		${result}
		←! ApprovalResponse & "request_id":"{ask}"`,
	"approval/background-repeated-initialize": lines`← ApprovalRequest & "id":"{ask}" & "source_kind":"background_agent"
		→ initialize & "id":"{i}"
		←! "id":"{i}","result"
		←! ApprovalRequest & "id":"{ask}" & "source_kind":"background_agent"
		${result}
		←! ApprovalResponse & "request_id":"{ask}"`,
	"approval/background-end-of-input": lines`← ApprovalRequest & "id":"{ask}" & "source_kind":"background_agent"
		close stdin
		←! ApprovalResponse & "request_id":"{ask}","response":"reject","feedback":""
		exit 0`,
};

const value = lines`{"tool_call_id":"{ask}","return_value":`;

const clientToolProofs = {
	"client-tool/error-reply": lines`${clientTool}
		→ "id":"{ask}","error":{"code":-1,"message":"no editor is open"
		←! ToolResult & "tool_call_id":"{ask}","return_value":{"is_error":true & "message":"no editor is open"
		← StepBegin
		← =finished`,
	"client-tool/malformed-null": lines`${clientTool}
		${result}null
		${noTool}`,
	"client-tool/malformed-text": lines`${clientTool}
		${result}"opened"
		${noTool}`,
	"client-tool/malformed-missing-tool-call-id": lines`${clientTool}
		${result}{"return_value":{"is_error":false,"output":"opened","message":"","display":[]}}
		${noTool}`,
	"client-tool/malformed-tool-call-id-number": lines`${clientTool}
		${result}{"tool_call_id":1,"return_value":{"is_error":false,"output":"opened","message":"","display":[]}}
		${noTool}`,
	"client-tool/malformed-missing-return-value": lines`${clientTool}
		${result}{"tool_call_id":"{ask}"}
		${noTool}`,
	"client-tool/malformed-missing-is-error": lines`${clientTool}
		${result}${value}{"output":"opened","message":"","display":[]}}
		${noTool}`,
	"client-tool/malformed-missing-output": lines`${clientTool}
		${result}${value}{"is_error":false,"message":"","display":[]}}
		${noTool}`,
	"client-tool/malformed-missing-message": lines`${clientTool}
		${result}${value}{"is_error":false,"output":"opened","display":[]}}
		${noTool}`,
	"client-tool/malformed-missing-display": lines`${clientTool}
		${result}${value}{"is_error":false,"output":"opened","message":""}}
		${noTool}`,
	"client-tool/malformed-is-error-text": lines`${clientTool}
		${result}${value}{"is_error":"no","output":"opened","message":"","display":[]}}
		${noTool}`,
	"client-tool/malformed-unknown-part": lines`${clientTool}
		${result}${value}{"is_error":false,"output":[{"type":"smell"
		${noTool}`,
	"client-tool/malformed-display-text": lines`${clientTool}
		${result}${value}{"is_error":false,"output":"opened","message":"","display":"x"}}
		${noTool}`,
	"client-tool/extra-keys": lines`${clientTool}
		${result} & "mood":"good","return_value" & "display":[],"mood":"good"
		${returned}`,
	"client-tool/mismatched-tool-call-id": lines`${clientTool}
		${result}{"tool_call_id":"other"
		${returned}`,
	"client-tool/wrong-id": lines`${clientTool}
		→ "id":"wrong","result":{"tool_call_id":"{ask}"
		nothing
		${result}
		${returned}`,
	"client-tool/duplicate": lines`${clientTool}
		${result} & "output":"opened"
		${result} & "output":"second"
		${returned}`,
	"client-tool/late": lines`${clientTool}
		← ToolResult & "tool_call_id":"{ask}"
		← =finished
		${result}
		${idle}`,
	"client-tool/cancel": lines`${clientTool}
		${cancel}
		no ← ToolResult
		← TurnEnd
		←! =cancelled`,
	"client-tool/late-after-cancel": lines`${clientTool}
		${cancel}
		← =cancelled
		${result}
		${idle}`,
	"client-tool/end-of-input": lines`${clientTool}
		close stdin
		←! TurnEnd
		←! =cancelled
		exit 0`,
	"client-tool/deadline": lines`≡ "client_tool_timeout"
		${clientTool}
		no → any
		←! ToolResult & "tool_call_id":"{ask}","return_value":{"is_error":true
		no → any
		← =finished`,
};

const questionProofs = {
	"question/empty": lines`${question}
		${result}{"request_id":"{ask}","answers":{}}
		${dismissed}`,
	"question/error-reply": lines`${question}
		${error}
		${dismissed}`,
	"question/malformed-null": lines`${question}
		${result}null
		${dismissed}`,
	"question/malformed-list-value": lines`${question}
		${result}{"request_id":"{ask}","answers":{"Which DB?":["pg"]}}
		${dismissed}`,
	"question/malformed-missing-answers": lines`${question}
		${result}{"request_id":"{ask}"}
		${dismissed}`,
	"question/malformed-missing-request-id": lines`${question}
		${result}{"answers":{"Which DB?":"pg"}}
		${dismissed}`,
	"question/event-form": lines`${question}
		${event}"ApprovalRequestResolved","payload":{"request_id":"{ask}"
		${busy}
		${result}{"request_id":"{ask}","answers":{"Which DB?":"pg"}}
		←! ToolResult & "text":"User answered"`,
	"question/cancel": lines`${question}
		${cancel}
		no ← ToolResult
		← TurnEnd
		←! =cancelled`,
	"question/late-after-cancel": lines`${question}
		${cancel}
		← =cancelled
		${result}
		→ prompt & "id":"{next}"
		←! TurnBegin
		no ← ToolResult
		← "id":"{next}","result":{"status":"finished"}`,
	"question/deadline": lines`≡ "question_timeout"
		${question}
		no → any
		${dismissed}`,
	"question/end-of-input": lines`${question}
		close stdin
		←! TurnEnd
		←! =cancelled
		exit 0`,
};

const hookProofs = {
	"hook/error-reply": lines`${hook}
		${error}
		${allowed}`,
	"hook/malformed-null": lines`${hook}
		${result}null
		${allowed}`,
	"hook/malformed-unknown-action": lines`${hook}
		${result}{"request_id":"{ask}","action":"deny"}
		${allowed}`,
	"hook/malformed-missing-request-id": lines`${hook}
		${result}{"action":"block"}
		${allowed}`,
	"hook/malformed-reason-number": lines`${hook}
		${result}{"request_id":"{ask}","action":"block","reason":5}
		${allowed}`,
	"hook/absent-action": lines`${hook}
		${result}{"request_id":"{ask}"}
		${allowed}`,
	"hook/deadline": lines`→ initialize & "event":"PreToolUse","timeout"
		${hook}
		no → any
		${allowed}`,
	"hook/late": lines`${hook}
		${allowed}
		← =finished
		${result}{"request_id":"{ask}","action":"block"
		→ cancel & "id":"{proof}"
		←! "id":"{proof}","error":{"code":-32000`,
	"hook/cancel": lines`${hook}
		${cancel}
		←! HookResolved & "action":"allow","reason":""
		no ← ToolResult
		← TurnEnd
		←! =cancelled`,
};

/** By the rows of wire-protocol §5.1 to §5.3, malformed in every way a result can be. */
export const outcomeProofs = { ...approvalProofs, ...clientToolProofs, ...questionProofs, ...hookProofs };
