// What shows the commands of Kimi Wire, side questions, and sessions that are gone on with or replayed.

const lines = String.raw;

const command = (text: string) => lines`→ prompt & "id":"{p}" & "user_input":"${text}"
	←! TurnBegin & "user_input":"${text}"`;
const says = lines`←! ContentPart & "text":"`;
const cancel = lines`→ cancel & "id":"{k}"
	←! "id":"{k}","result":{}`;
const endOfBoth = lines`← TurnEnd
	←! TurnEnd
	←! "id":"{p}"`;
const compacted = lines`←! CompactionBegin
	←! CompactionEnd`;

const compactionProofs = {
	compact: lines`${command("/compact")}
		${compacted}
		← ContentPart & The context has been compacted.
		← =finished
		→ prompt
		← StepBegin
		← =finished`,
	"compact-empty": lines`${command("/compact")}
		no ← CompactionBegin
		← ContentPart & The context is empty.
		←! TurnEnd
		←! =finished`,
	"compact-focus": lines`≡ "event":"PreCompact"
		${command("/compact the names of the files")}
		←! HookTriggered & "event":"PreCompact","target":"manual-with-prompt"
		←! HookResolved
		${compacted}
		← HookTriggered & "event":"PostCompact","target":"manual-with-prompt"
		← =finished`,
	"compact-failed": lines`${command("/compact")}
		${compacted}
		←! TurnEnd
		←! "id":"{p}","error":{"code":-32003
		→ prompt
		← =finished`,
	"compact-without-model": lines`≡ with: no model
		${command("/compact")}
		←! TurnEnd
		←! "id":"{p}","error":{"code":-32001`,
	"auto-compaction": lines`→ prompt & !/compact
		←! TurnBegin
		←! StepBegin
		${compacted}
		no ← CompactionBegin
		← ContentPart
		← =finished`,
	"auto-compaction-failed": lines`→ prompt & !/compact
		←! TurnBegin
		←! StepBegin
		${compacted}
		←! StepInterrupted
		←! TurnEnd
		←! -32003`,
	clear: lines`${command("/clear")}
		${says}The context has been cleared."
		← TurnEnd
		→ prompt & "user_input":"second"
		← StatusUpdate & "context_tokens":50
		${command("/reset now").replaceAll("{p}", "{q}")}
		${says}The context has been cleared."`,
	"clear-without-model": lines`≡ with: no model
		${command("/clear")}
		${says}The context has been cleared."
		← =finished`,
};

const flow = lines`≡ type: flow
	→ prompt & "id":"{p}" & /flow:release
	←! TurnBegin & /flow:release`;

const skillProofs = {
	skill: lines`≡ --- share skills/notes.md
		→ initialize
		${command("/skill:notes")}
		←! StepBegin
		← =finished`,
	"skill-arguments": lines`${command("/skill:notes for all of us")}
		←! StepBegin
		← =finished`,
	"skill-unknown": lines`${command("/skill:nothing")}
		${says}Unknown slash command
		no ← StepBegin
		← =finished`,
	flow: lines`${flow}
		←! TurnBegin & Run the tests.
		← <choice>maybe</choice>
		← TurnBegin & <text:again>
		← <choice>no</choice>
		← TurnBegin & Run the tests.
		← <choice>yes</choice>
		← TurnBegin & Tag it.
		${endOfBoth},"result":{"status":"finished"}`,
	"flow-rejected": lines`${flow}
		←! TurnBegin
		← ApprovalRequest & "id":"{ask}"
		→ "id":"{ask}","result" & "response":"reject"
		no ← TurnBegin
		${endOfBoth},"result":{"status":"finished"}`,
	"flow-cancelled": lines`${flow}
		←! TurnBegin
		${cancel}
		no ← TurnBegin
		${endOfBoth},"result":{"status":"cancelled"}`,
	"flow-failed": lines`${flow}
		←! TurnBegin
		← StepInterrupted
		no ← TurnBegin
		${endOfBoth},"error":{"code":-32003`,
	loop: lines`≡ "max_ralph_iterations":3
		← TurnBegin & "user_input":"Do it."
		←! TurnBegin
		← TurnBegin & <text:loop>
		← <choice>CONTINUE</choice>
		← TurnBegin & <text:loop>
		← <choice>STOP</choice>
		no ← TurnBegin
		← =finished
		→ prompt & /yolo
		←! TurnBegin
		←! ContentPart`,
	"loop-limit": lines`≡ "max_ralph_iterations":1
		← <choice>CONTINUE</choice>
		no ← TurnBegin
		← "status":"max_steps_reached","steps":2`,
};

const slashProofs = {
	"slash-without-model": lines`≡ with: no model
		${command("/plan on")}
		← ContentPart & Plan mode is on.
		← =finished
		${command("/plan clear").replaceAll("{p}", "{q}")}
		← =finished`,
	"slash-add-dir": lines`${command("/add-dir nowhere")}
		${says}There is no directory
		${command("/add-dir <share-dir>").replaceAll("{p}", "{q}")}
		${says}<share-dir> belongs to the workspace now.
		process
		${command("/add-dir").replaceAll("{p}", "{r}")}
		${says}Directories that were added to the workspace:\n- <share-dir>`,
	"slash-export": lines`${command("/export notes.txt")}
		${says}<work-dir>/notes.txt is there already
		${command("/export out.md").replaceAll("{p}", "{q}")}
		${says}The conversation was written to <work-dir>/out.md.
		until file out.md`,
	"slash-import": lines`${command("/import notes.txt")}
		${says}<work-dir>/notes.txt was imported:
		${command("/import long.txt").replaceAll("{p}", "{q}")}
		${says}<work-dir>/long.txt is too long:
		${command("/import nothing.txt").replaceAll("{p}", "{r}")}
		${says}There is neither a file`,
	"slash-yolo": lines`${command("/yolo")}
		${says}Yolo is on:
		process
		no ← ApprovalRequest
		← ToolResult & "is_error":false
		${command("/yolo").replaceAll("{p}", "{q}")}
		${says}Yolo is off:
		process
		← ApprovalRequest`,
	"slash-yolo-flag": lines`≡ with: yolo
		${command("/yolo")}
		${says}Yolo is off:
		→ prompt
		← ApprovalRequest`,
	"slash-afk": lines`${command("/afk")}
		${says}Afk is on:
		no ← ApprovalRequest
		← ToolResult & "is_error":false
		no ← ApprovalRequest
		← ContentPart & Afk is off: questions are asked again. Actions are still approved
		process
		← ContentPart & Afk is off: questions and actions are asked for again.`,
	init: lines`${command("/init")}
		←! TurnBegin & <text:task>
		← ToolResult & "is_error":false
		${endOfBoth},"result":{"status":"finished"}`,
	"init-cancelled": lines`${command("/init")}
		←! TurnBegin & <text:task>
		${cancel}
		${endOfBoth},"result":{"status":"cancelled"}`,
};

const begun = lines`← BtwBegin & "id":"{b}"`;
const ended = lines`← BtwEnd & "id":"{b}"`;
const ofItsOwn = lines`→ prompt & "id":"{q}" & /btw
	←! TurnBegin & /btw
	←! BtwBegin & "id":"{b}"`;

const sideQuestionProofs = {
	"side-question": lines`${ofItsOwn}
		←! ContentPart & It is a test.
		←! BtwEnd & "id":"{b}","response":"It is a test.","error":null
		←! TurnEnd
		←! "id":"{q}","result":{"status":"finished"}`,
	"side-question-beside-turn": lines`→ prompt & "id":"{p}"
		←! TurnBegin
		→ prompt & "id":"{q}" & /btw
		no ← TurnBegin
		${begun}
		← BtwEnd & "id":"{b}","response":" & "error":null
		←! "id":"{q}","result":{"status":"finished"}
		no ← TurnBegin
		← "id":"{p}","result":{"status":"finished"}`,
	"side-question-failed": lines`${ofItsOwn}
		← BtwEnd & "id":"{b}","response":null,"error":"
		←! TurnEnd
		←! "id":"{q}","error":{"code"`,
	"side-question-end-of-input": lines`${ofItsOwn}
		close stdin
		←! BtwEnd & "id":"{b}","response":null,"error":"
		←! TurnEnd
		←! "id":"{q}","result":{"status":"cancelled"}
		exit 0`,
	"side-question-cancelled": lines`${ofItsOwn}
		→ prompt & "id":"{x}"
		←! "id":"{x}","error":{"code":-32000
		${cancel}
		←! BtwEnd & "id":"{b}","response":null,"error":"
		←! TurnEnd
		←! "id":"{q}","result":{"status":"cancelled"}`,
	"side-question-steered": lines`${ofItsOwn}
		→ steer & "id":"{s}"
		←! "id":"{s}","result":{"status":"steered"}
		${ended}
		←! SteerInput
		←! StepBegin
		← "id":"{q}","result":{"status":"finished"}`,
	"side-question-capped": lines`≡ "AGENTWIRE_EVENTS":"1.2"
		no ← "type":"Btw
		→ prompt & /btw
		←! TurnBegin
		←! ContentPart
		←! TurnEnd
		no ← "type":"Btw
		→ prompt & "id":"{b}" & /btw
		←! "id":"{b}","result":{"status":"finished"}
		→ replay
		no ← "type":"Btw
		← =finished`,
	"side-question-replayed": lines`→ replay & "id":"{r}"
		←! TurnBegin & /btw
		←! BtwBegin & "id":"{b}"
		← BtwEnd & "id":"{b}"
		← BtwBegin & "id":"{c}"
		← BtwEnd & "id":"{c}"
		← "id":"{r}","result":{"status":"finished","events":12,"requests":0}`,
	"side-question-hook": lines`→ prompt & "id":"{q}" & /btw
		← HookRequest & "id":"{ask}" & "event":"UserPromptSubmit"
		→ "id":"{ask}","result" & "action":"block"
		← BtwBegin & "id":"{b}"
		←! BtwEnd & "id":"{b}","response":null,"error":"Keep it."
		←! "id":"{q}","result":{"status":"finished"}
		← ContentPart & Keep it.`,
};

const replayed = lines`→ replay & "id":"{r}"`;

const replayProofs = {
	resume: lines`→ prompt
		← =finished
		process
		${replayed}
		←! TurnBegin
		← "id":"{r}","result":{"status":"finished"
		→ prompt
		←! TurnBegin`,
	"replay-counts": lines`${replayed}
		no ← "type":"Approval
		← "text":"Let me look."
		no ← "type":"Approval
		← "id":"{r}","result":{"status":"finished","events":10,"requests":0}`,
	"replay-empty": lines`${replayed}
		←! "id":"{r}","result":{"status":"finished","events":0,"requests":0}`,
	"replay-everything": lines`≡ "type":"ApprovalRequestResolved"
		${replayed}
		← ApprovalRequest
		←! ApprovalResponse & "response":"approve","feedback":""
		← ToolCallRequest
		← QuestionRequest
		← HookRequest
		← "id":"{r}","result":{"status":"finished","events":28,"requests":4}`,
	"replay-client-tool": lines`← =finished
		${replayed}
		← ToolCallRequest & "id":"{c}"
		← "id":"{r}","result":{"status":"finished" & "requests":1}
		→ "id":"{c}","result"
		nothing`,
	"replay-cancelled": lines`← =cancelled
		${replayed}
		no ← "type":"Approval
		← ToolCall
		← TurnEnd
		←! "id":"{r}","result":{"status":"finished"`,
};

/** By wire-protocol §2.6, §4.13, §4.14 and §8.2. */
export const commandScenarioProofs = {
	...compactionProofs,
	...skillProofs,
	...slashProofs,
	...sideQuestionProofs,
	...replayProofs,
};
