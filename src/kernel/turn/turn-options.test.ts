// The options of a turn, and those of every turn of a session.
import { describe, expect, it } from "vitest";
import { limitTools } from "./tool-box.ts";
import { changeTurnOptions, joinTurnOptions } from "./turn-options.ts";

describe("the options of a turn", () => {
	it("go before those of every turn; instructions add up", () => {
		const every = { instructions: ["a"], systemPrompt: "p", sampling: { temperature: 1 } };
		const own = { instructions: ["b"], sampling: { topP: 0.5 }, context: ["c"] };
		expect(joinTurnOptions(every, own)).toEqual({
			instructions: ["a", "b"],
			systemPrompt: "p",
			sampling: { topP: 0.5 },
			context: ["c"],
		});
		expect(joinTurnOptions({}, {})).toEqual({});
	});

	it("leave the tools that both leave", () => {
		const join = (every: object, own: object) => joinTurnOptions(every, own).tools;
		const some = { allowed: ["a", "b"], blocked: [] };
		expect(join({ tools: some }, { tools: { allowed: ["b", "c"], blocked: ["d"] } })).toEqual({
			allowed: ["b"],
			blocked: ["d"],
		});
		expect(join({ tools: some }, { tools: { allowed: null, blocked: ["a"] } })).toEqual({
			allowed: ["a", "b"],
			blocked: ["a"],
		});
		expect(join({ tools: some }, {})).toEqual(some);
	});

	it("change by what is given; null takes one away", () => {
		const before = { instructions: ["a"], systemPrompt: "p" };
		expect(changeTurnOptions(before, { systemPrompt: "", instructions: null })).toEqual({ systemPrompt: "" });
		expect(changeTurnOptions(before, {})).toEqual(before);
	});
});

describe("limited tools", () => {
	const specification = (name: string) => ({ name, description: "", parameters: {} });
	const box = {
		find: () => {
			throw new Error("It was asked for a tool that is not allowed.");
		},
		specifications: async () => ["a", "b", "c"].map(specification),
	};
	const names = async (limits: Parameters<typeof limitTools>[1]) =>
		(await limitTools(box, limits).specifications()).map(({ name }) => name);

	it("are those allowed and not blocked; others are not found", async () => {
		expect(await names({ allowed: ["a", "b"], blocked: ["b"] })).toEqual(["a"]);
		expect(await names({ allowed: null, blocked: ["b"] })).toEqual(["a", "c"]);
		expect(await names({ allowed: [], blocked: [] })).toEqual([]);
		expect(await names(undefined)).toEqual(["a", "b", "c"]);
		expect(limitTools(box, { allowed: ["a"], blocked: [] }).find("c")).toBeNull();
	});
});
