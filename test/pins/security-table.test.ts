// The tests that docs/guides/gateway.md names for the faults of other servers are there.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const document = readFileSync(new URL("../../docs/guides/gateway.md", import.meta.url), "utf8");
const [, table = ""] = document.split("### Faults of similar servers");
const rows = table
	.split("\n")
	.filter((line) => line.startsWith("| ") && !line.startsWith("| Known") && !line.startsWith("| ---"))
	.map((line) => line.split(" | "));

describe("the table of faults in docs/guides/gateway.md", () => {
	it("has a row for each", () => {
		expect(rows.length).toBeGreaterThan(10);
	});

	it.each(rows)("names tests for %s", (_known, _fault, tests = "") => {
		let text = "";
		let count = 0;
		for (const [, file, title] of tests.matchAll(/`([^`]+\.test\.ts)`|"([^"]+)"/g)) {
			if (file !== undefined) {
				const place = new URL(`../../${file}`, import.meta.url);
				expect(existsSync(place), file).toBe(true);
				text = readFileSync(place, "utf8");
			} else {
				count += 1;
				expect(text).toContain(title);
			}
		}
		expect(count).toBeGreaterThan(0);
	});
});
