import { describe, expect, it } from "vitest";
import { mergePatch, toConfig, toPersisted } from "./config-view.ts";

describe("a merge patch", () => {
	// The examples of RFC 7396, appendix A.
	it.each([
		[{ a: "b" }, { a: "c" }, { a: "c" }],
		[{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
		[{ a: "b" }, { a: null }, {}],
		[{ a: "b", b: "c" }, { a: null }, { b: "c" }],
		[{ a: ["b"] }, { a: "c" }, { a: "c" }],
		[{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
		[{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
		[{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
		[
			["a", "b"],
			["c", "d"],
			["c", "d"],
		],
		[{ a: "b" }, ["c"], ["c"]],
		[{ a: "foo" }, null, null],
		[{ a: "foo" }, "bar", "bar"],
		[{ e: null }, { a: 1 }, { e: null, a: 1 }],
		[[1, 2], { a: "b", c: null }, { a: "b" }],
		[{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
	])("of %j with %j is %j", (target, patch, merged) => expect(mergePatch(target, patch)).toEqual(merged));

	it("is refused when it nests too deeply", () => {
		const deep: unknown = JSON.parse(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`);
		expect(() => mergePatch({}, deep)).toThrow("it nests more than 100 levels deep");
	});

	it("cannot reach a prototype", () => {
		mergePatch({}, JSON.parse('{"__proto__":{"polluted":true}}'));
		expect("polluted" in {}).toBe(false);
	});
});

describe("the configuration", () => {
	it("has defaults, none of which is stored", () => {
		const defaults = { system_prompt: null, model: null, max_tokens_per_turn: 16_384, max_turns: null };
		expect(toConfig({})).toEqual({ agent: defaults, max_tokens: 16_384 });
		expect(toConfig({ agent: { max_tokens_per_turn: 5 } }).max_tokens).toBe(5);
		expect(toPersisted({ agent: { model: null }, max_tokens: null })).toEqual({});
	});

	it("stores what was set, and drops unknown keys", () => {
		const set = { agent: { model: "m", max_turns: 3, color: "red" }, max_tokens: 7, shell: {} };
		expect(toPersisted(set)).toEqual({ agent: { model: "m", max_turns: 3 }, max_tokens: 7 });
	});

	it.each([
		[{ max_tokens: "7" }],
		[{ max_tokens: 0 }],
		[{ max_tokens: 1.5 }],
		[{ agent: [] }],
		[[]],
		[{ agent: { model: 5 } }],
	])("refuses %j", (value) => expect(() => toPersisted(value)).toThrow());
});
