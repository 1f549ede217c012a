import { expect, it } from "vitest";
import { samplingOf, thinkingOf } from "./model-settings.ts";

it("takes the sampling of the request before that of the settings, one value at a time", () => {
	const settings = { sampling: { temperature: 1, topP: 0.9, maxCompletionTokens: 100, thinkingKeep: "all" } };
	expect(samplingOf({}, settings)).toEqual(settings.sampling);
	expect(samplingOf({ sampling: { temperature: 0, topP: null, maxTokens: 7 } }, settings)).toEqual({
		temperature: 0,
		topP: 0.9,
		maxCompletionTokens: 7,
		thinkingKeep: "all",
	});
});

it.each([
	[[], "on", "default"],
	[["thinking"], "on", "on"],
	[["thinking"], "hidden", "on"],
	[["thinking"], "off", "off"],
	[["thinking"], null, "default"],
	[["always_thinking"], "off", "default"],
] as const)("thinking of a model with %j, requested as %j, is %s", (capabilities, thinking, expected) => {
	const settings = { thinking: "default", capabilities: new Set(capabilities) } as const;
	expect(thinkingOf({ sampling: { thinking } }, settings)).toBe(expected);
	expect(thinkingOf({}, settings)).toBe("default");
});
