// The gate over the golden transcripts: every required cell is covered, no mark is misspelt, and a mark that can be
// checked against the lines of its transcript is true.
import { describe, expect, it } from "vitest";
import { requiredCells } from "../support/transcript-cells.ts";
import { type Cover, expectedLines, readTranscripts, type Transcript } from "../support/transcript-format.ts";
import { methodNames } from "../support/transcript-methods.ts";

const transcripts = readTranscripts();

/** The text that a line must hold for the mark to be true; null for marks that only a reader can check. */
function evidence({ kind, cell }: Cover): string | null {
	switch (kind) {
		case "event":
		case "replayed":
		case "legacy-event":
			return `"params":{"type":"${cell}"`;
		case "error":
		case "legacy-error":
			return `"error":{"code":${cell.split("/")[0]},`;
		case "meerkat-event":
			return `"type":"${cell}"`;
		case "meerkat-error":
			return `"code":"${cell.split("/")[0]}"`;
		case "meerkat-request":
			return `"method":"${cell}"`;
		default:
			return null;
	}
}

function isTrue(transcript: Transcript, cover: Cover): boolean {
	const wanted = evidence(cover);
	if (wanted !== null) return expectedLines(transcript).some((line) => line.includes(wanted));
	const sent = transcript.conversations.flat().flatMap((move) => (move.kind === "send" ? [move.bytes] : []));
	const [method] = cover.cell.split("/");
	if (cover.kind === "meerkat-method") {
		const name = cover.cell.slice(0, cover.cell.lastIndexOf("/"));
		return sent.some((bytes) => bytes.includes(`"method":"${name}"`));
	}
	// A state cell must send its method.
	return !cover.kind.endsWith("state") || sent.some((bytes) => bytes.includes(`"method":"${method}"`));
}

describe("the gate over the transcripts", () => {
	it("finds every required cell in some transcript, and no other marks", async () => {
		const required = requiredCells(await methodNames());
		const covered = new Set(transcripts.flatMap(({ covers }) => covers.map(({ kind, cell }) => `${kind} ${cell}`)));
		expect([...required].filter((cell) => !covered.has(cell))).toEqual([]);
		expect([...covered].filter((cell) => !required.has(cell))).toEqual([]);
	});

	it.each(transcripts.map((transcript) => [transcript.name, transcript] as const))(
		"%s keeps its marks",
		(_name, it) => {
			const untrue = it.covers.filter((cover) => !isTrue(it, cover));
			expect(untrue).toEqual([]);
			expect(it.covers).not.toEqual([]);
			expect(it.conversations).not.toEqual([]);
		},
	);

	it("wants proof behind every silence: a request whose answer comes next", () => {
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
