import { expect, it } from "vitest";
import { toMilliseconds } from "./duration.ts";

it.each([
	["500ms", 500],
	["30s", 30_000],
	["1.5s", 1500],
	["1h 30m", 5_400_000],
	["1h30m", 5_400_000],
	[" 2 d ", 172_800_000],
])("reads %j", (text, milliseconds) => expect(toMilliseconds(text)).toBe(milliseconds));

it.each(["", "30", "s", "-1s", "0s", "1 year", "1s?", `${"9".repeat(400)}d`])("refuses %j", (text) =>
	expect(toMilliseconds(text)).toBeNull(),
);
