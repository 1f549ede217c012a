// Every field that servers of the contract know in a creation and in a turn: it has an effect here, or is refused by its name.
import { describe, expect, it } from "vitest";
import { refuseUnhonoredOfCreate, refuseUnhonoredOfTurn } from "./unhonored.ts";
import { sessionCreateParamsSchema, turnStartParamsSchema } from "./wire.ts";

/** Of `session/create` in contract 0.9, as its published clients and its server have them. */
const ofCreate = [
	..."additional_instructions app_context auth_binding budget_limits comms_name enable_builtins enable_memory".split(
		" ",
	),
	..."enable_mob enable_schedule enable_shell enable_web_search enable_workgraph external_tools hooks_override".split(
		" ",
	),
	..."initial_turn injected_context keep_alive labels max_tokens model output_schema peer_meta preload_skills".split(
		" ",
	),
	..."prompt provider provider_params session_events shell_env skill_refs structured_output_retries".split(" "),
	..."system_prompt tool_filter transient_turn_context".split(" "),
];

/** Of `turn/start`. */
const ofTurn = [
	..."additional_instructions auth_binding injected_context keep_alive max_tokens model output_schema prompt".split(
		" ",
	),
	..."provider provider_params self_hosted_server_id session_events session_id skill_references skill_refs".split(" "),
	..."structured_output_retries system_prompt transient_turn_context turn_tool_overlay".split(" "),
];

const fieldsOf = (schema: { readonly pipe: readonly [unknown, { readonly entries: object }] }) =>
	new Set(Object.keys(schema.pipe[1].entries));

function isRefused(refuse: (params: Readonly<Record<string, unknown>>) => void, field: string): boolean {
	try {
		refuse({ [field]: "x" });
		return false;
	} catch (thrown) {
		expect(String(thrown)).toContain(`\`${field}\``);
		return true;
	}
}

describe("a field of the contract's catalogue", () => {
	it.each(ofCreate)("`%s` of a creation is taken, or refused by its name", (field) => {
		expect(isRefused(refuseUnhonoredOfCreate, field)).toBe(!fieldsOf(sessionCreateParamsSchema).has(field));
	});

	it.each(ofTurn)("`%s` of a turn is taken, or refused by its name", (field) => {
		expect(isRefused(refuseUnhonoredOfTurn, field)).toBe(!fieldsOf(turnStartParamsSchema).has(field));
	});

	it("is not taken under a name that the catalogue does not have", () => {
		const own = new Set([...ofCreate, "turn_budget_limits"]);
		expect([...fieldsOf(sessionCreateParamsSchema)].filter((field) => !own.has(field))).toEqual([]);
		expect([...fieldsOf(turnStartParamsSchema)].filter((field) => !ofTurn.includes(field))).toEqual([]);
	});
});
