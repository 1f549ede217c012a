import { expect, it } from "vitest";
import { toAnswerId } from "./answer-id.ts";

it("names each answer of each turn once, in the form of a UUID", () => {
	const ids = ["a", "b"].flatMap((turn) => [toAnswerId(turn, 1), toAnswerId(turn, 2)]);
	expect(new Set(ids).size).toBe(4);
	for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
	expect(toAnswerId("a", 1)).toBe(ids[0]);
});

it("has no name for an answer of a turn without an id", () => {
	expect(toAnswerId(null, 1)).toBeNull();
});
