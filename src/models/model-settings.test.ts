import { expect, it } from "vitest";
import { samplingOf } from "./model-settings.ts";

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
