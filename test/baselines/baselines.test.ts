// What earlier releases did, the present code does: their transcripts and session directories, but for what a release may change.
import { describe, expect, it } from "vitest";
import { parseTranscript } from "../../src/testing/transcripts/format.ts";
import { asPromised, listReleases, readRelease } from "../support/transcripts/baselines.ts";
import { isPlayedInMemory } from "../support/transcripts/transcript-files.ts";
import { playInMemory } from "../support/transcripts/transcript-memory.ts";

describe.each(listReleases())("what release %s is held to", (release) => {
	const { transcripts, lost } = readRelease(release);

	it("is there: what changed is kept as it was, or retired with a reason", () => {
		expect(lost, "test/baselines/README.md says how to keep what you change").toEqual([]);
		expect(transcripts.length).toBeGreaterThan(0);
	});

	const played = transcripts.filter(isPlayedInMemory);
	it.each(played.map((transcript) => [transcript.name, transcript] as const))("%s", async (_, transcript) => {
		await expect(playInMemory(transcript, undefined, asPromised(transcript))).resolves.toBeUndefined();
	});
});

describe("what a release may change", () => {
	const result = '← {"jsonrpc":"2.0","id":"p","result":{"status":"finished"}}';
	const turn = (...events: string[]) =>
		[
			"--- script\ntext: Hi.\n--- conversation",
			'→ {"jsonrpc":"2.0","id":"p","method":"prompt","params":{"user_input":"x"}}',
			...events.map((event) => `← {"jsonrpc":"2.0","method":"event","params":${event}}`),
			result,
		].join("\n");
	const begin = '{"type":"TurnBegin","payload":{"user_input":"x"}}';
	const step = '{"type":"StepBegin","payload":{"n":1}}';
	const text = '{"type":"ContentPart","payload":{"type":"text","text":"Hi."}}';
	const status = '{"type":"StatusUpdate","payload":{}}';
	const end = '{"type":"TurnEnd","payload":{}}';
	const play = (text: string) => {
		const transcript = parseTranscript("kimi/x", text);
		return playInMemory(transcript, undefined, asPromised(transcript));
	};

	it("are further events, further members and pieces of texts", async () => {
		const pieces = text.replace("Hi.", "H");
		await expect(play(turn(begin, step, text, end))).resolves.toBeUndefined();
		await expect(play(turn(begin, step, pieces, pieces.replace('"H"', '"i."'), status, end))).resolves.toBeUndefined();
	});

	it.each([
		["an event that is gone", turn(begin, step, step, text, end), /expected StepBegin, not ContentPart/],
		["another text", turn(begin, step, text.replace("Hi", "Ho"), end), /text: expected "Ho\.", not "Hi\."/],
		["another value", turn(begin, step.replace("1", "2"), text, end), /params\/payload\/n: expected 2, not 1/],
		[
			"a member that is gone",
			turn(begin.replace("}}", ',"y":1}}'), step, text, end),
			/payload\/y: expected 1, not nothing/,
		],
	])("is not %s", async (_, text, message) => {
		await expect(play(text)).rejects.toThrow(message);
	});
});
