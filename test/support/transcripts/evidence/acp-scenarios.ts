// What shows the scenarios of the Agent Client Protocol.

const lines = String.raw;

const running = lines`← "status":"in_progress"
	until file started.txt`;
const cancelled = lines`← "status":"failed"
	← "stopReason":"cancelled"`;

export const acpScenarioProofs = {
	turn: lines`→ session/prompt & "id":{p},
		no ← "user_message_chunk"
		←! "agent_thought_chunk"
		←! "agent_message_chunk"
		← "id":{p},"result":{"stopReason":"end_turn"}
		→ session/load & "id":{l},
		←! "user_message_chunk"
		← "agent_thought_chunk"
		← "tool_call" & "title":"echo hi > a.txt"
		← "id":{l},"result"
		←! "available_commands_update"`,
	versions: lines`→ "protocolVersion":3
		←! "result":{"protocolVersion":1
		→ "protocolVersion":0
		←! "result":{"protocolVersion":1
		→ "protocolVersion":"1"
		←! "result":{"protocolVersion":1`,
	"unknown-session": lines`→ session/load & "id":{a},
		←! "id":{a},"error":{"code":-32002
		→ session/resume & "id":{b},
		←! "id":{b},"error":{"code":-32002
		→ session/prompt & "id":{c},
		←! "id":{c},"error":{"code":-32002
		→ session/delete & "id":{d},
		←! "id":{d},"result":{}
		→ session/cancel
		nothing
		→ $/cancel_request`,
	envelope: lines`→= this is not json
		←! "id":null,"error":{"code":-32700
		→ session/fly & "id":9,
		←! "id":9,"error":{"code":-32601
		→ session/fly & !"id"
		nothing
		→ session/list & "id":9007199254740993
		←! "id":9007199254740993,"result"`,
	"oversized-line": lines`→raw "x" × 104857601
		→raw "\n"
		←! -32700
		→ session/list
		←! "result"`,
	"two-requests": lines`← session/request_permission & "id":"{a}"
		← session/request_permission & "id":"{b}"
		→ "id":"{b}","result"
		→ "id":"{a}","result"
		← "stopReason":"end_turn"`,
	"shown-change": lines`← session/request_permission & "type":"diff" & "oldText":null
		← "status":"completed" & "type":"diff"
		← session/request_permission & "type":"diff" & "newText":"two"`,
	"cancel-tool": lines`${running}
		→ session/cancel
		${cancelled}`,
	"cancel-by-request": lines`→ session/prompt & "id":"{p}",
		${running}
		→ $/cancel_request & "requestId":"{p}"
		← "status":"failed"
		←! "id":"{p}","result":{"stopReason":"cancelled"}
		→ $/cancel_request
		nothing
		→ session/prompt
		← "stopReason":"end_turn"`,
	"cancel-before": lines`→ session/cancel
		nothing
		→ session/prompt
		← "stopReason":"end_turn"
		→ session/prompt & "id":{p},
		→ session/cancel
		no ← "agent_message_chunk"
		← "id":{p},"result":{"stopReason":"cancelled"}`,
	"cancel-waiting": lines`${running}
		→ session/prompt & "id":{p},
		→ session/cancel
		${cancelled}
		←! "id":{p},"result":{"stopReason":"cancelled"}`,
	"prompts-in-line": lines`→ session/prompt & "id":{a},
		${running}
		→ session/prompt & "id":{b},
		→ $/cancel_request & "requestId":{b}
		←! "id":{b},"result":{"stopReason":"cancelled"}
		→ session/cancel
		← "id":{a},"result":{"stopReason":"cancelled"}`,
	"two-sessions": lines`→ session/prompt & "id":{a}, & "sessionId":"{s}"
		← session/request_permission & "sessionId":"{s}"
		→ session/prompt & "id":{b}, & !"sessionId":"{s}"
		← "id":{b},"result":{"stopReason":"end_turn"}
		← "id":{a},"result":{"stopReason":"end_turn"}`,
	close: lines`${running}
		→ session/close & "id":{c},
		${cancelled}
		←! "id":{c},"result":{}
		→ session/resume & "id":{r},
		←! "id":{r},"result"`,
	delete: lines`${running}
		→ session/delete & "id":{d},
		${cancelled}
		←! "id":{d},"result":{}
		→ session/list
		←! "sessions":[]
		→ session/load
		←! -32002`,
	"end-of-input": lines`${running}
		close stdin
		${cancelled}`,
	load: lines`process
		→ session/load & "id":{l},
		← "user_message_chunk"
		← "agent_thought_chunk"
		← "tool_call"
		← "status":"completed" & "type":"diff"
		← "sessionUpdate":"plan"
		← "status":"failed"
		← "usage_update"
		← "id":{l},"result"
		→ session/prompt
		← "stopReason":"end_turn"
		→ session/resume & "id":{r},
		←! "id":{r},"result"`,
	"load-running": lines`← session/request_permission & "id":"{ask}"
		→ session/load & "id":{l},
		← "user_message_chunk"
		← "id":{l},"result"
		← session/request_permission & "id":"{ask}"
		→ "id":"{ask}","result"
		← "stopReason":"end_turn"`,
	"resume-running": lines`← session/request_permission & "id":"{ask}"
		→ session/resume & "id":{l},
		←! "id":{l},"result"
		← "sessionUpdate":"tool_call","toolCallId":"{call}" & "status":"pending"
		← session/request_permission & "id":"{ask}" & "toolCallId":"{call}"
		→ "id":"{ask}","result"
		← "tool_call_update","toolCallId":"{call}","status":"completed"
		← "stopReason":"end_turn"`,
	"load-cancelled-turn": lines`process
		→ session/load
		← "tool_call"
		← "status":"failed"
		← "result"`,
	"load-withdrawn": lines`→ session/load & "id":{l},
		→ $/cancel_request & "requestId":{l}
		←! "id":{l},"error":{"code":-32800`,
	"terminal-output": lines`→ "terminal_output":true
		← "tool_call" & terminal_info & "type":"terminal"
		← "terminal_output" & "data":"one\n"
		← "terminal_output" & "data":"two\n"
		← "status":"failed" & terminal_exit & "exit_code":3
		→ session/load
		← "terminal_output" & one\ntwo`,
	"command-output": lines`no ← terminal_
		← "status":"failed" & "type":"content"`,
	"no-model": lines`≡ with: no model
		→ session/new & "id":{n},
		←! "id":{n},"error":{"code":-32000 & agentwire setup
		→ session/list
		←! "sessions":[]`,
	"provider-failed": lines`→ session/prompt & "id":{p},
		← "id":{p},"error":{"code":-32603 & "details"
		→ session/prompt
		← "stopReason":"end_turn"`,
	"retry-untold": lines`→ "method":"session/prompt"
		no ← "notice"
		← "agent_message_chunk"`,
	truncated: lines`← "agent_message_chunk" & first half
		← "stopReason":"max_tokens"`,
	refused: lines`← "agent_message_chunk" & The content filter stopped the answer.
		←! "stopReason":"refusal"`,
	"max-steps": lines`≡ with: max steps 1
		← "stopReason":"max_turn_requests"`,
	"budget-of-tokens": lines`≡ "turn_tokens":10
		← "notice"
		← "stopReason":"max_tokens"`,
	"budget-of-calls": lines`≡ "turn_tool_calls":1
		← "stopReason":"max_turn_requests"`,
	"compaction-as-call": lines`no ← "compaction_update"
		← "tool_call" & contextCompaction
		← "tool_call_update" & "status":"completed" & contextCompaction
		→ session/load
		← "tool_call" & contextCompaction`,
	subagent: lines`← "tool_call" & "toolCallId":"{t}" & "name":"Agent"
		← "tool_call" & "parentToolCallId":"{t}"
		← "tool_call_update" & "toolCallId":"{t}","content"
		← session/request_permission
		← "tool_call_update" & "toolCallId":"{t}","status":"completed"`,
	steering: lines`→ _session/steering
		←! promptRequired
		← session/request_permission
		→ _session/steering & use tabs
		←! injected
		← "user_message_chunk" & use tabs
		← "agent_message_chunk"
		→ _session/steering
		←! promptRequired`,
	rewind: lines`→ _session/rewind & "dryRun":true & "id":{a},
		← "id":{a},"result":{"plan":{"files":[{"path":"kept.txt","action":"change" & "files":null,"messages":null
		→ _session/rewind & "id":{b},
		← "id":{b} & "restored":["kept.txt"] & "messages":0
		→ _session/rewind & "conversation":false & "id":{c},
		← "id":{c} & "restored":["kept.txt"] & "messages":null`,
	"side-question": lines`→ session/prompt & "id":{a},
		← session/request_permission
		→ /btw & "id":{b},
		←! "agent_message_chunk"
		←! "id":{b},"result":{"stopReason":"end_turn"}
		← "id":{a},"result":{"stopReason":"end_turn"}`,
	"slash-command": lines`→ /nonsense
		← "agent_message_chunk" & Unknown slash command
		← "stopReason":"end_turn"`,
	"mcp-servers": lines`→ session/new & "env":[{"name":"GREETING"
		← "notice" & MCP
		← session/request_permission & "name":"greet"
		← Hello Ada!`,
	content: lines`→ "type":"resource_link" & "type":"resource"
		← "stopReason":"end_turn"
		→ "type":"image" & "blob"
		← "stopReason":"end_turn"
		→ "application/zip"
		←! -32602
		→ session/load
		← "user_message_chunk" & "type":"image"`,
	"no-images": lines`→ "type":"image" & "id":{p},
		← "id":{p},"error":{"code":-32602
		→ session/prompt
		← "stopReason":"end_turn"`,
	"media-answer": lines`← "agent_message_chunk" & "type":"image"
		← "agent_message_chunk" & "type":"resource_link"`,
	"many-parts": lines`← "tool_call" & "title":"SetTodoList"
		←! "tool_call_update" & "rawInput":{"todos":[]}
		← "rawInput":"not json"`,
	directories: lines`→ "additionalDirectories":["<share-dir>"]
		←! "result"
		→ session/list & "cwd":"<share-dir>"
		←! "sessions":[]`,
	unprompted: lines`→ session/new & "id":{n},
		← "id":{n},"result":{"sessionId":"{s}"
		no → session/prompt
		process
		→ session/list & "id":{i},
		← "id":{i}, & "sessionId":"{s}"
		→ session/load & "id":{l}, & "sessionId":"{s}"
		← "id":{l},"result":
		→ session/close & "id":{c}, & "sessionId":"{s}"
		← "id":{c},"result":{}
		process
		→ session/list & "id":{j},
		← "id":{j},"result":{"sessions":[]}`,
	"plan-entered": lines`← session/request_permission & "kind":"switch_mode"
		→ "optionId":"option_0"
		← "currentModeId":"plan"`,
	zed: lines`→ "terminal-auth":true & "name":"zed"
		← "tool_call" & terminal_info
		← elicitation/create
		← "stopReason":"end_turn"`,
	jetbrains: lines`→ "name":"JetBrains
		← session/request_permission & "title":"echo hi > a.txt && cat a.txt" & "rawInput"
		← session/request_permission & "kind":"edit" & "locations":[{"path" & "type":"diff"
		← "stopReason":"end_turn"`,
};
