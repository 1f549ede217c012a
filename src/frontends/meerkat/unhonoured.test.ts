import { describe, expect, it } from "vitest";
import { refuseUnhonouredLimits, refuseUnhonouredOfCreate, refuseUnhonouredOfTurn } from "./unhonoured.ts";

describe("a creation", () => {
	it.each(["keep_alive", "comms_name", "skill_references"])("with `%s` is refused by name", (field) => {
		expect(() => refuseUnhonouredOfCreate({ prompt: "x", [field]: { a: 1 } })).toThrow(`\`${field}\``);
	});

	it("without a run is refused the skills of one, and with a run it is not", () => {
		const params = { prompt: "x", skill_refs: [{ source_uuid: "a", skill_name: "b" }] };
		expect(() => refuseUnhonouredOfCreate({ ...params, initial_turn: "deferred" })).toThrow("`skill_refs`");
		expect(() => refuseUnhonouredOfCreate(params)).not.toThrow();
	});

	it("with nothing but nulls, false and what has an effect is taken", () => {
		const params = { prompt: "x", model: "m", enable_builtins: true, labels: null, enable_memory: false };
		expect(() => refuseUnhonouredOfCreate(params)).not.toThrow();
	});
});

describe("the first protocol", () => {
	it.each(["budget", "hooks", "output_schema", "tool_filter", "turn_tool_overlay"])("refuses `%s` by name", (field) => {
		const params = { prompt: "x", [field]: { a: 1 } };
		expect(() => refuseUnhonouredLimits(params, "create")).toThrow(`\`${field}\``);
		expect(() => refuseUnhonouredLimits(params, "turn")).toThrow(`\`${field}\``);
	});

	it("takes the budgets and hooks of a creation, not those of a turn", () => {
		for (const field of ["budget_limits", "hooks_override", "turn_budget_limits"]) {
			const params = { prompt: "x", [field]: { a: 1 } };
			expect(() => refuseUnhonouredLimits(params, "create")).not.toThrow();
			expect(() => refuseUnhonouredLimits(params, "turn")).toThrow(`\`${field}\``);
		}
	});
});

describe("a turn", () => {
	it.each(["output_schema", "max_tokens", "anything"])("with `%s` is refused by name", (field) => {
		expect(() => refuseUnhonouredOfTurn({ session_id: "s", prompt: "x", [field]: "y" })).toThrow(`\`${field}\``);
	});

	it("names no more than the beginning of a long field", () => {
		const refuse = () => refuseUnhonouredOfTurn({ ["x".repeat(100_000)]: 1 });
		expect(refuse).toThrow(/^.{1,400}$/u);
	});

	it("with what has an effect is taken", () => {
		const params = { session_id: "s", prompt: "x", session_events: false, model: null };
		expect(() => refuseUnhonouredOfTurn(params)).not.toThrow();
	});
});
