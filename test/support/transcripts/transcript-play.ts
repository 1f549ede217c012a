// Plays one conversation of a golden transcript: to the letter, with every line checked against the protocol's schemas.
import { access } from "node:fs/promises";
import path from "node:path";
import { type Comparison, exactly } from "../../../src/testing/transcripts/comparison.ts";
import type { Move, Transcript } from "../../../src/testing/transcripts/format.ts";
import type { Bindings } from "../../../src/testing/transcripts/placeholders.ts";
import { play, type Server } from "../../../src/testing/transcripts/play.ts";
import { withPulledEvents } from "../../../src/testing/transcripts/pulled-events.ts";
import { createAcpSniffer, createDraftSniffer } from "../acp/acp-sniffer.ts";
import { createMeerkatSniffer } from "../meerkat/meerkat-sniffer.ts";
import { createSniffer } from "./transcript-sniffer.ts";

/** A server that was started for one conversation, in a work dir of its own. */
export type StartedServer = Omit<Server, "fileExists">;

/** How the lines are compared: to the letter unless a test wants something else. */
export type ToComparison = (bindings: Bindings) => Comparison;

const sniffers = {
	session: createSniffer,
	meerkat: createMeerkatSniffer,
	acp: createAcpSniffer,
	"acp-v2": createDraftSniffer,
	// Answers are proven by the marks alone.
	claude: () => ({ sent() {}, received() {} }),
	codex: () => ({ sent() {}, received() {} }),
	"codex-exec": () => ({ sent() {}, received() {} }),
	gateway: () => ({ sent() {}, received() {} }),
};

/** Milliseconds to wait for one line: long, but not where the transcript is known to fail. */
const longestPatience = 10_000;
const patienceWithDeviation = 300;

/** Throws at the first difference. Without a `close stdin` the input is closed at the end, and nothing more may come. */
export function playGolden(
	{ deviation, server: kind }: Transcript,
	moves: readonly Move[],
	server: StartedServer,
	comparison: Comparison,
	workDir: string,
): Promise<void> {
	return play({
		moves,
		server: {
			...(kind === "gateway" ? withPulledEvents(server) : server),
			fileExists: (name) => fileExists(path.join(workDir, name)),
		},
		comparison,
		patience: deviation === null ? longestPatience : patienceWithDeviation,
		observer: sniffers[kind](),
		ending: "closed",
	});
}

export const toTheLetter: ToComparison = exactly;

async function fileExists(file: string): Promise<void> {
	const isThere = () =>
		access(file).then(
			() => true,
			() => false,
		);
	while (!(await isThere())) await new Promise((resolve) => setTimeout(resolve, 5));
}
