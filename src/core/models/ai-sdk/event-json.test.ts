import { expect, it } from "vitest";
import { createFailure } from "../model.ts";
import { readJsonEvent, skipped } from "./event-json.ts";

const read = (data: string) =>
	readJsonEvent(
		{ event: "message", data, cut: false },
		(text) => createFailure("provider", text),
		() => skipped,
	);
const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

it.each([1, 200])("an event may nest %i levels deep", (levels) => {
	expect(read(nested(levels))).toEqual(skipped);
});

it.each([201, 5000, 1_000_000])("an event that nests %i levels deep fails the answer", (levels) => {
	const message = "The provider sent an event that nests more than 200 levels deep.";
	expect(read(nested(levels))).toEqual({ kind: "failed", failure: createFailure("provider", message) });
});
