import { describe, expect, it } from "vitest";
import { readError } from "./grant.ts";

describe("the description of an error answer", () => {
	it("is cut when it is long, but no character of it", () => {
		const description = "😀".repeat(1000);
		for (const shift of ["", "x"]) {
			const shown = readError({ error_description: shift + description }, "").description ?? "";
			expect(shown.length).toBeGreaterThan(100);
			expect(shown).not.toMatch(/\p{Surrogate}/u);
		}
	});
});
