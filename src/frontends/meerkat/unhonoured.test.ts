import { describe, expect, it } from "vitest";
import { refuseUnhonouredOfCreate, refuseUnhonouredOfTurn } from "./unhonoured.ts";

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
