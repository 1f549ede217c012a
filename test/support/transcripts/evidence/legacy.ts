// What shows the cells of the legacy dialect: scenarios, ends of approvals, and what is met with silence.

const lines = String.raw;

const approval = lines`→ run & "id":"{r}"
	← approval & "id":"{ask}"`;
const result = lines`→ "id":"{ask}","result":`;
const rejected = lines`←! tool_result & "ok":false & "brief":"Rejected by user"
	←! "id":"{r}","result":{"status":"finished"}`;
const cancelled = lines`←! step_interrupted
	←! "id":"{r}","result":{"status":"cancelled"}`;
/** The next answer is to a question about something else: the line was silence. */
const silence = lines`
	nothing
	→ "id":"proof","method":"interrupt"
	←! "id":"proof","result":{"status":"idle"}`;

/** By the rows of wire-protocol §7.1. */
export const legacyScenarioProofs = {
	"prompt-alias": lines`→ run & "id":"{a}" & "params":{"prompt":"go"}
		←! step_begin
		← "id":"{a}","result":{"status":"finished"}
		→ run & "id":"{b}" & "params":{"input":"go","prompt":5}
		←! step_begin
		← "id":"{b}","result":{"status":"finished"}
		→ run & "id":"{c}" & "params":{"input":5,"prompt":"go"}
		←! step_begin
		← "id":"{c}","result":{"status":"finished"}`,
	"retry-untold": lines`≡ error: 503
		→ run & "input":"two"
		←! step_begin
		←! content_part
		←! =finished`,
	truncated: lines`← content_part & first half
		←! content_part & token limit (length)
		←! =finished`,
	"max-steps": lines`≡ with: max steps 1
		← tool_result
		←! "status":"max_steps_reached","steps":1`,
	budget: lines`≡ "turn_tool_calls":1
		← tool_result
		←! -32099 & budget of 1 tool call`,
	cancelled: lines`${approval}
		→ interrupt & "id":"{i}"
		←! "id":"{i}","result":{"status":"ok"}
		${cancelled}`,
	"interrupt-notification": lines`${approval}
		→ interrupt & !"id"
		${cancelled}`,
	"interrupt-tool": lines`→ run & "id":"{r}"
		until file started
		→ interrupt & "id":"{i}"
		←! "id":"{i}","result":{"status":"ok"}
		${cancelled}`,
	"absent-keys": lines`← tool_call & "function":{"name":"SetTodoList"}}
		← tool_call_part & "payload":{}
		← tool_result & "ok":true`,
	"media-part": lines`← content_part & "image_url":{"url":"data:image/png;base64,AA"}}`,
	"tool-result-not-ok": lines`← tool_result & "ok":false & "output":"" & "brief":"Tool`,
	"side-question": lines`→ run & "id":"{a}" & /btw
		no ← step_begin
		← content_part
		← "id":"{a}","result":{"status":"finished"}
		→ run & "id":"{r}"
		← step_begin
		→ run & "id":"{b}" & /btw
		←! "id":"{b}","error":{"code":-32000`,
};

/** The ways in which an approval may end. */
export const legacyOutcomeProofs = {
	approve: lines`${approval}
		${result}{"response":"approve"}
		←! tool_result & "ok":true
		← "id":"{r}","result":{"status":"finished"}`,
	approve_for_session: lines`${approval}
		${result}{"response":"approve_for_session"}
		←! tool_result & "ok":true
		no ← approval
		← tool_result & "ok":true
		no ← approval
		← "id":"{r}","result":{"status":"finished"}`,
	reject: lines`${approval}
		${result}{"response":"reject"}
		${rejected}`,
	"error-reply": lines`${approval}
		→ "id":"{ask}","error":{
		${rejected}`,
	"unknown-value": lines`${approval}
		${result}{"response":"maybe"}
		${rejected}`,
	"missing-value": lines`${approval}
		${result}{}
		${rejected}`,
	duplicate: lines`${approval}
		${result}{"response":"reject"}
		${result}{"response":"approve"}
		${rejected}`,
	"wrong-id": lines`${approval}
		→ "id":"wrong","result":{"response":"approve"}
		nothing
		${result}{"response":"reject"}
		${rejected}`,
	interrupt: lines`${approval}
		→ interrupt & "id":"{i}"
		←! "id":"{i}","result":{"status":"ok"}
		${cancelled}
		${result}{"response":"approve"}
		${silence}`,
	"end-of-input": lines`${approval}
		close stdin
		${cancelled}
		exit 0`,
};

export const legacySilenceProofs = {
	"blank-line": lines`→raw "\n"
		${silence}`,
	"not-json": lines`→= {not-json}
		${silence}`,
	array: lines`→= []
		${silence}`,
	scalar: lines`→= 1
		${silence}`,
	"jsonrpc-absent": lines`→ run & "id":"a" & !"jsonrpc"
		${silence}`,
	"jsonrpc-other": lines`→ "jsonrpc":"1.0" & run
		${silence}`,
	"unknown-key": lines`→ run & "extra":1
		${silence}`,
	"id-number": lines`→ run & "id":1,
		${silence}`,
	"result-text": lines`→ "id":"a","result":"approve" & !"method"
		${silence}`,
	"method-number": lines`→ "method":5
		${silence}`,
	"response-without-content": lines`→= {"jsonrpc":"2.0","id":"a"}
		${silence}`,
	"response-unknown-id": lines`→ "id":"a","result":{} & !"method"
		${silence}`,
	"empty-object": lines`→= {}
		${silence}`,
	"version-only": lines`→= {"jsonrpc":"2.0"}
		${silence}`,
	"unknown-notification": lines`→ "method":"fly" & !"id"
		${silence}`,
	"run-without-id": lines`→ run & !"id"
		${silence}
		→ run & "id":"{r}"
		←! step_begin & "n":1`,
	"malformed-answer": lines`${approval}
		${result}"approve"
		${result}null
		nothing
		${result}{"response":"reject"}
		${rejected}`,
	"oversized-line": lines`→raw "a" × 104857601
		→raw "\n"
		${silence}`,
};
