// What shows questions to the person, and plan mode.

const lines = String.raw;

const question = lines`← QuestionRequest & "id":"{ask}"`;
const result = lines`→ "id":"{ask}","result":{"request_id":"{ask}","answers":`;
const answered = lines`←! ToolResult & "is_error":false & "text":"User answered"`;
const unasked = lines`no ← QuestionRequest
	← ToolResult`;
const unsupported = lines`${unasked} & "is_error":true & "text":"Client unsupported"
	← =finished`;
const entering = lines`← ToolCall & "name":"EnterPlanMode"`;
const exiting = lines`← ToolCall & "name":"ExitPlanMode"`;
const shown = lines`${exiting}
	← PlanDisplay & # Plan
	${question}`;
const planOn = lines`← StatusUpdate & "plan_mode":true`;
const planOff = lines`← StatusUpdate & "plan_mode":false`;
const stillOn = lines`no ← "plan_mode":false
	${planOn}
	no ← "plan_mode":false
	← =finished`;

const questionProofs = {
	"question-answered": lines`${question}
		${result}{"Which DB?":"pg"}
		${answered} & {\"Which DB?\": \"pg\"}`,
	"question-several": lines`${question} & Which DB? & Größe?
		${result}{"Which DB?":"sqlite","Größe?":"S,L"}
		${answered} & \"Größe?\": \"S,L\"`,
	"question-free-text": lines`${question}
		${result}{"Which DB?":"neither
		${answered} & neither`,
	"question-unsupported": lines`→ initialize & "capabilities":{}
		← ToolCall & "name":"AskUserQuestion"
		${unsupported}`,
	"question-afk": lines`≡ with: afk
		← ToolCall & "name":"AskUserQuestion"
		${unasked} & Auto-dismissed (afk)
		← =finished`,
	"question-yolo": lines`≡ with: yolo
		${question}
		${result}
		${answered}`,
	afk: lines`≡ with: afk
		no ← ApprovalRequest
		← ToolCall & "name":"Shell"
		no ← ApprovalRequest
		← ToolResult & "is_error":false
		← =finished`,
	"replay-question": lines`${question}
		${result}
		← =finished
		→ replay & "id":"{r}"
		← QuestionRequest & "id":"{ask}"
		no → any
		← "id":"{r}","result":{"status":"finished","events":9,"requests":1}`,
};

const planProofs = {
	"plan-mode-unchanged": lines`→ set_plan_mode & "id":"{a}" & "enabled":true
		←! StatusUpdate & "plan_mode":true
		←! "id":"{a}","result":{"status":"ok","plan_mode":true}
		→ set_plan_mode & "id":"{b}" & "enabled":1
		←! StatusUpdate & "plan_mode":true
		←! "id":"{b}","result":{"status":"ok","plan_mode":true}`,
	"plan-enter-yes": lines`${entering}
		${question}
		${result}{"Enter plan mode?":"Yes"}
		←! ToolResult & "text":"Plan mode on"
		←! StatusUpdate & "plan_mode":true
		←! StepBegin & "n":2`,
	"plan-enter-no": lines`${entering}
		${question}
		${result}{"Enter plan mode?":"No"}
		no ← "plan_mode":true
		← ToolResult & "text":"Declined"
		no ← "plan_mode":true
		← =finished`,
	"plan-enter-dismissed": lines`${entering}
		${question}
		${result}{}
		no ← "plan_mode":true
		← ToolResult & "text":"Dismissed"
		no ← "plan_mode":true
		← =finished`,
	"plan-enter-yolo": lines`≡ with: yolo
		${entering}
		${unasked} & Plan mode on (auto)
		${planOn}`,
	"plan-enter-afk": lines`≡ with: afk
		${entering}
		${unasked} & Plan mode on (auto)
		${planOn}`,
	"plan-enter-by-approval": lines`→ initialize & "capabilities":{"supports_plan_mode":true}
		${entering}
		← ApprovalRequest & "id":"{ask}" & "sender":"EnterPlanMode"
		→ "id":"{ask}" & "response":"approve"
		← ToolResult & "text":"Plan mode on"
		${planOn}`,
	"plan-exit-by-approval": lines`→ initialize & "capabilities":{"supports_plan_mode":true}
		${exiting}
		← PlanDisplay & # Plan
		← ApprovalRequest & "id":"{ask}" & "sender":"ExitPlanMode" & # Plan
		→ "id":"{ask}" & "response":"reject","feedback":"shorter"
		← ToolResult & "is_error":false & shorter
		${exiting}
		← ApprovalRequest & "id":"{again}" & "sender":"ExitPlanMode"
		→ "id":"{again}" & "response":"approve"
		← ToolResult & "is_error":false & "text":"Plan approved"
		${planOff}`,
	// Questions are not enough by themselves.
	"plan-unsupported": lines`→ initialize & "capabilities":{"supports_question":true}
		← PlanMode"
		${unsupported}`,
	"plan-exit-approve": lines`${shown}
		${result}{"Approve this plan":"Approve"}
		←! ToolResult & "is_error":false & "text":"Plan approved"
		${planOff}
		← StepBegin & "n":2`,
	"plan-exit-option": lines`${shown} & "label":"Small" & "label":"Large"
		${result}{"Approve this plan":"Large"}
		←! ToolResult & "is_error":false & <text:middle>Large
		${planOff}
		← StepBegin & "n":2`,
	"plan-exit-reject": lines`${shown}
		${result}{"Approve this plan":"Reject"}
		no ← "plan_mode":false
		← ToolResult & "is_error":true & "text":"Plan rejected"
		no ← "plan_mode":false
		← TurnEnd
		←! =finished`,
	"plan-exit-reject-and-exit": lines`${shown}
		${result}{"Approve this plan":"Reject and Exit"}
		←! ToolResult & "is_error":true & exited plan mode
		${planOff}
		no ← StepBegin
		← TurnEnd
		←! =finished`,
	"plan-exit-revise": lines`${shown}
		${result}{"Approve this plan":"shorter, please"}
		←! ToolResult & "is_error":false & shorter, please & Plan revision requested
		←! StepBegin & "n":2
		${stillOn}`,
	"plan-exit-dismissed": lines`${shown}
		${result}{}
		←! ToolResult & "text":"Dismissed"
		←! StepBegin & "n":2
		${stillOn}`,
	"plan-exit-without-plan": lines`no ← PlanDisplay
		${exiting}
		no ← PlanDisplay
		← ToolResult & "is_error":true & No plan file
		→ set_plan_mode & "enabled":false
		no ← PlanDisplay
		${exiting}
		no ← PlanDisplay
		← ToolResult & "is_error":true & Not in plan mode`,
	"plan-exit-afk": lines`≡ with: afk
		no ← PlanDisplay
		${exiting}
		no ← PlanDisplay
		← ToolResult & "is_error":false & Plan approved
		${planOff}`,
	"plan-exit-yolo": lines`≡ with: yolo
		${shown}
		${result}{"Approve this plan":"Approve"}
		←! ToolResult & Plan approved`,
	"plan-edits": lines`≡ "plan_mode":true
		no ← ApprovalRequest
		← ToolCall & "name":"WriteFile" & x.txt
		no ← ApprovalRequest
		← ToolResult & "is_error":true & Plan mode restriction
		no ← ApprovalRequest
		← ToolCall & "name":"WriteFile" & /plans/
		no ← ApprovalRequest
		← ToolResult & "is_error":false
		← =finished`,
	"plan-restart": lines`→ set_plan_mode & "enabled":true
		← "plan_mode":true}
		← =finished
		process
		→ prompt
		no ← "plan_mode":false
		${planOn}
		no ← "plan_mode":false
		← =finished`,
	"plan-flag": lines`≡ with: plan
		no → set_plan_mode
		← StepBegin
		${planOn}
		← =finished`,
	"plan-default": lines`≡ "default_plan_mode":true
		no → set_plan_mode
		${planOn}
		← =finished
		process
		no ← "plan_mode":true
		${planOff}
		no ← "plan_mode":true
		← =finished`,
	"plan-not-supported": lines`≡ exclude_tools:
		→ set_plan_mode & "id":"{a}" & "enabled":true
		←! "id":"{a}","error":{"code":-32000,"message":"Plan mode is not supported"
		no ← "plan_mode":true`,
};

/** By wire-protocol §4.8 and §4.9. */
export const modeScenarioProofs = { ...questionProofs, ...planProofs };
