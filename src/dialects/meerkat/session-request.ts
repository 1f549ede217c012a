// The creation options of a `session/create`, merged with the configuration for new sessions.
import { isRecord } from "../../base/json.ts";
import type { CreationOptions, OutputSchema, ToolScope } from "../../kernel/api.ts";
import { type BlocksOrText, joined, toInput } from "./blocks.ts";
import type { ConfigView } from "./configuration/config-view.ts";
import { toMilliseconds } from "./duration.ts";
import { NamedError } from "./errors.ts";
import type { BudgetLimits, SessionCreateParams } from "./wire.ts";

/** What the request says, as the client's protocol has it. */
export interface RequestCircumstances {
	/** In the contract tools are there unless they are switched off. */
	readonly isContract: boolean;
	/** Whether the client answers approvals. If not, it has decided with the tools that it enables. */
	readonly answersApprovals: boolean;
}

export function toSessionRequest(
	params: SessionCreateParams,
	config: ConfigView,
	{ isContract, answersApprovals }: RequestCircumstances,
): CreationOptions {
	const { agent, max_tokens } = config;
	return {
		model: params.model ?? (params.provider === null ? agent.model : null),
		provider: params.provider,
		maxAnswerTokens: params.max_tokens ?? max_tokens,
		systemPrompt: params.system_prompt ?? agent.system_prompt,
		maxSteps: agent.max_turns,
		budgets: toBudgets(params),
		tools: toTools(params, isContract),
		...(isContract && params.shell_env !== null ? { environment: params.shell_env } : {}),
		...(params.labels === null ? {} : { labels: params.labels }),
		...(isContract ? toContractOptions(params) : {}),
		...(answersApprovals ? {} : { permissions: { whenUnattended: "creator" } }),
	};
}

function toContractOptions(params: SessionCreateParams): Partial<CreationOptions> {
	const { additional_instructions: instructions, initial_turn } = params;
	const outputSchema = toOutputSchema(params);
	const staged = initial_turn === "deferred" ? withContext(params.injected_context, params.prompt) : "";
	return {
		...(instructions === null || instructions.length === 0 ? {} : { addedInstructions: instructions }),
		...(outputSchema === null ? {} : { outputSchema }),
		...(staged.length === 0 ? {} : { stagedInput: toInput(staged) }),
	};
}

/** The prompt after what the client put before it. */
export function withContext(context: readonly BlocksOrText[] | null, prompt: BlocksOrText): BlocksOrText {
	return joined((context ?? []).reduce(joined, ""), prompt);
}

const envelopeKeys: ReadonlySet<string> = new Set(["schema", "name", "strict", "compat", "format"]);

/** A JSON Schema, or an envelope with it: that is recognised by its format, or by having no other members. */
function toOutputSchema(params: SessionCreateParams): OutputSchema | null {
	const { output_schema: given, structured_output_retries: retries } = params;
	if (given === null) return null;
	if (!isRecord(given)) {
		throw new NamedError("INVALID_PARAMS", "Invalid output_schema: Schema must be a JSON object at the root");
	}
	const { schema, format } = given;
	const isEnvelope =
		isRecord(schema) && (format === "meerkat_v1" || Object.keys(given).every((key) => envelopeKeys.has(key)));
	return { schema: isEnvelope ? schema : given, retries: retries ?? 2 };
}

function toTools({ enable_builtins, enable_shell }: SessionCreateParams, isContract: boolean): ToolScope {
	const hasBuiltins = enable_builtins ?? isContract;
	const hasShell = enable_shell ?? isContract;
	if (hasBuiltins) return hasShell ? "all" : "without-commands";
	// The first protocol has commands only together with the other tools.
	return hasShell && isContract ? "commands" : "none";
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
