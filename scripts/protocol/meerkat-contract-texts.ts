// The texts of the document of Meerkat RPC for what the present contract adds to results and events: references to
// sessions, what was counted, why runs failed, and to which run a message belongs.

const reference = "The session by its realm and its id, `<realm>:<id>`; it may be given wherever an id may.";
const interactionId =
	"The input that began the run. Each run has one of its own, so it is the id of the run; one of external events has none.";
const ofRun = "The run to which the message belongs; absent where the log does not have it.";

export const contractTexts = {
	"SessionCreateParams.transient_turn_context":
		"A message after the prompt, in the requests of this run alone: it does not stay in the conversation.",
	"TurnStartParams.transient_turn_context":
		"A message after the prompt, in the requests of this turn alone: it does not stay in the conversation.",
	"SessionCreateParams.tool_filter": `The tools of the session, by name, those of its subagents included: \`"All"\`, \`{"Allow":[…]}\` for these alone, \`{"Deny":[…]}\` for all others. A \`turn_tool_overlay\` leaves fewer, and never more.`,
	"SessionCreateResult.session_ref": reference,
	"SessionHistoryResult.session_ref": reference,
	"SessionForkAtResult.session_ref": reference,
	"SessionForkReplaceResult.session_ref": reference,
	"TurnStartResult.session_ref": reference,
	"SessionSummary.session_ref": reference,
	"SessionDetails.session_ref": reference,
	Accounting: "How the tokens of a model call were counted.",
	"Accounting.provider": "The provider of the model.",
	"Accounting.model": "The model by the name sent to the provider.",
	"Accounting.presented_tokens": "All tokens of the input, cached ones among them.",
	"Accounting.convention":
		"The provider, and `_disjoint_input_components`: the parts of the input do not overlap, however the provider counts.",
	CountedUsage: "The tokens of one model call.",
	"CountedUsage.input_tokens": "Of the input, cached ones included.",
	"CountedUsage.output_tokens": "Of the answer.",
	"CountedUsage.cache_creation_tokens": "Written to the cache; null when none were, or it is not known.",
	"CountedUsage.cache_read_tokens": "Read from the cache; null when none were, or it is not known.",
	"CountedUsage.accounting": "How they were counted.",
	RequestUsage: "The tokens of one model call, in a result.",
	"RequestUsage.input_tokens": "Of the input, cached ones included.",
	"RequestUsage.output_tokens": "Of the answer.",
	"RequestUsage.cache_creation_tokens": "Written to the cache; absent when none were, or it is not known.",
	"RequestUsage.cache_read_tokens": "Read from the cache; absent when none were, or it is not known.",
	"RequestUsage.total_tokens": "The sum.",
	"RequestUsage.accounting": "How they were counted.",
	"TurnStartResult.skill_diagnostics":
		"The skills of the session. Those that cannot be read are left out, and the log names them.",
	"TurnStartResult.skill_diagnostics.source_health": "Their state.",
	"TurnStartResult.skill_diagnostics.source_health.total_count": "How many there are.",
	"TurnStartResult.skill_diagnostics.quarantined": "Always empty.",
	"TurnStopRunResult.receipt.contributors": "What the run that was stopped was about; absent when it does not run.",
	"TurnStopRunResult.receipt.contributors[].input_id": interactionId,
	"RunStarted.identity.interaction_id": interactionId,
	"RunCompleted.identity.interaction_id": interactionId,
	"RunFailed.identity.interaction_id": interactionId,
	"Retrying.retry.failure.kind": "`rate_limited` when the provider limits requests (HTTP 429).",
	"RunFailed.error_report.reason": "Why it failed; absent when a person cancelled the run.",
	"RunFailed.error_report.reason.outcome": "How it ended.",
	"RunFailed.error_report.reason.cause_kind":
		"`llm_failure` and `retry_exhausted` (after more than one attempt) for the provider, `runtime_apply_failure` for a model that cannot be called at all.",
	"RunFailed.terminal_cause_kind": "As `error_report.reason.cause_kind`.",
	"ToolExecute.dedupe_key": "Names the call, for a client that must not do the same twice.",
	"ToolExecute.dedupe_key.run_id": "The run.",
	"ToolExecute.dedupe_key.round": "The model call of the run, from 0.",
	"ToolExecute.dedupe_key.call_id": "The id that the model gave the call.",
	"ToolExecute.dedupe_key.call_digest": "SHA-256 of the name and the arguments, in hexadecimal digits.",
	"SessionDetails.resolved_capabilities":
		"What its model accepts and does, by the settings; absent when they have the model no more.",
	"SessionDetails.resolved_capabilities.vision": "Whether it is shown images.",
	"SessionDetails.resolved_capabilities.image_input": "Whether prompts may have images.",
	"SessionDetails.resolved_capabilities.image_tool_results": "Whether results of tools may have images.",
	"SessionDetails.resolved_capabilities.inline_video": "Whether prompts may have videos.",
	"SessionDetails.resolved_capabilities.mid_conversation_system_messages":
		"Always true: a later turn can change the system prompt of every model.",
	"UserMessage.interaction_id": interactionId,
	"UserMessage.run_id": ofRun,
	"AssistantMessage.interaction_id": interactionId,
	"AssistantMessage.run_id": ofRun,
	"ResultsMessage.interaction_id": interactionId,
	"ResultsMessage.run_id": ofRun,
	"ErrorData.error": "Of a run that failed.",
	"ErrorData.error.kind": "Why, as in `run_failed`.",
	"ErrorData.error.outcome": "How it ended.",
	"ErrorData.error.detail": "As the message.",
};
