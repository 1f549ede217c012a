// Fields of requests in the contract that have no effect here: a request with one is refused, so that no client relies on what
// does not happen.
import { cut } from "../../base/sentence.ts";
import { NamedError } from "./errors.ts";

/** Of `session/create`. */
const ofCreate = [
	"app_context",
	"auth_binding",
	"comms_name",
	"enable_memory",
	"enable_mob",
	"enable_schedule",
	"enable_web_search",
	"enable_workgraph",
	"external_tools",
	"keep_alive",
	"peer_meta",
	"skill_references",
] as const;

/** What `turn/start` takes; servers of the contract refuse all else. */
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

/** What a creation without a run cannot have. */
const ofRun = ["injected_context", "skill_refs", "transient_turn_context"] as const;

/** Creation options, for all turns of a session. */
const fixed: ReadonlySet<string> = new Set(["max_tokens", "output_schema", "structured_output_retries"]);

/** What limits a session or a turn and has an effect in the contract alone, or nowhere: a client must not rely on it. */
const limitsOfTurn = [
	"budget",
	"budget_limits",
	"hooks",
	"hooks_override",
	"output_schema",
	"tool_filter",
	"turn_budget_limits",
	"turn_tool_overlay",
] as const;
const limitsOfCreate = ["budget", "hooks", "output_schema", "tool_filter", "turn_tool_overlay"] as const;

type Fields = Readonly<Record<string, unknown>>;

/** Null and false ask for nothing. */
const isGiven = (value: unknown) => value !== undefined && value !== null && value !== false;

/** Throws INVALID_PARAMS for a request of the first protocol with a limit that has no effect there. */
export function refuseUnhonouredLimits(params: Fields, of: "create" | "turn"): void {
	const field = (of === "create" ? limitsOfCreate : limitsOfTurn).find((name) => isGiven(params[name]));
	if (field === undefined) return;
	throw new NamedError(
		"INVALID_PARAMS",
		`Invalid params: \`${field}\` has no effect in the first protocol; leave it out, or call \`capabilities/get\` for the present contract.`,
	);
}

/** Throws INVALID_PARAMS for a creation with a field that has no effect here. */
export function refuseUnhonouredOfCreate(params: Fields): void {
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
export function refuseUnhonouredOfTurn(params: Fields): void {
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
