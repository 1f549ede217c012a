// What shows the ends of a turn of Kimi Wire other than the plain one: cancels, limits, failures.

const lines = String.raw;

const approval = lines`← ApprovalRequest & "id":"{ask}"`;
const second = lines`← ApprovalRequest & "id":"{second}"`;
const cancel = lines`→ cancel & "id":"{k}"
	←! "id":"{k}","result":{}`;
const cancelled = lines`←! TurnEnd
	←! =cancelled`;
/** A prompt that fails without a step. */
const stepless = lines`→ prompt & "id":"{p}"
	←! TurnBegin
	←! TurnEnd
	←! "id":"{p}","error":{"code"`;
const cancelProofs = {
	"cancel-mid-stream": lines`← ContentPart & Once upon
		${cancel}
		${cancelled}`,
	"cancel-mid-tool": lines`← ToolCall & "name":"Shell"
		until file started
		→ cancel
		no ← ToolResult
		← TurnEnd
		←! =cancelled`,
	"cancel-mid-retry": lines`← StepRetry
		${cancel}
		${cancelled}`,
	"cancel-open-approval": lines`${approval}
		${cancel}
		←! ApprovalResponse & "request_id":"{ask}","response":"reject"
		${cancelled}`,
	"cancel-open-approvals": lines`${approval}
		${second}
		${cancel}
		←! ApprovalResponse & "request_id":"{ask}","response":"reject"
		←! ApprovalResponse & "request_id":"{second}","response":"reject"
		${cancelled}`,
	"cancel-open-client-tool": lines`← ToolCallRequest
		${cancel}
		${cancelled}`,
	"cancel-twice": lines`→ cancel & "id":"{k}"
		→ cancel & "id":"{again}"
		←! "id":"{k}","result":{}
		←! "id":"{again}","result":{}
		${cancelled}
		→ cancel & "id":"{late}"
		←! "id":"{late}","error":{"code":-32000`,
	"cancel-reuses-id": lines`→ prompt & "id":"{p}"
		→ cancel & "id":"{p}"
		←! "id":"{p}","result":{}
		← "id":"{p}","result":{"status":"cancelled"}`,
	"end-of-input": lines`→ prompt & "id":"{p}"
		${approval}
		close stdin
		← ApprovalResponse & "request_id":"{ask}","response":"reject"
		←! TurnEnd
		←! "id":"{p}","result":{"status":"cancelled"}
		exit 0`,
	"end-of-input-idle": lines`→ cancel & "id":"{k}"
		close stdin
		←! "id":"{k}","error":{"code":-32000
		exit 0`,
	"end-of-input-mid-tool": lines`← ToolCall & sleep 60
		until file started
		close stdin
		${cancelled}
		exit 0`,
};

const limitProofs = {
	truncated: lines`← ContentPart & first half
		← ContentPart & token limit (length)
		←! TurnEnd
		←! =finished`,
	"max-steps": lines`≡ with: max steps 2
		← StepBegin & "n":2
		← ToolResult
		no ← StepBegin
		← TurnEnd
		←! "status":"max_steps_reached","steps":2`,
	"budget-tokens": lines`≡ "limits":{"session_tokens":400}
		← ToolResult & "is_error":false
		no ← StepBegin
		← TurnEnd
		←! -32003 & budget of 400 tokens & "scope":"session"`,
	"budget-resumed": lines`← -32003 & "scope":"session"
		process
		${stepless} & "scope":"session"
		→ prompt & "user_input":"/yolo"
		← ContentPart
		← =finished`,
	"budget-tool-calls": lines`≡ "turn_tool_calls":1
		← ToolResult & "is_error":false
		← ToolResult & "is_error":true & Budget used up
		no ← StepBegin
		← TurnEnd
		←! -32003 & "scope":"turn"
		→ prompt
		← =finished`,
	"budget-time": lines`≡ "turn_seconds":2
		${approval}
		no → any
		← ApprovalResponse & "request_id":"{ask}","response":"reject"
		←! TurnEnd
		←! -32003 & budget of 2 seconds
		→ "id":"{ask}","result"
		nothing`,
};

const failureProofs = {
	retry: lines`← StepBegin & "n":1
		←! StepRetry & "n":1,"next_attempt":2,"max_attempts":8
		no ← StepBegin
		← ContentPart
		no ← StepBegin
		← =finished`,
	"retry-causes": lines`← StepRetry & APIConnectionError
		← =finished
		← StepRetry & APITimeoutError
		← =finished
		← StepRetry & APIEmptyResponseError
		← =finished`,
	"retries-exhausted": lines`← StepRetry & "next_attempt":2
		←! StepRetry & "next_attempt":3
		←! StepInterrupted
		←! TurnEnd
		←! -32003 & "message":"busy"`,
	"one-attempt": lines`≡ with: max attempts 1
		≡ error: 503
		no ← StepRetry
		← StepBegin
		←! StepInterrupted
		←! TurnEnd
		←! -32003`,
	"retry-abandons-calls": lines`until file started
		${second}
		open gate
		←! ApprovalResponse & "request_id":"{second}","response":"reject"
		no ← ToolResult
		← StepRetry
		no ← ToolResult
		→ "id":"{second}","result" & "response":"approve"
		no ← ToolResult
		← =finished`,
	"provider-error": lines`no ← StepRetry
		← "error":{"code":-32003,"message":"refused 400"
		no ← StepRetry
		← "error":{"code":-32003,"message":"refused 401"
		no ← StepRetry
		← "error":{"code":-32003,"message":"refused 403"
		no ← StepRetry
		← "error":{"code":-32003,"message":"refused 404"
		→ prompt
		← =finished`,
	"scripts-exhausted": lines`→ prompt
		← =finished
		→ prompt
		← StepInterrupted
		← -32003 & exhausted`,
	"internal-error": lines`← StepInterrupted
		←! TurnEnd
		←! -32603
		→ prompt
		← =finished`,
	"login-expired": lines`≡ "oauth":{
		← StepBegin
		←! StepInterrupted
		←! TurnEnd
		←! -32004 & agentwire login`,
	"no-model": lines`≡ with: no model
		${stepless}:-32001,"message":"LLM is not set"`,
	"unknown-model": lines`≡ with: model nope
		${stepless}:-32001,"message":"LLM is not set"`,
	"missing-capability": lines`→ prompt & "image_url"
		←! TurnBegin
		←! TurnEnd
		←! -32002 & required capability: image_in.
		→ prompt & "video_url"
		←! TurnBegin
		←! TurnEnd
		←! -32002 & required capabilities:`,
	"capability-there": lines`≡ with: capability image_in
		→ prompt & "image_url"
		←! TurnBegin & "image_url"
		←! StepBegin
		← =finished`,
};

/** By wire-protocol §2.7, §4.10 and §4.11. */
export const endScenarioProofs = { ...cancelProofs, ...limitProofs, ...failureProofs };
