// The texts of the document of Meerkat RPC for what the present contract adds to results and events: references to
// sessions, what was counted, why runs failed, and to which run a message belongs.

const reference = "The session by realm and id, `<realm>:<id>`; accepted wherever an id is.";
const interactionId =
	"The input that began the run. Each run has its own, so this is the run's id; runs of external events have none.";
const ofRun = "The run to which the message belongs; absent if the log does not have it.";

/** Hooks that a client gives a session. */
const hookTexts = {
	"SessionCreateParams.hooks_override":
		"Hooks of this session, in addition to those in the settings, also in later processes. [Their inputs and answers](../../guides/meerkat.md#hooks-of-a-session).",
	HooksOverride: "Hooks of a session. Unknown members are refused.",
	"HooksOverride.entries": "The hooks, 100 at most.",
	"HooksOverride.disable": "Must be empty: hooks in the settings always apply.",
	HookEntry: "A hook.",
	"HookEntry.id": "Its name in events and errors.",
	"HookEntry.enabled": "False leaves it out.",
	"HookEntry.point": "The point at which it runs.",
	"HookEntry.mode":
		"`foreground`: the run waits for it. `background`: it runs in parallel with the run, and can only observe.",
	"HookEntry.capability":
		"`guardrail` for a hook that may deny: only at `pre_tool_execution`, `post_tool_execution` and `run_completed`. There a denial by an observing hook counts too.",
	"HookEntry.priority": "Lower priorities run first.",
	"HookEntry.failure_policy":
		"`fail_open`: the run continues if the hook fails. Otherwise the run fails too, unless the hook is in the background.",
	"HookEntry.timeout_ms": "Time limit in milliseconds, at most 600,000; default 5000.",
	"HookEntry.model_operations": "Has no effect: no hook sees the requests for structured output.",
	"HookEntry.runtime": "What to run. Handlers within the server (`in_process`) are refused: there are none.",
	HookCommand: "A program, without a shell. It gets the input on stdin and answers on stdout.",
	"HookCommand.command": "The program.",
	"HookCommand.args": "Its arguments.",
	"HookCommand.env": "Added to its environment.",
	HookRequest:
		"A request over HTTP, with the input as its body. Any status but 2xx is a failure; redirects are not followed.",
	"HookRequest.url": "Its address.",
	"HookRequest.method": "Its method.",
	"HookRequest.headers": "Its headers.",
};

export const contractTexts = {
	...hookTexts,
	"SessionCreateParams.transient_turn_context":
		"A message after the prompt, only in the requests of this run: it does not stay in the conversation.",
	"TurnStartParams.transient_turn_context":
		"A message after the prompt, only in the requests of this turn: it does not stay in the conversation.",
	"SessionCreateParams.tool_filter": `The tools of the session and its subagents, by name: \`"All"\`, \`{"Allow":[…]}\` for only these, \`{"Deny":[…]}\` for all others. A \`turn_tool_overlay\` can only remove tools.`,
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
	"TurnStopRunResult.receipt.contributors": "The inputs of the stopped run; absent if it was not running.",
	"TurnStopRunResult.receipt.contributors[].input_id": interactionId,
	"RunStarted.identity.interaction_id": interactionId,
	"RunCompleted.identity.interaction_id": interactionId,
	"RunFailed.identity.interaction_id": interactionId,
	"Retrying.retry.failure.kind": "`rate_limited` when the provider limits requests (HTTP 429).",
	"RunFailed.error_report.reason":
		"Why it failed; absent when a person cancelled the run. `turn_terminal_cause` repeats `terminal_cause_kind`; the others name the hook of the session that failed the run.",
	"RunFailed.terminal_cause_kind":
		"Why it failed: `llm_failure` and `retry_exhausted` (after more than one attempt) for the provider, `runtime_apply_failure` for a model that cannot be called at all, `hook_failure` and `hook_denied` for hooks.",
	"ToolExecute.dedupe_key": "Identifies the call, for clients that must not do the same twice.",
	"ToolExecute.dedupe_key.run_id": "The run.",
	"ToolExecute.dedupe_key.round": "The model call of the run, from 0.",
	"ToolExecute.dedupe_key.call_id": "The id that the model gave the call.",
	"ToolExecute.dedupe_key.call_digest": "SHA-256 of the name and the arguments, in hexadecimal digits.",
	"SessionDetails.resolved_capabilities":
		"What its model accepts and does, by the settings; absent if they no longer have the model.",
	"SessionDetails.resolved_capabilities.vision": "Whether it can see images.",
	"SessionDetails.resolved_capabilities.image_input": "Whether prompts may have images.",
	"SessionDetails.resolved_capabilities.image_tool_results": "Whether tool results may have images.",
	"SessionDetails.resolved_capabilities.inline_video": "Whether prompts may have videos.",
	"SessionDetails.resolved_capabilities.mid_conversation_system_messages":
		"Always true: a later turn can change the system prompt of every model.",
	"UserMessage.interaction_id": interactionId,
	"UserMessage.run_id": ofRun,
	"AssistantMessage.interaction_id": interactionId,
	"AssistantMessage.run_id": ofRun,
	"ResultsMessage.interaction_id": interactionId,
	"ResultsMessage.run_id": ofRun,
	"ErrorData.hook_id": "The session's hook that failed the run, or denied its end.",
	"ErrorData.point": "Where it was consulted.",
	"ErrorData.error": "Why a run failed, as data.",
	"ErrorData.error.kind": "Why, as in `run_failed`.",
	"ErrorData.error.outcome": "How it ended.",
	"ErrorData.error.detail": "As the message.",
};
