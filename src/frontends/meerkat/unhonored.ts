// Contract fields without an effect here are rejected, so that no client relies on them.
import { isRecord } from "../../base/json.ts";
import { cut } from "../../base/text/sentence.ts";
import { NamedError } from "./errors.ts";

/** For `session/create`, in both eras. */
const ofCreate = [
	"app_context",
	"auth_binding",
	"budget",
	"comms_name",
	"enable_memory",
	"enable_mob",
	"enable_schedule",
	"enable_web_search",
	"enable_workgraph",
	"external_tools",
	"hooks",
	"host_mode",
	"keep_alive",
	"peer_meta",
	"skill_references",
	"turn_tool_overlay",
] as const;

const ofTurn: ReadonlySet<string> = new Set([
	"session_id",
	"prompt",
	"model",
	"provider",
	"session_events",
	"injected_context",
	"skill_refs",
	"additional_instructions",
	"system_prompt",
	"provider_params",
	"transient_turn_context",
	"turn_tool_overlay",
]);

/** Needs a run, so invalid for a creation without one. */
const ofRun = ["injected_context", "skill_refs", "transient_turn_context"] as const;

/** Creation options, for all turns of a session. */
const fixed: ReadonlySet<string> = new Set(["max_tokens", "output_schema", "structured_output_retries"]);

/** For `session/create` in the first protocol; the contract supports these. */
const ofContractCreate = [
	"additional_instructions",
	"injected_context",
	"output_schema",
	"preload_skills",
	"provider_params",
	"shell_env",
	"skill_refs",
	"structured_output_retries",
	"tool_filter",
	"transient_turn_context",
] as const;

/** For `turn/start` in the first protocol. */
const ofFirstTurn = [
	...ofCreate,
	...ofContractCreate,
	"budget_limits",
	"enable_builtins",
	"enable_shell",
	"hooks_override",
	"initial_turn",
	"labels",
	"max_tokens",
	"model",
	"provider",
	"system_prompt",
	"turn_budget_limits",
] as const;

/** Configuration members that limit sessions, by path. */
const ofConfig = [
	["agent", "output_schema"],
	["agent", "provider_params"],
	["budget"],
	["budget_limits"],
	["hooks"],
	["limits"],
	["output_schema"],
	["shell", "security_patterns"],
	["tool_filter"],
	["turn_budget_limits"],
	["turn_tool_overlay"],
] as const;

type Fields = Readonly<Record<string, unknown>>;

/** Null, false, and empty lists and objects ask for nothing. */
function isGiven(value: unknown): boolean {
	if (value === undefined || value === null || value === false) return false;
	return typeof value !== "object" || Object.keys(value).length > 0;
}

/** Throws INVALID_PARAMS for a request of the first protocol with a field that has no effect there. */
export function refuseUnhonoredOfFirst(params: Fields, of: "create" | "turn"): void {
	const field = (of === "create" ? [...ofCreate, ...ofContractCreate] : ofFirstTurn).find((name) =>
		isGiven(params[name]),
	);
	if (field === undefined) return;
	throw new NamedError(
		"INVALID_PARAMS",
		`Invalid params: \`${field}\` has no effect in \`${of === "create" ? "session/create" : "turn/start"}\` of the first protocol; leave it out, or call \`capabilities/get\` for the present contract.`,
	);
}

/** Throws INVALID_PARAMS for a configuration, or a change of one, with a limit that has no effect here. */
export function refuseUnhonoredOfConfig(config: unknown): void {
	const found = ofConfig.find((path) =>
		asks(path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : null), config)),
	);
	if (found === undefined) return;
	throw new NamedError(
		"INVALID_PARAMS",
		`Invalid params: \`${found.join(".")}\` of the configuration has no effect here; give budgets, hooks and schemas to \`session/create\`.`,
	);
}

const aboutHooks: ReadonlySet<string> = new Set([
	"background_max_concurrency",
	"default_timeout_ms",
	"payload_max_bytes",
]);

/** Whether it asks for more than the defaults of other servers, which are nulls and empty lists. */
function asks(value: unknown): boolean {
	if (!isRecord(value)) return isGiven(value);
	return Object.entries(value).some(([name, member]) => !aboutHooks.has(name) && asks(member));
}

/** Throws INVALID_PARAMS for a creation with a field that has no effect here. */
export function refuseUnhonoredOfCreate(params: Fields): void {
	const isDeferred = params["initial_turn"] === "deferred";
	const early = isDeferred ? ofRun.find((name) => isGiven(params[name])) : undefined;
	if (early !== undefined) {
		throw new NamedError(
			"INVALID_PARAMS",
			`Invalid params: \`${early}\` is for a run, and this creation has none; give it to \`turn/start\`.`,
		);
	}
	const field = ofCreate.find((name) => isGiven(params[name]));
	if (field !== undefined) {
		throw new NamedError("INVALID_PARAMS", `Invalid params: this server does not support \`${field}\`; leave it out.`);
	}
}

/** Throws INVALID_PARAMS for a turn with a field that is unknown or has no effect here. */
export function refuseUnhonoredOfTurn(params: Fields): void {
	const field = Object.keys(params).find((name) => !ofTurn.has(name) && params[name] !== null);
	if (field === undefined) return;
	if (fixed.has(field)) {
		throw new NamedError(
			"INVALID_PARAMS",
			`Invalid params: \`${field}\` is a build setting fixed when the session's agent is built; a turn cannot override it (set it on session/create, a deferred create included)`,
		);
	}
	const shown = cut(field, 100);
	const known = [...ofTurn].map((name) => `\`${name}\``).join(", ");
	throw new NamedError(
		"INVALID_PARAMS",
		`Invalid params: this server does not support \`${shown}\`; it takes ${known}.`,
	);
}
