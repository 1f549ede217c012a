// What shows the scenarios of Meerkat RPC.

const lines = String.raw;

const create = lines`→ session/create & "id":{c},`;
const started = lines`← run_started & "session_id":"{s}"`;
const toolRan = (isError: boolean) => lines`← tool_result_received & "is_error":${String(isError)}`;
const failed = lines`← run_failed & Run was cancelled`;
const approval = lines`← "method":"approval/request","id":"{ask}"`;
const running = lines`← tool_execution_started
	until file started.txt`;

export const meerkatScenarioProofs = {
	"id-spellings": lines`→ session/read & "id":{a}, & "session_id":"01936F8A-
		←! "id":{a},"error" & Session not found: 01936f8a-7b2c-7000-8000-000000000001
		→ session/read & "id":{b}, & "session_id":"01936f8a7b2c7000
		←! "id":{b},"error" & Session not found: 01936f8a-7b2c-7000-8000-000000000001
		→ session/read & "id":{d}, & "session_id":"urn:uuid:
		←! "id":{d},"error" & Session not found: 01936f8a-7b2c-7000-8000-000000000001
		→ session/read & "id":{e}, & "session_id":"zz"
		←! "id":{e},"error" & Invalid session_id: zz`,
	"no-tools": lines`→ session/create & "enable_shell":true & !"enable_builtins"
		← tool_call_requested & "name":"ReadFile"
		${toolRan(true)}
		← run_completed`,
	"approval-rejected": lines`${approval}
		→ "id":"{ask}","result":{"decision":"reject","feedback":"Use Glob."}
		${toolRan(true)}
		← turn_started & "turn_number":1
		← run_completed`,
	"approval-malformed": lines`${approval}
		→ "id":"{ask}","result":{"decision":"perhaps"}
		${toolRan(true)}
		no ← turn_started
		← run_completed
		${approval.replaceAll("ask", "next")}
		→ "id":"{next}","error":{
		${toolRan(true)}
		no ← turn_started
		← run_completed`,
	"unattended-reject": lines`${create} & "enable_shell":true
		no ← "method":"approval/request"
		${toolRan(true)}
		no ← "method":"approval/request"
		← run_completed`,
	"unattended-approve": lines`≡ "unattended":"approve"
		no ← "method":"approval/request"
		${create} & "enable_shell":true
		no ← "method":"approval/request"
		${toolRan(false)}
		no ← "method":"approval/request"
		← run_completed`,
	"creator-decides": lines`${create} & "enable_shell":true
		no ← "method":"approval/request"
		${toolRan(false)}
		no ← "method":"approval/request"
		← run_completed`,
	"session-hooks": lines`→ capabilities/get
		→ session/create & "hooks_override" & "guardrail"
		←! hook_started & "first"
		←! hook_completed & "first"
		← run_started
		← hook_denied & "guard" & "payload":{"k":1}
		← tool_execution_completed & "is_error":true
		← run_completed
		→ session/create & "hooks_override"
		← hook_failed & "broken"
		← run_failed & "hook_execution_failed"
		← "error" & "hook_failure"
		→ session/create & "hooks_override" & "run_started"
		←! -32602 & guardrail
		→ session/create & "disable"
		←! -32602`,
	"tools-by-default": lines`→ capabilities/get
		${create} & !"enable_"
		no ← "method":"approval/request"
		${toolRan(false)}`,
	"interrupt-tool": lines`${running}
		→ turn/interrupt & "id":{i},
		←! "id":{i},"result":{"interrupted":true}
		${toolRan(true)}
		${failed}
		→ turn/start
		← run_completed`,
	"interrupt-twice": lines`→ turn/interrupt & "id":{i},
		←! "id":{i},"result":{"interrupted":true}
		${failed}
		→ turn/interrupt & "id":{j},
		←! "id":{j},"result":{"interrupted":true}`,
	busy: lines`${running}
		→ turn/start & "id":{t},
		←! "id":{t},"error" & "code":"SESSION_BUSY"
		→ session/read & "id":{r},
		←! "id":{r},"result" & "state":"running"`,
	"archive-running": lines`${running}
		→ session/archive & "id":{a},
		${failed}
		← "code":"REQUEST_CANCELLED"
		←! "id":{a},"result":{"archived":true}
		→ session/list & "id":{l},
		←! "id":{l},"result":{"sessions":[]}`,
	"end-of-input": lines`${create}
		${running}
		close stdin
		${failed}
		←! "id":{c},"error" & "code":"REQUEST_CANCELLED"`,
	"no-model": lines`≡ with: no model
		${create}
		←! "id":{c},"error" & "code":"PROVIDER_ERROR"
		→ session/list & "id":{l},
		←! "id":{l},"result":{"sessions":[]}`,
	"max-turns": lines`→ config/patch & "max_turns":1
		${create}
		← turn_started & "turn_number":0
		${toolRan(false)}
		no ← turn_started
		← run_completed
		←! "id":{c},"result" & "turns":1`,
	config: lines`→ config/patch & "id":{a}, & "max_tokens_per_turn":100
		←! "id":{a},"result" & "max_tokens_per_turn":100
		→ config/patch & "id":{b}, & "max_tokens":null
		←! "id":{b},"result" & "max_tokens":16384
		→ config/patch & "id":{d}, & "max_tokens":"many"
		←! "id":{d},"error" & "code":"INVALID_PARAMS"
		→ config/set & "id":{e}, & "params":{"max_tokens":5}
		←! "id":{e},"result":{"ok":true}
		→ config/get & "id":{g},
		←! "id":{g},"result" & "max_tokens":5
		${create}
		←! "id":{c},"error" & "code":"PROVIDER_ERROR"`,
	envelope: lines`→= this is not json
		←! "id":null,"error" & "code":"PARSE_ERROR"
		→= {"jsonrpc":"2.0","id":7}
		←! "id":7,"error" & "code":"INVALID_REQUEST"
		→= []
		←! "id":null,"error" & "code":"INVALID_REQUEST"
		→ session/create & !"id"
		→ turn/interrupt & "id":null
		→ "id":12,"result":{} & !"method"
		→raw "\n  \r\n\t\n"
		→ session/list & "id":9007199254740993,
		←! "id":9007199254740993,"result":{"sessions":[]}`,
	"oversized-line": lines`→raw "x" × 104857601
		→raw "\n"
		←! "id":null,"error" & "code":"PARSE_ERROR"
		→ session/list & "id":{l},
		←! "id":{l},"result"`,
	unloaded: lines`≡ "loaded_sessions":2
		${create} & "prompt":"a"
		${started}
		→ session/create & "prompt":"b"
		→ session/create & "prompt":"c"
		← run_completed
		→ turn/start & "id":{t}, & "session_id":"{s}"
		← run_completed & "session_id":"{s}"
		← "id":{t},"result":{"session_id":"{s}"`,
	deferred: lines`${create} & "initial_turn":"deferred"
		←! "id":{c},"result":{"session_id":"{s}"}
		process
		→ session/read & "id":{r}, & "session_id":"{s}"
		←! "id":{r},"result":{"session_id":"{s}","state":"idle"}
		process
		→ turn/start & "session_id":"{s}"
		← run_completed & "session_id":"{s}"`,
	"two-sessions": lines`${started}
		→ turn/start & "session_id":"{s}"
		${running}
		→ session/create & "id":{c},
		← run_completed & !"session_id":"{s}"
		← "id":{c},"result"
		→ session/list
		←! {"session_id":"{s}","state":"running"}
		${failed} & "session_id":"{s}"`,
	"side-question": lines`${create} & /btw
		← run_started
		no ← turn_started
		← text_complete & It is a test.
		← run_completed
		←! "id":{c},"result" & "turns":0`,
};
