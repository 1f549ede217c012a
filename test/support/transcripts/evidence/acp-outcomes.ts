// What shows the outcomes of the requests of the Agent Client Protocol.

const lines = String.raw;

const asked = lines`← "method":"session/request_permission","id":"{ask}"`;
const form = lines`← "method":"elicitation/create","id":"{ask}"`;
const chosen = (option: string) =>
	lines`→ "id":"{ask}","result":{"outcome":{"outcome":"selected","optionId":"${option}"}}`;
const acted = lines`← "status":"in_progress"
	← "status":"completed"`;
/** A call that is refused never acts, and its turn ends in good order. */
const refused = lines`no ← "status":"in_progress"
	← "status":"failed"
	← "stopReason":"end_turn"`;
const dismissed = lines`← User dismissed the question`;

export const acpOutcomeProofs = {
	"permission/approve": lines`${asked} & "optionId":"approve" & "optionId":"reject"
		${chosen("approve")}
		${acted}`,
	"permission/approve_for_session": lines`${asked} & "optionId":"approve_for_session"
		${chosen("approve_for_session")}
		${acted}
		no ← session/request_permission
		← "status":"completed"`,
	"permission/approve_once": lines`${asked}
		${chosen("approve_once")}
		${acted}`,
	"permission/approve_always": lines`${asked}
		${chosen("approve_always")}
		${acted}`,
	"permission/reject": lines`${asked}
		${chosen("reject")}
		${refused}`,
	"permission/reject_once": lines`${asked}
		${chosen("reject_once")}
		${refused}`,
	"permission/unknown-id": lines`${asked}
		${chosen("maybe")}
		${refused}`,
	"permission/cancelled": lines`${asked}
		→ "id":"{ask}","result":{"outcome":{"outcome":"cancelled"}}
		${refused}`,
	"permission/error-reply": lines`${asked}
		→ "id":"{ask}","error"
		${refused}`,
	"permission/malformed": lines`${asked}
		→ "id":"{ask}","result":{}}
		${refused}`,
	"permission/withdrawn": lines`${asked}
		→ session/cancel
		←! "method":"$/cancel_request","params":{"requestId":"{ask}"}
		← "status":"failed"
		← "stopReason":"cancelled"
		${chosen("approve")}
		no ← "status":"in_progress"
		← "stopReason":"end_turn"`,
	"question/chosen": lines`${asked} & "optionId":"option_1" & "optionId":"skip"
		${chosen("option_1")}
		← "rawOutput":"{\"answers\"`,
	"question/skipped": lines`${asked}
		${chosen("skip")}
		${dismissed}`,
	"question/cancelled": lines`${asked} & AskUserQuestion
		→ "id":"{ask}","result":{"outcome":{"outcome":"cancelled"}}
		${dismissed}`,
	"form/accepted": lines`${form} & "q1":{"type":"array"
		→ "id":"{ask}","result":{"action":"accept","content":{"q0":"A","q1":["X","Y"]}}
		← X, Y`,
	"form/in-other-words": lines`${form}
		→ "id":"{ask}","result":{"action":"accept" & "q0_other":"Neither"
		← \"Neither`,
	"form/declined": lines`${form}
		→ "id":"{ask}","result":{"action":"decline"}
		${dismissed}`,
	"form/cancelled": lines`${form}
		→ "id":"{ask}","result":{"action":"cancel"}
		${dismissed}`,
	"form/error-reply": lines`${form}
		→ "id":"{ask}","error"
		← "tool_call_update"
		← "stopReason":"end_turn"`,
	"plan/approved": lines`${asked} & "kind":"switch_mode" & # Plan & "optionId":"plan_approve"
		${chosen("plan_approve")}
		← "currentModeId":"default"`,
	"plan/revised": lines`${asked}
		${chosen("plan_revise")}
		no ← "current_mode_update"
		← "stopReason":"end_turn"`,
	"plan/left": lines`${asked}
		${chosen("plan_reject_and_exit")}
		← "currentModeId":"default"`,
	"plan/option": lines`${asked} & "optionId":"plan_opt_0" & "optionId":"plan_opt_1"
		${chosen("plan_opt_1")}
		← "status":"completed" & Large`,
};
