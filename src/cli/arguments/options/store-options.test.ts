import { describe, expect, it } from "vitest";
import { UsageError } from "../usage-error.ts";
import { toStoreAction } from "./store-options.ts";

describe("the words after the command store", () => {
	it.each([
		["migrate", { name: "migrate", json: false }],
		["check --json", { name: "check", json: true }],
		["copy --from disk --to postgres", { name: "copy", from: "disk", to: "postgres", id: null, json: false }],
		[
			"copy --to=disk --from=postgres --session s1 --json",
			{ name: "copy", from: "postgres", to: "disk", id: "s1", json: true },
		],
		["archive --older-than 30d", { name: "archive", olderThan: 30 * 86_400_000, json: false }],
		[
			"delete --older-than 2w --archived",
			{ name: "delete", olderThan: 14 * 86_400_000, isArchived: true, json: false },
		],
		["delete --older-than 90m", { name: "delete", olderThan: 5_400_000, isArchived: false, json: false }],
		["copy --help", null],
	])("%s", (words, expected) => {
		expect(toStoreAction(words.split(" "))).toEqual(expected);
	});

	it.each([
		"",
		"drop",
		"migrate now",
		"copy --from disk",
		"copy --from disk --to disk",
		"copy --from disk --to tape",
		"archive",
		"archive --older-than",
		"archive --older-than 30",
		"archive --older-than 30d --archived",
		"delete --older-than -1d",
	])("are refused: %s", (words) => {
		expect(() => toStoreAction(words.split(" "))).toThrow(UsageError);
	});
});
