// What shows the ways of a turn of Kimi Wire: prompts, handshakes, approvals, calls, steers.

const lines = String.raw;

const approval = lines`← ApprovalRequest & "id":"{ask}"`;
const second = lines`← ApprovalRequest & "id":"{second}"`;
const noStepAfter = lines`no ← StepBegin
	← TurnEnd
	←! =finished`;
const invalidArguments = lines`"return_value":{"is_error":true & "text":"Invalid arguments"`;
const steered = lines`←! "id":"{s}","result":{"status":"steered"}`;

const inputProofs = {
	plain: lines`→ prompt & "user_input":"Say hello"
		←! TurnBegin & "user_input":"Say hello"
		←! StepBegin & "n":1
		←! ContentPart & "think":"Greeting."
		←! ContentPart & "text":"Hel"
		←! ContentPart & "text":"lo."
		←! StatusUpdate & "context_tokens":420
		←! TurnEnd
		←! =finished`,
	"input-list": lines`→ prompt & "user_input":[{"type":"text","text":"a","extra":1},{"type":"audio_url"
		←! TurnBegin & "user_input":[{"type":"text","text":"a"},{"type":"audio_url" & "id":null
		← =finished`,
	"input-empty": lines`→ prompt & "user_input":""
		←! TurnBegin & "user_input":""
		←! StepBegin
		← =finished
		→ prompt & "user_input":[]
		←! TurnBegin & "user_input":[]
		←! StepBegin
		← =finished`,
	"image-part": lines`← ContentPart & "payload":{"type":"image_url"
		← =finished`,
	"call-extras": lines`← ToolCall & "extras":{"sig":"x"}`,
	"without-handshake": lines`no → initialize
		→ prompt
		no → initialize
		${approval}
		→ "id":"{ask}","result"
		← ApprovalResponse & "{ask}"
		no → initialize
		→ replay & "id":"{r}"
		no → initialize
		← "id":"{r}","result":{"status":"finished"`,
};

const handshakeProofs = {
	"initialize-repeated": lines`→ initialize & "id":"{i}"
		←! "id":"{i}","result":{"protocol_version"
		→ initialize & "id":"{again}"
		←! "id":"{again}","result":{"protocol_version"`,
	"initialize-lenient": lines`→ initialize & "id":"{i}" & "protocol_version":"" & "version":null & "mood":1 & "supports_question":1 & "supports_plan_mode":"0" & "more":{}
		←! "id":"{i}","result":{"protocol_version"
		→ initialize & "id":"{again}" & "client":null,"capabilities":null
		←! "id":"{again}","result":{"protocol_version"`,
	"version-not-negotiated": lines`→ initialize & "protocol_version":"1.1"
		←! "result":{"protocol_version":"1.10"
		→ initialize & "protocol_version":"9.9"
		←! "result":{"protocol_version":"1.10"`,
	"initialize-tools": lines`→ initialize & "external_tools":[{"name":"open_in_ide" & {"name":"Shell" & {"name":"" & "parameters":{"type":5}
		←! "external_tools":{"accepted":["open_in_ide"],"rejected":[{"name":"Shell" & {"name":"","reason" & {"name":"odd","reason"
		→ initialize & "external_tools":[]
		←! "result"
		→ initialize & "external_tools":null
		←! "result"`,
	"initialize-replaces-tools": lines`→ initialize & {"name":"open_in_ide" & {"name":"ping"
		→ initialize & {"name":"open_in_ide" & "required":["file"] & !"name":"ping"
		← ToolCall & "id":"{c}","function":{"name":"open_in_ide","arguments":"{\"path\"
		no ← ToolCallRequest
		← ToolResult & "tool_call_id":"{c}" & "text":"Invalid arguments"
		← ToolCallRequest & "name":"ping"
		← ToolResult & "is_error":false`,
	"initialize-with-open-approval": lines`${approval}
		→ initialize & "id":"{i}"
		←! "id":"{i}","error":{"code":-32000
		→ "id":"{ask}","result"
		←! ApprovalResponse & "{ask}"`,
};

const approvalProofs = {
	approve: lines`← ToolCall & "id":"{c}"
		${approval} & "tool_call_id":"{c}" & "display":[{"type":"shell"
		→ "id":"{ask}","result":{"request_id":"{ask}","response":"approve"}
		←! ApprovalResponse & "request_id":"{ask}","response":"approve"
		←! ToolResult & "tool_call_id":"{c}","return_value":{"is_error":false
		←! StepBegin & "n":2
		← =finished`,
	"approve-edit": lines`${approval} & "display":[{"type":"diff"
		→ "id":"{ask}","result" & "response":"approve"
		← ToolResult & "is_error":false & "display":[{"type":"diff"
		← ToolResult & "output":"hello\n"`,
	"approve-for-session": lines`${approval}
		→ "id":"{ask}","result" & "response":"approve_for_session"
		← ApprovalResponse & "request_id":"{ask}","response":"approve_for_session"
		← =finished
		→ prompt
		no ← ApprovalRequest
		← ToolResult & "is_error":false
		no ← ApprovalRequest
		← =finished`,
	"approve-for-session-sibling": lines`${approval}
		${second}
		→ "id":"{ask}","result" & "response":"approve_for_session"
		no → any
		← ApprovalResponse & "request_id":"{second}","response":"approve"
		no → any
		← StepBegin & "n":2`,
	"session-approval-resumed": lines`→ "result" & "response":"approve_for_session"
		process
		→ prompt
		no ← ApprovalRequest
		← ToolResult & "is_error":false
		no ← ApprovalRequest
		← =finished`,
	reject: lines`${approval}
		→ "id":"{ask}","result":{"request_id":"{ask}","response":"reject"}
		←! ApprovalResponse & "request_id":"{ask}","response":"reject","feedback":""
		←! ToolResult & "is_error":true & Rejected by user
		${noStepAfter}
		← ToolCall & "name":"Glob"
		← ToolResult & "output":""`,
	"reject-with-feedback": lines`${approval}
		→ "id":"{ask}","result" & "response":"reject","feedback":"use ls"
		←! ApprovalResponse & "response":"reject","feedback":"use ls"
		←! ToolResult & "is_error":true & Rejected: use ls
		←! StepBegin & "n":2`,
	"feedback-repeated-when-approved": lines`${approval}
		→ "id":"{ask}","result" & "response":"approve","feedback":"fine"
		←! ApprovalResponse & "response":"approve","feedback":"fine"
		← ToolResult & "is_error":false`,
	"reject-beside-parallel": lines`${approval}
		${second}
		→ "id":"{ask}","result" & "response":"reject"
		← ApprovalResponse & "request_id":"{ask}","response":"reject"
		no ← TurnEnd
		→ "id":"{second}","result" & "response":"approve"
		← ToolResult & "is_error":false
		${noStepAfter}`,
	yolo: lines`≡ with: yolo
		→ prompt & "user_input":"go"
		no ← "type":"Approval
		← ToolCall & "name":"Shell"
		no ← "type":"Approval
		← ToolResult & "is_error":false
		no ← "type":"Approval
		← =finished`,
};

const callProofs = {
	"parallel-calls": lines`← ToolCall & "id":"{a}"
		← ToolCall & "id":"{b}"
		no → any
		${approval} & "tool_call_id":"{a}"
		no → any
		${second} & "tool_call_id":"{b}"
		→ "id":"{second}","result"
		← ToolResult & "tool_call_id":"{b}"
		→ "id":"{ask}","result"
		← ToolResult & "tool_call_id":"{a}"`,
	"identical-calls": lines`← ToolCall & "id":"{a}","function":{"name":"Shell","arguments":"{\"command\":\"{text}\"
		← ToolCall & "id":"{b}","function":{"name":"Shell","arguments":"{\"command\":\"{text}\"
		← ToolResult & "tool_call_id":"{a}" & "output":"{out}"
		no ← ApprovalRequest
		← ToolResult & "tool_call_id":"{b}" & "output":"{out}"
		no ← ApprovalRequest
		← StepBegin & "n":2`,
	"repetition-guard": lines`← ToolResult & "tool_call_id":"c1" & !<system-reminder>
		← ToolResult & "tool_call_id":"c2" & !<system-reminder>
		← ToolResult & "tool_call_id":"c3" & <system-reminder>`,
	"repeated-call-id": lines`← ToolCall & "id":"{c}" & {\"n\":1}
		← ToolCall & "id":"{c}" & {\"n\":2}
		← ToolCallRequest & "id":"{c}","name" & {\"n\":1}
		← "id":"{c}-2","params":{"type":"ToolCallRequest","payload":{"id":"{c}-2" & {\"n\":2}
		→ "id":"{c}-2","result" & "output":"second"
		←! ToolResult & "tool_call_id":"{c}" & "output":"second"
		→ "id":"{c}","result" & "output":"first"
		←! ToolResult & "tool_call_id":"{c}" & "output":"first"`,
	"streamed-arguments": lines`← ToolCall & "arguments":null
		←! ToolCallPart & "arguments_part":"
		←! ToolCallPart & "arguments_part":"
		←! ToolCallPart & "arguments_part":null
		← ToolResult & "is_error":false`,
	"approval-before-second-call": lines`← ToolCall & "id":"{a}"
		no ← ToolCall
		${approval} & "tool_call_id":"{a}"
		no ← ToolCall
		← ToolResult & "tool_call_id":"{a}"
		open gate
		←! ToolCall & "id":"{b}"`,
	"unknown-tool": lines`← ToolCall & "id":"{c}","function":{"name":"Fly"
		← ToolResult & "tool_call_id":"{c}","return_value":{"is_error":true & Tool ${"`Fly`"} not found
		← StepBegin`,
	"malformed-arguments": lines`← ToolCall & "id":"{c}" & "arguments":"{\"command\":"}
		← ToolResult & "tool_call_id":"{c}",${invalidArguments} & Error parsing JSON
		← StepBegin`,
	"schema-violation": lines`← ToolCall & "id":"{c}" & {\"command\":[]}
		← ToolResult & "tool_call_id":"{c}",${invalidArguments} & Error validating JSON
		← StepBegin`,
};

const clientToolProofs = {
	"client-tool": lines`→ initialize & "external_tools":[{"name":"open_in_ide"
		← ToolCall & "id":"{c}","function":{"name":"open_in_ide"
		no ← ApprovalRequest
		← ToolCallRequest & "id":"{c}","name":"open_in_ide"
		→ "id":"{c}","result" & "output":"opened"
		←! ToolResult & "tool_call_id":"{c}" & "output":"opened"
		← =finished`,
	"client-tool-error": lines`← ToolCallRequest & "id":"{c}","name"
		→ "id":"{c}","result" & "is_error":true
		←! ToolResult & "tool_call_id":"{c}","return_value":{"is_error":true
		← =finished`,
	"client-tool-display": lines`← ToolCallRequest & "id":"{c}","name"
		→ "id":"{c}","result" & {"type":"brief" & {"type":"chart","bars":[1]}
		←! ToolResult & {"type":"brief" & "chart","data":{"bars":[1]}`,
	"client-tool-schema-violation": lines`← ToolCall & "id":"{c}","function":{"name":"open_in_ide"
		no ← ToolCallRequest
		← ToolResult & "tool_call_id":"{c}",${invalidArguments}`,
	"client-tool-without-arguments": lines`← ToolCall & "id":"{c}","function":{"name":"ping","arguments":null
		← ToolCallRequest & "id":"{c}","name":"ping","arguments":"{}"`,
	"client-tool-image": lines`← ToolCallRequest & "id":"{c}","name"
		→ "id":"{c}","result" & "image_url"
		←! ToolResult & "is_error":false & "image_url"
		←! StepBegin & "n":2
		← TurnEnd
		←! "status":"finished"`,
};

const steerProofs = {
	"steer-string": lines`→ steer & "id":"{s}" & "user_input":"one"
		${steered}
		← SteerInput & "user_input":"one"`,
	"steer-list": lines`→ steer & "id":"{s}" & "user_input":[{"type":"text"
		${steered}
		← SteerInput & "user_input":[{"type":"text"`,
	"steer-keeps-turn": lines`← ContentPart
		→ steer & "id":"{s}"
		${steered}
		no ← ToolCall
		← SteerInput
		←! StepBegin & "n":2
		← =finished`,
	"steer-overrides-rejection": lines`→ steer & "id":"{s}"
		${steered}
		→ "result" & "response":"reject"}
		← ToolResult & Rejected by user
		←! SteerInput
		←! StepBegin & "n":2
		← =finished`,
	"steer-capability": lines`→ steer & "id":"{s}" & "image_url"
		${steered}
		← ToolResult
		no ← StepBegin
		← TurnEnd
		←! -32002`,
};

const pipelineProofs = {
	"pipelined-initialize-prompt": lines`→ initialize & "id":"{i}" & "name":"ping"
		no ← any
		→ prompt
		←! "id":"{i}","result"
		←! TurnBegin
		← ToolCallRequest & "name":"ping"`,
	"pipelined-prompts": lines`→ prompt & "id":"{p}"
		no ← any
		→ prompt & "id":"{q}"
		← "id":"{q}","error":{"code":-32000
		← "id":"{p}","result":{"status":"finished"}`,
	"pipelined-steer": lines`→ prompt
		no ← any
		→ steer & "id":"{s}"
		← "id":"{s}","result":{"status":"steered"}
		← SteerInput
		← =finished`,
	"pipelined-cancel": lines`→ prompt & "id":"{p}"
		no ← any
		→ cancel & "id":"{k}"
		← "id":"{k}","result":{}
		← TurnBegin
		← TurnEnd
		← "id":"{p}","result":{"status":"cancelled"}`,
};

/** By wire-protocol §2.2 to §2.4 and §4.3 to §4.6. */
export const turnScenarioProofs = {
	...inputProofs,
	...handshakeProofs,
	...approvalProofs,
	...callProofs,
	...clientToolProofs,
	...steerProofs,
	...pipelineProofs,
};
