// The recorded conversations of the real server, played against the built executable. What differs is in
// test/fixtures/meerkat-0.9-differences.json, by conversation; `AGENTWIRE_UPDATE=1` writes it, and `npm run generate` then
// the part of docs/guides/meerkat.md.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { createStage, runsOnBun } from "../support/executable/executable.ts";
import { differences } from "../support/meerkat/recorded/comparison.ts";
import { startRecordedModel } from "../support/meerkat/recorded/model.ts";
import { configure, play } from "../support/meerkat/recorded/player.ts";
import { reasonOf, reasons } from "../support/meerkat/recorded/reasons.ts";
import { readRecording, recordingNames } from "../support/meerkat/recorded/recording.ts";

const listed = new URL("../fixtures/meerkat-0.9-differences.json", import.meta.url);
/** What Node's engine says of a text that is not JSON, and Bun's in its place. */
const engineTexts = [
	"Unexpected token 'p', \\\"pong\\\" is not valid J…",
	'JSON Parse error: Unexpected identifier \\"pon…',
] as const;
const toNodesText = (each: string) => (runsOnBun ? each.replace(engineTexts[1], engineTexts[0]) : each);

/** How many are played concurrently. */
const atOnce = 4;

it("the recorded conversations differ as listed, and in nothing else", { timeout: 240_000 }, async () => {
	const names = recordingNames();
	const found = new Map<string, string[]>();
	const rest = names.values();
	const playRest = async () => {
		for (const name of rest) {
			const model = await startRecordedModel();
			onTestFinished(() => model.close());
			const stage = createStage();
			configure(stage, model);
			const { recorded, ours } = await play(readRecording(name), stage, model);
			for (const each of differences(recorded, ours)) found.set(each, [...(found.get(each) ?? []), name].sort());
		}
	};
	await Promise.all(Array.from({ length: atOnce }, playRest));
	const now = Object.fromEntries(
		[...found]
			.map(([each, where]) => [toNodesText(each), where] as const)
			.sort(([one], [other]) => (one < other ? -1 : 1)),
	);
	if (process.env["AGENTWIRE_UPDATE"] === "1") writeFileSync(listed, `${JSON.stringify(now, null, "\t")}\n`);
	expect(names).toHaveLength(39);
	expect(now).toEqual(JSON.parse(readFileSync(listed, "utf8")));
	expect(Object.keys(now).filter((each) => reasonOf(each) === null)).toEqual([]);
	const counts = reasons.map((reason) => Object.keys(now).filter((each) => reasonOf(each) === reason).length);
	expect(counts).toEqual(reasons.map(({ count }) => count));
	expect(counts).not.toContain(0);
});
