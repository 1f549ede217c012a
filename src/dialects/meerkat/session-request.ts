// The creation options of a `session/create`, merged with the configuration for new sessions.
import type { CreationOptions } from "../../kernel/api.ts";
import type { ConfigView } from "./configuration/config-view.ts";
import { toMilliseconds } from "./duration.ts";
import type { BudgetLimits, SessionCreateParams } from "./wire.ts";

export function toSessionRequest(params: SessionCreateParams, config: ConfigView): CreationOptions {
	const { agent, max_tokens } = config;
	const hasBuiltins = params.enable_builtins === true;
	return {
		model: params.model ?? (params.provider === null ? agent.model : null),
		provider: params.provider,
		maxAnswerTokens: params.max_tokens ?? max_tokens,
		systemPrompt: params.system_prompt ?? agent.system_prompt,
		maxSteps: agent.max_turns,
		budgets: toBudgets(params),
		tools: !hasBuiltins ? "none" : params.enable_shell === true ? "all" : "without-commands",
	};
}

function toBudgets({ budget_limits, turn_budget_limits }: SessionCreateParams): CreationOptions["budgets"] {
	return {
		sessionTokens: budget_limits?.max_tokens ?? null,
		sessionSeconds: toSeconds(budget_limits),
		sessionToolCalls: budget_limits?.max_tool_calls ?? null,
		turnTokens: turn_budget_limits?.max_tokens ?? null,
		turnSeconds: toSeconds(turn_budget_limits),
		turnToolCalls: turn_budget_limits?.max_tool_calls ?? null,
	};
}

function toSeconds(limits: BudgetLimits | null): number | null {
	const duration = limits?.max_duration ?? null;
	const milliseconds = typeof duration === "string" ? toMilliseconds(duration) : duration;
	return milliseconds === null ? null : milliseconds / 1000;
}
