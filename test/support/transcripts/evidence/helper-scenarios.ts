// What shows the work next to the turn: subagents, background tasks, media and MCP servers.

const lines = String.raw;

const inside = (type: string) => lines`← SubagentEvent & "event":{"type":"${type}"`;
const subagent = lines`← ToolCall & "name":"Agent"
	${inside("TurnBegin")}`;
const reported = lines`← ToolResult & "tool_call_id":"P","return_value":{"is_error":false & [summary]`;
const approval = lines`← ApprovalRequest & "id":"{ask}" & "subagent_type":"coder"`;

const subagentProofs = {
	subagent: lines`${subagent}
		${inside("StepBegin")}
		${inside("ContentPart")} & "think":"hm"
		${inside("TurnEnd")}
		${reported}
		← =finished
		→ replay & "id":"{r}"
		${inside("ContentPart")} & "think":"hm"
		${inside("TurnEnd")}
		← "id":"{r}","result"`,
	"subagent-short-report": lines`${subagent}
		${inside("TurnEnd")}
		←! SubagentEvent & "event":{"type":"TurnBegin"
		${inside("TurnEnd")}
		${reported}`,
	"subagent-retry": lines`${inside("StepBegin")}
		←! SubagentEvent & "event":{"type":"StepRetry","payload":{"n":1,"next_attempt":2
		no ← "event":{"type":"StepBegin"
		${inside("ContentPart")}
		${inside("TurnEnd")}
		${reported}`,
	"subagent-approve": lines`${subagent}
		${inside("ToolCall")}
		${approval}
		→ "id":"{ask}","result" & "response":"approve"
		←! ApprovalResponse & "request_id":"{ask}","response":"approve"
		←! SubagentEvent & "event":{"type":"ToolResult" & "is_error":false
		${reported}`,
	"subagent-reject": lines`${approval}
		→ "id":"{ask}","result" & "response":"reject"
		←! ApprovalResponse & "request_id":"{ask}","response":"reject"
		←! SubagentEvent & "event":{"type":"ToolResult" & "is_error":true
		←! SubagentEvent & "event":{"type":"StepBegin","payload":{"n":2}
		${reported}`,
	"subagent-approve-for-session": lines`${approval}
		→ "id":"{ask}","result" & "response":"approve_for_session"
		no ← ApprovalRequest
		${inside("ToolResult")} & "is_error":false
		no ← ApprovalRequest
		${inside("ToolResult")} & "is_error":false
		no ← ApprovalRequest
		← ToolResult & "output":"mine\n"
		← =finished`,
	"subagents-at-once": lines`← ToolCall & "id":"P" & "name":"Agent"
		← ToolCall & "id":"Q" & "name":"Agent"
		${inside("TurnEnd")} & "task_tool_call_id":"P"
		← ToolResult & "tool_call_id":"P"
		${inside("TurnEnd")} & "task_tool_call_id":"Q"
		← ToolResult & "tool_call_id":"Q"`,
	"subagent-resumed": lines`≡ "subagent_type": "plan"
		← ToolCall & \"resume\":\"a1b2c3d4e\"
		${inside("TurnBegin")} & "agent_id":"a1b2c3d4e","subagent_type":"plan"
		← ToolResult & resumed: true & actual_subagent_type: plan`,
	"subagent-failed": lines`${inside("StepInterrupted")}
		${inside("TurnEnd")}
		← ToolResult & "is_error":true & LLM provider error
		← ToolCall & \"resume\":\"a00000000\"
		← ToolResult & "is_error":true & Agent failed
		← ToolCall & \"subagent_type\":\"poet\"
		← ToolResult & "is_error":true & Agent failed
		← =finished`,
	"subagent-cancelled": lines`${inside("ToolCall")} & sleep 60
		until file started
		→ cancel & "id":"{k}"
		←! "id":"{k}","result":{}
		←! SubagentEvent & "event":{"type":"TurnEnd"
		←! TurnEnd
		←! =cancelled`,
	"subagent-cancelled-approval": lines`${approval}
		→ cancel
		← ApprovalResponse & "request_id":"{ask}","response":"reject"
		←! SubagentEvent & "event":{"type":"TurnEnd"
		←! TurnEnd
		←! =cancelled`,
};

const taskProofs = {
	"background-command": lines`← ToolCall & "name":"Shell" & \"run_in_background\":true
		← ApprovalRequest & "action":"run background command"
		← ToolResult & task_id: bash-
		← =finished
		→ prompt
		←! TurnBegin
		←! Notification & "type":"task.completed" & "source_id":"bash-
		←! StepBegin & "n":1`,
	"background-command-in-turn": lines`← ToolResult & task_id: bash-
		no ← TurnEnd
		← Notification & "type":"task.failed" & "source_id":"bash-
		← =finished`,
	"background-agent": lines`← ToolCall & "name":"Agent" & \"run_in_background\":true
		← ToolResult & task_id: agent-
		no ← SubagentEvent
		← =finished
		no ← SubagentEvent
		← Notification & "type":"task.completed" & "source_id":"agent-`,
	"background-tools": lines`←! TurnBegin
		←! Notification & "type":"task.completed"
		← ToolCall & "name":"TaskList"
		← ToolResult & background_tasks: 2
		← ToolResult & retrieval_status: success
		← ToolResult & retrieval_status: timeout
		← ToolResult & "is_error":true & Task not found
		← ToolCall & "name":"TaskStop"
		← ApprovalRequest & stop background task
		← ToolResult & The stop was requested.`,
};

const readMedia = lines`← ToolCall & "name":"ReadMediaFile"`;
/** To be gone on with: what is delivered of the servers in the end. */
const loading = lines`← StatusUpdate & "loading":true
	←! MCPLoadingBegin
	←! StatusUpdate & "loading":false`;

const surroundingProofs = {
	"media-image": lines`${readMedia}
		← ToolResult & "is_error":false & <image path= & {"type":"image_url" & "text":"</image>"`,
	"media-unsupported": lines`≡ with: capability image_in
		${readMedia} & clip.mp4
		← ToolResult & "is_error":true & Unsupported media type`,
	"media-absent": lines`${readMedia}
		← ToolResult & "is_error":true & Tool ${"`ReadMediaFile`"} not found`,
	"mcp-loading": lines`→ prompt
		←! TurnBegin
		${loading},"connected":1
		←! MCPLoadingEnd
		←! StepBegin`,
	"mcp-failed": lines`${loading},"connected":1 & "name":"broken","status":"failed"
		←! MCPLoadingEnd
		←! StepBegin
		← =finished`,
	"mcp-collision": lines`≡ { name: "Glob", inputSchema }
		${loading} & "tools":1 & "tools":["greet"]
		← ToolCall & "name":"Glob"
		← ToolResult & "output":"notes.txt"`,
	"mcp-lost": lines`← ToolResult & "is_error":true & Tool runtime error
		← =finished
		→ prompt
		←! TurnBegin
		no ← MCPLoadingBegin
		← StatusUpdate & "loading":false,"connected":0 & "status":"failed"
		←! StepBegin
		← =finished`,
	"mcp-approve": lines`← ToolCall & "name":"greet"
		← ApprovalRequest & "id":"{ask}" & "sender":"greet"
		→ "id":"{ask}","result"
		← ToolResult & Hello Ada!`,
	"mcp-loading-cancelled": lines`← MCPLoadingBegin
		→ cancel & "id":"{k}"
		←! "id":"{k}","result":{}
		← MCPLoadingEnd
		no ← StepBegin
		← TurnEnd
		←! =cancelled`,
};

/** By wire-protocol §4.7, §4.15 and §4.16. */
export const helperScenarioProofs = { ...subagentProofs, ...taskProofs, ...surroundingProofs };
