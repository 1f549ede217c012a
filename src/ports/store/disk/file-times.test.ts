// What the time of a file's last change says.
import { expect, test } from "vitest";
import { showsLaterChanges } from "./file-times.ts";

test.each([
	["a change of a moment ago", 1_700_000_000_123, 50, false],
	["a change of a while ago", 1_700_000_000_123, 100, true],
	["a time in whole seconds, which may be counted by two", 1_700_000_000_000, 2000, false],
	["the same a while ago", 1_700_000_000_000, 2100, true],
	["a change in the future", 1_700_000_000_123, -5000, false],
])("%s", (_, modifiedAt, passed, shows) => {
	expect(showsLaterChanges(modifiedAt, modifiedAt + passed)).toBe(shows);
});
