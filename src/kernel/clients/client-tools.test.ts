import { expect, it } from "vitest";
import { randomIdentifiers } from "../../base/ids.ts";
import { checkClientTools } from "./client-tools.ts";

const schemaOf = (properties: number) => ({
	type: "object",
	properties: Object.fromEntries(Array.from({ length: properties }, (_, n) => [`p${n}`, { type: "string" }])),
});

const check = (schemas: readonly object[]) =>
	checkClientTools(
		schemas.map((parameters, n) => ({ name: `T${n}`, description: "", parameters: { ...parameters } })),
		() => false,
		randomIdentifiers,
		() => Promise.reject(new Error("no tool is called")),
	);

it("accepts schemas of a client up to 100,000 values and 4,000,000 characters together", async () => {
	// 20,000 values each: the schema itself, "type", "properties", and two for each property but the last.
	const full = { ...schemaOf(9_998), title: "full" };
	const { tools, rejected } = await check([...Array.from({ length: 5 }, () => full), { type: "object" }]);
	expect([...tools.keys()]).toEqual(["T0", "T1", "T2", "T3", "T4"]);
	expect(rejected).toEqual([
		{
			name: "T5",
			reason: "schema has too many values: all schemas of a client together may have 100,000",
		},
	]);
	const long = { type: "object", description: "d".repeat(1_999_979) };
	const others = await check([long, long, { type: "object" }]);
	expect([...others.tools.keys()]).toEqual(["T0", "T1"]);
	expect(others.rejected).toEqual([
		{
			name: "T2",
			reason: "schema has too many characters: all schemas of a client together may have 4,000,000",
		},
	]);
});

it("does not count the schemas that it refuses", async () => {
	const { tools, rejected } = await check([...Array.from({ length: 20 }, () => schemaOf(10_000)), schemaOf(9_000)]);
	expect(rejected).toHaveLength(20);
	expect([...tools.keys()]).toEqual(["T20"]);
});

it("accepts 1,000 tools and refuses one more", async () => {
	const { tools, rejected } = await check(Array.from({ length: 1_001 }, () => ({ type: "object" })));
	expect(tools.size).toBe(1_000);
	expect(rejected).toEqual([{ name: "T1000", reason: "more than 1000 tools" }]);
});
