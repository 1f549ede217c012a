// The examples in the document of the Agent Client Protocol: what client and server send.

/** The session and the turn of all examples. */
const session = '"sessionId":"0199f0c2-6a51-7c3e-9d27-1b1f0e8a4c55"';
const message = '"messageId":"T-1"';
const choices =
	'"modes":{"currentModeId":"default","availableModes":[{"id":"default","name":"Default","description":"Asks before it changes files or runs commands."}]},"configOptions":[{"type":"select","id":"mode","name":"Mode","description":"What the agent may do without asking.","category":"mode","currentValue":"default","options":[{"value":"default","name":"Default","description":"Asks before it changes files or runs commands."}]}]';
const options =
	'"configOptions":[{"type":"select","id":"mode","name":"Mode","description":"What the agent may do without asking.","category":"mode","currentValue":"plan","options":[{"value":"plan","name":"Plan","description":"Reads and plans, and changes nothing until the plan is approved."}]}]';

const asked = (id: number, method: string, params: string, result: string) => `
→ {"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params}}}
← {"jsonrpc":"2.0","id":${id},"result":{${result}}}`;
const notified = (method: string, params: string) => `→ {"jsonrpc":"2.0","method":"${method}","params":{${params}}}`;
const updated = (name: string, members: string) =>
	`← {"jsonrpc":"2.0","method":"session/update","params":{${session},"update":{"sessionUpdate":"${name}",${members}}}}`;
const requested = (method: string, params: string, result: string) => `
← {"jsonrpc":"2.0","id":"5b0c","method":"${method}","params":{${params}}}
→ {"jsonrpc":"2.0","id":"5b0c","result":${result}}`;

export const acpExamples: Readonly<Record<string, string>> = {
	initialize: asked(
		0,
		"initialize",
		'"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"elicitation":{"form":{}}},"clientInfo":{"name":"editor","version":"1.2.3"}',
		'"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":false,"embeddedContext":true},"mcpCapabilities":{"http":true,"sse":true},"sessionCapabilities":{"list":{},"resume":{},"close":{},"delete":{},"fork":{},"additionalDirectories":{}},"auth":{"logout":{}}},"agentInfo":{"name":"agentwire","title":"agentwire","version":"1.0.0"},"authMethods":[{"id":"login","name":"Sign in to Kimi","description":"Opens the sign-in page in a browser."}],"_meta":{"steering":{"supported":true},"rewind":{"supported":true}}',
	),
	authenticate: asked(1, "authenticate", '"methodId":"login"', ""),
	logout: asked(2, "logout", "", ""),
	"session/new": asked(
		3,
		"session/new",
		'"cwd":"/project","mcpServers":[{"name":"issues","command":"/usr/bin/issues-mcp","args":["--stdio"],"env":[{"name":"TOKEN","value":"secret"}]}]',
		`${session},${choices}`,
	),
	"session/load": asked(4, "session/load", `${session},"cwd":"/project","mcpServers":[]`, choices),
	"session/resume": asked(5, "session/resume", `${session},"cwd":"/project"`, choices),
	"session/list": asked(
		6,
		"session/list",
		'"cwd":"/project"',
		`"sessions":[{${session},"cwd":"/project","title":"Say hello","updatedAt":"2026-11-23T06:12:08.000Z"}]`,
	),
	"session/delete": asked(7, "session/delete", session, ""),
	"session/close": asked(8, "session/close", session, ""),
	"session/fork": asked(
		14,
		"session/fork",
		`${session},"cwd":"/project"`,
		`"sessionId":"0199f0d1-2b0e-7a11-8c51-9f4de0a7c301",${choices}`,
	),
	"session/prompt": asked(
		9,
		"session/prompt",
		`${session},"prompt":[{"type":"text","text":"What does this do?"},{"type":"resource","resource":{"uri":"file:///project/a.ts","text":"export {};"}}]`,
		'"stopReason":"end_turn"',
	),
	"session/cancel": notified("session/cancel", session),
	"session/set_mode": asked(10, "session/set_mode", `${session},"modeId":"plan"`, ""),
	"session/set_config_option": asked(
		11,
		"session/set_config_option",
		`${session},"configId":"mode","value":"plan"`,
		options,
	),
	"_session/steering": asked(
		12,
		"_session/steering",
		`${session},"prompt":[{"type":"text","text":"Use tabs."}]`,
		'"outcome":"injected"',
	),
	"_session/rewind": asked(
		13,
		"_session/rewind",
		`${session},"messageId":"4f1c-1","dryRun":true`,
		'"plan":{"files":[{"path":"notes.txt","action":"change","lines":{"added":1,"removed":2},"conflict":false}],"uncovered":[],"outside":[],"reasons":[]},"files":null,"messages":null',
	),
	"$/cancel_request": `
${notified("$/cancel_request", '"requestId":9')}
← {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"5b0c"}}`,
	user_message_chunk: updated("user_message_chunk", '"content":{"type":"text","text":"Say hello"},"messageId":"T-u"'),
	agent_message_chunk: updated("agent_message_chunk", `"content":{"type":"text","text":"Hello."},${message}`),
	agent_thought_chunk: updated("agent_thought_chunk", `"content":{"type":"text","text":"A greeting."},${message}`),
	tool_call: updated(
		"tool_call",
		'"toolCallId":"T/c1","title":"Shell","name":"Shell","kind":"execute","status":"pending"',
	),
	tool_call_update: `
${updated("tool_call_update", '"toolCallId":"T/c1","title":"ls","kind":"execute","locations":[],"rawInput":{"command":"ls"}')}
${updated("tool_call_update", '"toolCallId":"T/c1","status":"in_progress"')}
${updated("tool_call_update", '"toolCallId":"T/c1","status":"completed","rawOutput":"a.ts\\n","content":[{"type":"content","content":{"type":"text","text":"```\\na.ts\\n```"}}]')}`,
	plan: updated("plan", '"entries":[{"content":"Write the test","priority":"medium","status":"in_progress"}]'),
	available_commands_update: updated(
		"available_commands_update",
		'"availableCommands":[{"name":"compact","description":"Compact the context","input":{"hint":"optional"}}]',
	),
	current_mode_update: updated("current_mode_update", '"currentModeId":"plan"'),
	config_option_update: updated("config_option_update", options),
	session_info_update: updated("session_info_update", '"title":"Say hello","updatedAt":"2026-11-23T06:12:08.000Z"'),
	usage_update: updated("usage_update", '"used":1200,"size":262144,"cost":{"amount":0.0031,"currency":"USD"}'),
	notice: updated(
		"notice",
		'"severity":"warning","title":"The model did not answer: rate_limit (HTTP 429)","description":"Attempt 2 of 3 follows in 0.5 s."',
	),
	compaction_update: updated("compaction_update", '"compactionId":"compaction-1","status":"in_progress"'),
	"elicitation/complete": '← {"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"5b0c"}}',
	"session/request_permission": requested(
		"session/request_permission",
		`${session},"toolCall":{"toolCallId":"T/c1","title":"touch a.ts","kind":"execute","status":"pending","rawInput":{"command":"touch a.ts"},"locations":[],"content":[],"name":"Shell"},"options":[{"optionId":"approve","name":"Allow once","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}]`,
		'{"outcome":{"outcome":"selected","optionId":"approve"}}',
	),
	"elicitation/create": requested(
		"elicitation/create",
		`"mode":"form","message":"Which database?",${session},"toolCallId":"T/c2","requestedSchema":{"type":"object","properties":{"q0":{"type":"string","title":"Which database?","oneOf":[{"const":"SQLite","title":"SQLite"},{"const":"Postgres","title":"Postgres","description":"Needs a server."}]},"q0_other":{"type":"string","title":"Other","description":"An answer in your own words, instead of the options."}}}`,
		'{"action":"accept","content":{"q0":"SQLite"}}',
	),
	"fs/read_text_file": requested(
		"fs/read_text_file",
		`${session},"path":"/project/a.ts"`,
		'{"content":"export {};\\n"}',
	),
	"fs/write_text_file": requested(
		"fs/write_text_file",
		`${session},"path":"/project/a.ts","content":"export {};\\n"`,
		"{}",
	),
};
