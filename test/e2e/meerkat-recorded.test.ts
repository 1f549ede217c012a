// The recorded conversations of the real server, played against the built executable.
import { expect, it, onTestFinished } from "vitest";
import { createStage } from "../support/executable/executable.ts";
import { differences } from "../support/meerkat/recorded/comparison.ts";
import { startRecordedModel } from "../support/meerkat/recorded/model.ts";
import { configure, play } from "../support/meerkat/recorded/player.ts";
import { readRecording, recordingNames } from "../support/meerkat/recorded/recording.ts";
import { writeFileSync } from "node:fs";

it("x", { timeout: 300_000 }, async () => {
	const names = recordingNames();
	const found: Record<string, string[]> = {};
	const next = names.values();
	const worker = async () => {
		for (const name of next) {
			const t = performance.now();
			const model = await startRecordedModel();
			onTestFinished(() => model.close());
			const stage = createStage();
			configure(stage, model);
			const { recorded, ours } = await play(readRecording(name), stage, model);
			for (const each of differences(recorded, ours)) found[each] = [...(found[each] ?? []), name];
			console.log(name, Math.round(performance.now() - t), "played", ours.all.length, "of", recorded.all.length);
		}
	};
	await Promise.all([1, 2, 3, 4].map(worker));
	writeFileSync("/tmp/diffs.json", JSON.stringify(Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1))), null, "\t"));
	expect(names.length).toBe(39);
});
