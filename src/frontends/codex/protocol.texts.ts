// The texts of the document of the app-server protocol. Fields that hold a constant need none.

export const codexIntroduction = `
JSON-RPC without the member \`jsonrpc\`, one JSON object per line, UTF-8, on stdin and stdout of \`agentwire codex app-server\`.
[The guide](../../guides/codex-sdk.md) shows how to point an SDK at it; [schema/codex.json](../../../schema/codex.json) has the same as
JSON Schema. agentwire is not the Codex CLI: it serves these names and shapes, with any model.

\`\`\`
→ {"id":1,"method":"initialize","params":{"clientInfo":{"name":"example","version":"1.0.0"}}}
← {"id":1,"result":{"userAgent":"agentwire-codex-protocol/0.171.0 (agentwire 1.0.0)","codexHome":"/home/me/.kimi","platformFamily":"unix","platformOs":"linux"}}
→ {"method":"initialized"}
→ {"id":2,"method":"thread/start","params":{"cwd":"/project"}}
\`\`\`

- **Ids** of requests are strings or integers; the server's own ids are strings.
- **The client calls** [methods](#methods) after \`initialize\`. Unknown params are ignored. Any other method gets an error that names it.
- **The server sends** [events](#events): notifications, each a method.
- **The server sends** [requests](#requests). When something else settles one, \`serverRequest/resolved\` says so.
`;

const methodText = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");

export const codexClosing = `
## Order

\`turn/start\` is answered when the turn has begun; its notifications may come before the answer. Items of a turn come between
\`turn/started\` and \`turn/completed\`. Threads do not wait for each other.

While a thread's goal is \`active\` and no turn runs, the server starts one. \`thread/goal/updated\` comes before the \`turn/completed\` of the
turn that changed the goal, so its status says whether another turn follows.

## Not served

These and all others fail with -32601, which names the method:

| Methods | Instead |
| --- | --- |
| ${methodText(["account/login/start"])} | Models and their keys are in \`config.toml\`. Sign-ins of OpenAI are never used. |
| ${methodText(["thread/turns/list", "thread/items/list"])} | \`thread/read\` with \`includeTurns\`. |
`;

const place = (shape: string): Readonly<Record<string, string>> => ({
	[`${shape}.threadId`]: "The thread.",
	[`${shape}.turnId`]: "The turn.",
});

const opened = (method: string): Readonly<Record<string, string>> => ({
	[`${method}Params.model`]: "A model of the settings. Null: that of the thread, or the default.",
	[`${method}Params.cwd`]: "The work directory. For an existing thread, any other is an error.",
	[`${method}Params.approvalPolicy`]: "Whether the client is asked. Null: `on-request`.",
	[`${method}Params.sandbox`]: "The sandbox that the client expects. A stricter one than the server's is an error.",
	[`${method}Result.thread`]: "The thread.",
	[`${method}Result.model`]: "Its model; empty when there is none.",
	[`${method}Result.modelProvider`]: "The key of the model's provider.",
	[`${method}Result.cwd`]: "Its work directory, absolute.",
	[`${method}Result.approvalPolicy`]: "The policy in force.",
	[`${method}Result.sandbox`]: "The sandbox in force.",
	[`${method}Result.reasoningEffort`]: "Always null.",
});

const asked = (shape: string): Readonly<Record<string, string>> => ({
	...place(shape),
	[`${shape}.itemId`]: "The item concerned.",
});

const approval = (shape: string): Readonly<Record<string, string>> => ({
	...asked(shape),
	[`${shape}.reason`]: "The rule or doubt that is the reason for asking; null by default.",
	[`${shape}.startedAtMs`]: "When it was asked, in milliseconds since the epoch.",
	[`${shape}Result.decision`]:
		"`acceptForSession` also allows similar calls; `decline` lets the model continue; `cancel` interrupts the turn.",
});

const delta = (shape: string): Readonly<Record<string, string>> => ({
	...asked(shape),
	[`${shape}.delta`]: "More of it.",
});

const methods = {
	initialize: "The first request.",
	"InitializeParams.clientInfo": "The client.",
	"InitializeParams.clientInfo.name": "Its name.",
	"InitializeParams.clientInfo.title": "Ignored.",
	"InitializeParams.clientInfo.version": "Its version.",
	"InitializeParams.capabilities":
		"`experimentalApi`: it answers `item/tool/requestUserInput`. `optOutNotificationMethods`: notifications not to send.",
	"InitializeResult.userAgent": "The version after the slash is that of the protocol.",
	"InitializeResult.codexHome": "The directory of settings and sessions.",
	"InitializeResult.platformFamily": "`unix` or `windows`.",
	"InitializeResult.platformOs": "The operating system.",
	initialized: "Says that the client has the answer to `initialize`. It has no effect.",
	"thread/start": "Creates a thread, and sends `thread/started`.",
	...opened("ThreadStart"),
	"ThreadStartParams.modelProvider": "The key of a provider, for a model that the settings do not list.",
	"ThreadStartParams.baseInstructions": "Replaces the system prompt.",
	"ThreadStartParams.developerInstructions": "Added to the system prompt.",
	"ThreadStartParams.ephemeral": "True is an error: threads are stored.",
	"ThreadStartParams.config": "An error unless empty: the server takes `--config` at its start.",
	"ThreadStartParams.dynamicTools": "Tools of the client, called with `item/tool/call`.",
	"thread/resume": "Opens a thread of this or an earlier process; its notifications go to this client from then on.",
	...opened("ThreadResume"),
	"ThreadResumeParams.threadId": "The thread.",
	"ThreadResumeParams.excludeTurns": "Whether to leave out its turns.",
	"thread/fork": "Copies a thread and opens the copy. Fails while a turn runs.",
	...opened("ThreadFork"),
	"ThreadForkParams.threadId": "The thread to copy.",
	"ThreadForkParams.lastTurnId": "Any value is an error: a fork has the whole thread.",
	"ThreadForkParams.excludeTurns": "Whether to leave out its turns.",
	"thread/revert": "Continues the conversation from before a turn. Files stay as they are.",
	"ThreadRevertParams.threadId": "The thread, which must be open.",
	"ThreadRevertParams.beforeTurnId": "The first turn to drop.",
	"ThreadRevertResult.thread": "The thread with the remaining turns.",
	"thread/list": "Lists stored threads, the last used first.",
	"ThreadListParams.cwd": "Only those of this work directory.",
	"ThreadListParams.cursor": "The `nextCursor` of the previous page.",
	"ThreadListParams.limit": "Maximum threads per page.",
	"ThreadListParams.archived": "Whether to list archived threads instead.",
	"ThreadListResult.data": "The threads, without turns.",
	"ThreadListResult.nextCursor": "Null for the last page.",
	"thread/read": "Describes a thread without opening it.",
	"ThreadReadParams.threadId": "The thread.",
	"ThreadReadParams.includeTurns": "Whether to include its completed turns with their items.",
	"ThreadReadResult.thread": "The thread.",
	"thread/archive": "Interrupts and hides a thread. Its files stay.",
	"ThreadArchiveParams.threadId": "The thread.",
	"thread/unarchive": "Brings an archived thread back. Idempotent.",
	"ThreadUnarchiveParams.threadId": "The thread.",
	"ThreadUnarchiveResult.thread": "The thread, without turns.",
	"thread/name/set": "Names a thread.",
	"ThreadNameSetParams.threadId": "The thread.",
	"ThreadNameSetParams.name": "One line of at most 200 characters.",
	"thread/goal/set":
		"Creates or changes the goal of a thread, and starts a turn if the goal is active and none runs. It lasts as long as the client's connection. Fails if the turn cannot start; the goal is then `blocked`.",
	"ThreadGoalSetParams.threadId": "The thread, which must be open.",
	"ThreadGoalSetParams.objective": "What to reach. Required for a thread without a goal.",
	"ThreadGoalSetParams.status": "Null for no change; a new goal is `active`.",
	"ThreadGoalSetParams.tokenBudget": "The limit for `tokensUsed`. Null for no limit; absent for no change.",
	"ThreadGoalSetResult.goal": "The goal.",
	"thread/goal/clear": "Removes the goal of a thread. A running turn continues.",
	"ThreadGoalClearParams.threadId": "The thread, which must be open.",
	"ThreadGoalClearResult.cleared": "Whether there was one.",
	"thread/compact/start": "Summarizes the conversation to free context, as a turn.",
	"ThreadCompactStartParams.threadId": "The thread.",
	"turn/start": "Starts a turn. Fails while one runs.",
	"TurnStartParams.threadId": "The thread, which must be open.",
	"TurnStartParams.input": "The prompt.",
	"TurnStartParams.model": "Another model, from this turn on.",
	"TurnStartParams.effort": "`none` and `minimal` turn thinking off, all others on, from this turn on.",
	"TurnStartParams.cwd": "A different directory from the thread's is an error.",
	"TurnStartParams.approvalPolicy": "Another policy, from this turn on.",
	"TurnStartParams.sandboxPolicy": "A stricter sandbox than the server's is an error.",
	"TurnStartParams.outputSchema":
		"A JSON Schema for the last message; the model is asked up to three times, then the turn fails.",
	"TurnStartResult.turn": "The turn.",
	"turn/steer": "Adds input to the running turn.",
	"TurnSteerParams.threadId": "The thread.",
	"TurnSteerParams.expectedTurnId": "The running turn; it is an error if another one runs, or none.",
	"TurnSteerParams.input": "What to add.",
	"TurnSteerResult.turnId": "The turn.",
	"turn/interrupt": "Interrupts the running turn, which `turn/completed` reports.",
	"TurnInterruptParams.threadId": "The thread.",
	"TurnInterruptParams.turnId": "The running turn; it is an error if another one runs, or none.",
	"model/list": "Lists the models of the settings.",
	"ModelListResult.data": "The models.",
	"ModelListResult.nextCursor": "Always null.",
	"account/read": "Says that there is no account and none is needed.",
	"AccountReadResult.account": "Always null.",
	"account/login/cancel": "Cancels a sign-in. There is never one, so nothing happens.",
	"AccountLoginCancelParams.loginId": "The sign-in.",
	"AccountLoginCancelResult.status": "Always `notFound`.",
	"account/logout": "Signs out. Nobody is signed in, so nothing happens.",
};

const events = {
	"thread/started": "A thread was created.",
	"ThreadStarted.thread": "The thread.",
	"thread/status/changed": "A turn of the thread has begun or ended.",
	"ThreadStatusChanged.threadId": "The thread.",
	"ThreadStatusChanged.status": "What it does now.",
	"thread/name/updated": "The thread was named.",
	"ThreadNameUpdated.threadId": "The thread.",
	"ThreadNameUpdated.threadName": "Its name.",
	"thread/goal/updated": "A goal was set, its status has changed, or a turn that counts for it has ended.",
	"ThreadGoalUpdated.threadId": "The thread.",
	"ThreadGoalUpdated.turnId": "The running turn; null when idle.",
	"ThreadGoalUpdated.goal": "The goal.",
	"thread/goal/cleared": "The goal was removed.",
	"ThreadGoalCleared.threadId": "The thread.",
	"thread/tokenUsage/updated": "A model call has ended.",
	...place("ThreadTokenUsageUpdated"),
	"ThreadTokenUsageUpdated.tokenUsage": "Tokens used.",
	"ThreadTokenUsageUpdated.tokenUsage.total": "Since the client opened the thread.",
	"ThreadTokenUsageUpdated.tokenUsage.last": "Of the last model call.",
	"ThreadTokenUsageUpdated.tokenUsage.modelContextWindow": "The size of the context window; null when not known.",
	"turn/started": "A turn has begun.",
	"TurnStarted.threadId": "The thread.",
	"TurnStarted.turn": "The turn, without items.",
	"turn/plan/updated": "The model has updated its list of steps.",
	...place("TurnPlanUpdated"),
	"TurnPlanUpdated.plan": "The whole list.",
	"turn/completed": "A turn is over.",
	"TurnCompleted.threadId": "The thread.",
	"TurnCompleted.turn": "The turn, without items.",
	"item/started": "An item has begun.",
	...place("ItemStarted"),
	"ItemStarted.item": "The item as far as it is known.",
	"ItemStarted.startedAtMs": "Milliseconds since the epoch.",
	"item/completed": "An item is complete.",
	...place("ItemCompleted"),
	"ItemCompleted.item": "The whole item.",
	"ItemCompleted.completedAtMs": "Milliseconds since the epoch.",
	"item/agentMessage/delta": "More text of a message.",
	...delta("ItemAgentMessageDelta"),
	"item/reasoning/textDelta": "More text of reasoning.",
	...delta("ItemReasoningTextDelta"),
	"ItemReasoningTextDelta.contentIndex": "Always 0.",
	"item/commandExecution/outputDelta": "More output of a running command.",
	...delta("ItemCommandExecutionOutputDelta"),
	error: "A model call failed and is retried, or the turn has failed.",
	...place("Error"),
	"Error.error": "What failed.",
	"Error.willRetry": "Whether it is retried. The partial message of a failed attempt is never completed.",
	"serverRequest/resolved":
		"A request of the server was settled without the client's answer, which is ignored from then on.",
	"ServerRequestResolved.threadId": "The thread.",
	"ServerRequestResolved.requestId": "The id of the request.",
};

const requests = {
	"item/commandExecution/requestApproval":
		"Whether to run a command. Also asked for tools of MCP servers and plugins, which have no separate request.",
	...approval("ItemCommandExecutionRequestApproval"),
	"ItemCommandExecutionRequestApproval.command": "The command line, or what the tool would do.",
	"ItemCommandExecutionRequestApproval.cwd": "The directory in which it begins.",
	"item/fileChange/requestApproval": "Whether to change a file; the item says how.",
	...approval("ItemFileChangeRequestApproval"),
	"item/tool/requestUserInput": "Questions of the model, for a client with `experimentalApi`.",
	...asked("ItemToolRequestUserInput"),
	"ItemToolRequestUserInput.questions": "The questions.",
	"ItemToolRequestUserInputResult.answers":
		"By the id of the question: chosen labels or free text. None means dismissed.",
	"item/tool/call": "Calls a tool of the client.",
	...place("ItemToolCall"),
	"ItemToolCall.callId": "The id of its item.",
	"ItemToolCall.tool": "The name of the tool.",
	"ItemToolCall.arguments": "Its arguments.",
	"ItemToolCallResult.success": "Whether it worked.",
	"ItemToolCallResult.contentItems": "What the model gets.",
};

const values = {
	Thread: "A session.",
	"Thread.id": "Its id, as in all other protocols of agentwire.",
	"Thread.sessionId": "The same.",
	"Thread.preview": "Its name.",
	"Thread.name": "As it was set, or from its first prompt; null without one.",
	"Thread.cwd": "Its work directory, absolute.",
	"Thread.createdAt": "Seconds since the epoch.",
	"Thread.updatedAt": "Seconds since the epoch.",
	"Thread.status": "What it does.",
	"Thread.modelProvider": "The key of its model's provider; empty in lists.",
	"Thread.cliVersion": "The version of the protocol.",
	"Thread.forkedFromId": "In the answer to `thread/fork`, the thread that was copied.",
	"Thread.projectId": "Always null.",
	"Thread.path": "Its directory; null if sessions are in PostgreSQL.",
	"Thread.turns": "Its completed turns, where they were requested.",
	ThreadStatus: "What a thread does.",
	"ThreadStatus.activeFlags": "Always empty.",
	Goal: "An objective for which the server starts turns.",
	"Goal.threadId": "The thread.",
	"Goal.objective": "What to reach.",
	"Goal.status": "Why turns follow, or why they do not.",
	"Goal.tokenBudget": "The limit for `tokensUsed`; null for none. The turn that reaches it is not interrupted.",
	"Goal.tokensUsed":
		"Tokens since the goal was set: output and input that was not cached, including those of subagents.",
	"Goal.timeUsedSeconds": "The duration of its turns.",
	"Goal.createdAt": "Seconds since the epoch.",
	"Goal.updatedAt": "Seconds since the epoch.",
	GoalStatus:
		"`active`: turns follow. `complete` and `blocked`: the model said so; also `blocked` after a failed turn, or after two turns in a row without a tool call. `paused`: a turn was interrupted, or the client set it. `budgetLimited`: the token budget is used up. `usageLimited`: a budget of the settings is used up.",
	Turn: "A prompt and what follows from it.",
	"Turn.id": "Its id.",
	"Turn.status": "`interrupted` after `turn/interrupt` and the decision `cancel`.",
	"Turn.items": "Its items, in `thread/read` and the like.",
	"Turn.error": "Why it failed.",
	"Turn.startedAt": "Seconds since the epoch.",
	"Turn.completedAt": "Seconds since the epoch.",
	"Turn.durationMs": "Milliseconds.",
	TurnError: "Why a turn or a model call failed.",
	"TurnError.message": "For people.",
	"TurnError.codexErrorInfo": "`serverOverloaded` if a retry may help, else `other`.",
	Item: "A part of a turn. Tools without an item of their own are `mcpToolCall` with the server `agentwire`.",
	"Item.id": "Unique in the turn.",
	"Item.content": "What the user wrote, or the text of the reasoning.",
	"Item.text": "The whole message.",
	"Item.summary": "Always empty.",
	"Item.command": "The command line.",
	"Item.cwd": "The work directory.",
	"Item.status": "`declined` if the client or a rule did not allow it.",
	"Item.commandActions": "Always empty.",
	"Item.aggregatedOutput": "Its output, or why it was not run.",
	"Item.exitCode": "Null while it runs, or if it ended without one.",
	"Item.changes": "One change.",
	"Item.server": "The MCP server, or `agentwire`.",
	"Item.tool": "The name of the tool.",
	"Item.arguments": "As the model gave them.",
	"Item.result": "What the tool returned; null while it runs and after a failure.",
	"Item.error": "Why it failed.",
	"Item.success": "Whether the client's tool worked; null while it runs.",
	"Item.contentItems": "What the client's tool returned; null while it runs.",
	"Item.query": "The words of the search.",
	UserContent: "A part of what the user wrote.",
	"UserContent.text": "Text.",
	"UserContent.url": "The address of an image.",
	Change: "A change of a file.",
	"Change.path": "Absolute.",
	"Change.kind": "Whether the file is new.",
	"Change.kind.type": "`add` or `update`.",
	"Change.diff": "The hunks of a unified diff; empty while the call is not approved.",
	ContentItem: "A part of what a tool of the client returns.",
	"ContentItem.text": "Text.",
	"ContentItem.imageUrl": "The address of an image, which may be a data URL.",
	InputItem: "A part of a prompt. `localImage` is an error: send the image as a data URL.",
	"InputItem.text": "Text.",
	"InputItem.url": "The address of an image, which may be a data URL.",
	"InputItem.path": "A file.",
	"InputItem.name": "The name of the mention.",
	ApprovalPolicy:
		"With `never`, nobody is asked: calls that need an approval are refused, or allowed if the sandbox is `danger-full-access`. With all others, the client is asked about calls that no rule decides.",
	"ApprovalPolicy.granular": "Ignored.",
	SandboxMode: "What commands may do.",
	SandboxPolicy: "What commands may do.",
	"SandboxPolicy.networkAccess": "Whether they have the network.",
	"SandboxPolicy.writableRoots": "Empty in answers, ignored in requests.",
	ClientTool: "A tool of the client.",
	"ClientTool.name": "Its name. A name that the agent already has, or `UpdateGoal`, is an error.",
	"ClientTool.description": "For the model.",
	"ClientTool.inputSchema": "A JSON Schema (draft 2020-12).",
	Model: "A model of the settings.",
	"Model.id": "Its key in the settings.",
	"Model.model": "The same.",
	"Model.displayName": "For people.",
	"Model.description": "For people.",
	"Model.isDefault": "Whether a new thread gets it.",
	"Model.defaultReasoningEffort": "`medium` for a model that can think, else `none`.",
	"Model.supportedReasoningEfforts": "Whether it can think, and whether thinking can be turned off.",
	"Model.supportedReasoningEfforts[].reasoningEffort": "`none` or `medium`.",
	"Model.supportedReasoningEfforts[].description": "For people.",
	"Model.inputModalities": "What prompts may contain.",
	Usage: "Tokens.",
	"Usage.totalTokens": "Input and output.",
	"Usage.inputTokens": "All input, cached or not.",
	"Usage.cachedInputTokens": "Read from the cache.",
	"Usage.cacheWriteInputTokens": "Written to the cache.",
	"Usage.outputTokens": "Output, reasoning included.",
	"Usage.reasoningOutputTokens": "Always 0: it is not reported separately.",
	PlanStep: "A step of the model's plan.",
	"PlanStep.step": "What it is.",
	"PlanStep.status": "Its progress.",
	Question: "A question of the model.",
	"Question.id": "Names it in the answer.",
	"Question.header": "A word or two.",
	"Question.question": "The question.",
	"Question.options": "Answers to choose from.",
	QuestionOption: "An answer to choose.",
	"QuestionOption.label": "The answer.",
	"QuestionOption.description": "What it means.",
};

const errors = {
	"-32700": "The line is not JSON.",
	"-32600": "The request cannot be carried out now, or not in this form; the message says why.",
	"-32601": "The method is not served.",
	"-32602": "The params are invalid.",
	"-32603": "Something failed; the message says what.",
	"-32001": "Too much at once. Retry later.",
};

export const codexTexts: Readonly<Record<string, string>> = {
	...methods,
	...events,
	...requests,
	...values,
	...errors,
};
