// Session creation options, persisted for every opening. Omitted: null options, values that the state stores itself (grants,
// directories; of the mode, only given values are here), and values that may contain keys (environment, MCP servers).
import * as v from "valibot";
import type { CreationOptions, ToolScope } from "../../api/session-options.ts";
import { userInputSchema } from "../../api/values/content.ts";
import { sessionHooksSchema } from "../../api/values/hooks/session-hook.ts";
import { turnOptionsSchema } from "../../api/values/turn-options.ts";
import { isRecord } from "../../base/json.ts";
import { toolScopes } from "../compose/agent-restriction.ts";
import type { ModelChange } from "../session/session-model.ts";

const amount = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)));
/** 0 means unlimited. */
const bound = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)));
const time = v.optional(v.pipe(v.number(), v.gtValue(0)));
const text = v.optional(v.string());

const persistedSchema = v.pipe(
	v.object({
		model: text,
		provider: text,
		thinking: v.optional(v.boolean()),
		max_answer_tokens: bound,
		max_steps: amount,
		system_prompt: text,
		/** Absent for a session created without options that got a model later. */
		tools: v.optional(v.picklist(toolScopes)),
		agent: text,
		plan_mode: v.optional(v.boolean()),
		approves_everything: v.optional(v.boolean()),
		is_away: v.optional(v.boolean()),
		when_unattended: v.optional(v.picklist(["approve", "creator", "reject", "wait"])),
		labels: v.optional(v.record(v.string(), v.string())),
		instructions: v.optional(v.array(v.string())),
		turns: v.optional(turnOptionsSchema),
		hooks: v.optional(sessionHooksSchema),
		staged_input: v.optional(userInputSchema),
		budgets: v.optional(
			v.object({
				session_tokens: amount,
				session_seconds: time,
				session_tool_calls: amount,
				turn_tokens: amount,
				turn_seconds: time,
				turn_tool_calls: amount,
			}),
			{},
		),
	}),
	v.check(({ tools, model, thinking, turns }) => [tools, model, thinking, turns].some((given) => given !== undefined)),
);

export interface StoredCreationOptions extends Omit<CreationOptions, "tools"> {
	/** Null when each opening decides. */
	readonly tools: ToolScope | null;
}

export function readCreationOptions(value: unknown): StoredCreationOptions | null {
	const parsed = v.safeParse(persistedSchema, value);
	if (!parsed.success) return null;
	const { model, provider, max_answer_tokens, max_steps, system_prompt, tools, budgets, ...more } = parsed.output;
	const { agent, thinking, plan_mode, approves_everything, is_away, when_unattended, labels } = more;
	const { instructions, turns, hooks, staged_input } = more;
	return {
		...(instructions === undefined ? {} : { instructions }),
		...(turns === undefined ? {} : { turns }),
		...(hooks === undefined ? {} : { hooks }),
		...(staged_input === undefined ? {} : { stagedInput: staged_input }),
		...(labels === undefined ? {} : { labels }),
		...(agent === undefined ? {} : { agent }),
		mode: {
			...(plan_mode === undefined ? {} : { planMode: plan_mode }),
			...(approves_everything === undefined ? {} : { approvesEverything: approves_everything }),
			...(is_away === undefined ? {} : { isAway: is_away }),
		},
		permissions: when_unattended === undefined ? {} : { whenUnattended: when_unattended },
		...(thinking === undefined ? {} : { thinking }),
		model: model ?? null,
		provider: provider ?? null,
		maxAnswerTokens: max_answer_tokens ?? null,
		maxSteps: max_steps ?? null,
		systemPrompt: system_prompt ?? null,
		tools: tools ?? null,
		budgets: {
			sessionTokens: budgets.session_tokens ?? null,
			sessionSeconds: budgets.session_seconds ?? null,
			sessionToolCalls: budgets.session_tool_calls ?? null,
			turnTokens: budgets.turn_tokens ?? null,
			turnSeconds: budgets.turn_seconds ?? null,
			turnToolCalls: budgets.turn_tool_calls ?? null,
		},
	};
}

/** Returns why a later process could not read the options, or null. */
export function findUnreadableOption(creationOptions: CreationOptions): string | null {
	const parsed = v.safeParse(persistedSchema, toPersistedCreationOptions(creationOptions));
	if (parsed.success) return null;
	const [issue] = parsed.issues;
	return `${v.getDotPath(issue) ?? "the options"} must be ${issue.expected}, and is ${issue.received}`;
}

/** Stored creation options with another model. Without options: only the model. Unreadable ones stay without tools. */
export function withModel(persisted: unknown, { model, thinking }: ModelChange): object {
	const isReadable = isRecord(persisted) && readCreationOptions(persisted) !== null;
	const { provider = null, ...others } = isReadable ? persisted : persisted === null ? {} : { tools: "none" };
	// The alias implies the provider.
	const chosen = model === null ? { provider } : { model };
	return given({ ...others, ...chosen, ...(thinking === null ? {} : { thinking }) });
}

export function toPersistedCreationOptions(creationOptions: CreationOptions): object {
	const { model, provider, maxAnswerTokens, maxSteps, systemPrompt, tools, budgets, ...more } = creationOptions;
	const { agent = null, thinking = null, mode = {}, permissions = {}, labels = null } = more;
	const { instructions = null, turns = null, hooks = null, stagedInput = null } = more;
	return given({
		instructions,
		turns,
		hooks,
		staged_input: stagedInput,
		labels,
		agent,
		plan_mode: mode.planMode ?? null,
		approves_everything: mode.approvesEverything ?? null,
		is_away: mode.isAway ?? null,
		when_unattended: permissions.whenUnattended ?? null,
		tools,
		model,
		provider,
		thinking,
		max_answer_tokens: maxAnswerTokens,
		max_steps: maxSteps,
		system_prompt: systemPrompt,
		budgets: given({
			session_tokens: budgets.sessionTokens,
			session_seconds: budgets.sessionSeconds,
			session_tool_calls: budgets.sessionToolCalls,
			turn_tokens: budgets.turnTokens,
			turn_seconds: budgets.turnSeconds,
			turn_tool_calls: budgets.turnToolCalls,
		}),
	});
}

function given(fields: object): object {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
