import { expect, it } from "vitest";
import { randomIdentifiers } from "./ids.ts";
import { timeOrderedUuid } from "./time-id.ts";

it("generates version 7 UUIDs that sort by time", () => {
	const made = [0, 1, 255, 1_700_000_000_000, 1_700_000_000_001].map((now) => timeOrderedUuid(now, randomIdentifiers));
	for (const id of made) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
	expect([...made].sort()).toEqual(made);
	expect(new Set(Array.from({ length: 100 }, () => timeOrderedUuid(5, randomIdentifiers))).size).toBe(100);
});
