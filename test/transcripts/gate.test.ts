// The gate over the golden transcripts: every required cell is covered, no mark is misspelt, and a mark that can be
// checked against the lines of its transcript is true.
import { describe, expect, it } from "vitest";
import { isTrue } from "../support/transcripts/evidence/rules.ts";
import { requiredCells } from "../support/transcripts/transcript-cells.ts";
import { readTranscripts } from "../support/transcripts/transcript-files.ts";
import { methodNames } from "../support/transcripts/transcript-methods.ts";

const transcripts = readTranscripts();

describe("the gate over the transcripts", () => {
	it("finds every required cell in some transcript, and no other marks", async () => {
		const required = requiredCells(await methodNames());
		const covered = new Set(transcripts.flatMap(({ covers }) => covers.map(({ kind, cell }) => `${kind} ${cell}`)));
		expect([...required].filter((cell) => !covered.has(cell))).toEqual([]);
		expect([...covered].filter((cell) => !required.has(cell))).toEqual([]);
	});

	it.each(transcripts.map((transcript) => [transcript.name, transcript] as const))(
		"%s has the lines that prove its marks",
		(_name, it) => {
			const untrue = it.covers.filter((cover) => !isTrue(it, cover));
			expect(untrue).toEqual([]);
			expect(it.covers).not.toEqual([]);
			expect(it.conversations).not.toEqual([]);
		},
	);

	it("requires proof after every silence: a request whose answer comes next", () => {
		for (const { name, conversations } of transcripts) {
			for (const moves of conversations) {
				moves.forEach(({ kind, line }, index) => {
					if (kind !== "nothing") return;
					const next = moves.slice(index + 1).find((move) => move.kind !== "send");
					expect([name, line, moves[index + 1]?.kind, next?.kind]).toEqual([name, line, "send", "receive"]);
				});
			}
		}
	});
});
