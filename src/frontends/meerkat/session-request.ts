// Merges the options of `session/create` with the configuration for new sessions.
import type { CreationOptions, ToolScope } from "../../api/session-options.ts";
import type { ConfigView } from "./configuration/config-view.ts";
import { toEveryTurn } from "./turns/turn-fields.ts";
import { toInput } from "./wire/blocks.ts";
import { toMilliseconds } from "./wire/duration.ts";
import { toSessionHooks } from "./wire/wire-hooks.ts";
import type { BudgetLimits, SessionCreateParams } from "./wire.ts";

export interface RequestCircumstances {
	/** In the contract tools are available unless they are switched off. */
	readonly isContract: boolean;
	/** A client that does not answer approvals decides by enabling tools. */
	readonly answersApprovals: boolean;
	readonly skills: readonly string[];
}

export function toSessionRequest(
	params: SessionCreateParams,
	config: ConfigView,
	{ isContract, answersApprovals, skills }: RequestCircumstances,
): CreationOptions {
	const { agent, max_tokens } = config;
	const { prompt, initial_turn } = params;
	return {
		model: params.model ?? (params.provider === null ? agent.model : null),
		provider: params.provider,
		maxAnswerTokens: params.max_tokens ?? max_tokens,
		systemPrompt: toSystemPrompt(params.system_prompt) ?? agent.system_prompt,
		maxSteps: agent.max_turns,
		budgets: toBudgets(params),
		tools: toTools(params, isContract),
		...toHooks(params),
		...(isContract && params.shell_env !== null ? { environment: params.shell_env } : {}),
		...(isContract ? toContractOptions(params, skills) : {}),
		...(initial_turn === "deferred" && prompt.length > 0 ? { stagedInput: toInput(prompt) } : {}),
		...(params.labels === null ? {} : { labels: params.labels }),
		...(answersApprovals ? {} : { permissions: { whenUnattended: "creator" } }),
	};
}

function toSystemPrompt(given: SessionCreateParams["system_prompt"]): string | null {
	return given === null || typeof given === "string" ? given : "";
}

function toContractOptions(
	params: SessionCreateParams,
	skills: readonly string[],
): Pick<CreationOptions, "instructions" | "turns"> {
	const { additional_instructions } = params;
	const instructions = [...skills, ...(additional_instructions ?? [])];
	return {
		turns: toEveryTurn(params),
		...(instructions.length === 0 ? {} : { instructions }),
	};
}

function toHooks({ hooks_override: override }: SessionCreateParams): Pick<CreationOptions, "hooks"> {
	const hooks = override === null ? [] : toSessionHooks(override);
	return hooks.length === 0 ? {} : { hooks };
}

function toTools({ enable_builtins, enable_shell }: SessionCreateParams, isContract: boolean): ToolScope {
	const hasBuiltins = enable_builtins ?? isContract;
	const hasShell = enable_shell ?? isContract;
	if (hasBuiltins) return hasShell ? "all" : "without-commands";
	return hasShell ? "commands" : "none";
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
	if (typeof duration === "object" && duration !== null) return duration.secs + duration.nanos / 1e9;
	const milliseconds = typeof duration === "string" ? toMilliseconds(duration) : duration;
	return milliseconds === null ? null : milliseconds / 1000;
}
