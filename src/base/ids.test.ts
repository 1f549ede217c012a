import { describe, expect, it } from "vitest";
import { randomIdentifiers } from "./ids.ts";

describe("randomIdentifiers", () => {
	it("generates version 4 UUIDs", () => {
		const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
		expect(randomIdentifiers.uuid()).toMatch(pattern);
		expect(randomIdentifiers.uuid()).not.toBe(randomIdentifiers.uuid());
	});

	it.each([1, 8, 9, 12, 32])("generates %i hexadecimal digits", (length) => {
		expect(randomIdentifiers.hex(length)).toMatch(new RegExp(`^[0-9a-f]{${length}}$`));
	});
});
