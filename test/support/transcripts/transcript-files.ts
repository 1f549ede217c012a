// The golden transcripts, as they lie in files.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseTranscript, type Transcript } from "../../../src/testing/transcripts/format.ts";

const transcriptsDirectory = path.join(import.meta.dirname, "../../transcripts");

/** Every transcript below test/transcripts, by name. */
export function readTranscripts(): Transcript[] {
	return ["acp", "acp-v2", "claude", "codex", "codex-exec", "gateway", "kimi", "legacy", "meerkat"].flatMap((dialect) =>
		readdirSync(path.join(transcriptsDirectory, dialect))
			.filter((file) => file.endsWith(".txt"))
			.sort()
			.map((file) =>
				parseTranscript(
					`${dialect}/${file.slice(0, -4)}`,
					readFileSync(path.join(transcriptsDirectory, dialect, file), "utf8"),
				),
			),
	);
}

/** Others have a process for each turn. */
export const isPlayedInMemory = ({ server }: Transcript): boolean => server !== "codex-exec";

/** The lines a transcript says the server sends. */
export function expectedLines(transcript: Transcript): string[] {
	return transcript.conversations.flat().flatMap((move) => {
		if (move.kind === "receive") return [move.text];
		return move.kind === "unordered" ? move.chains.flat() : [];
	});
}
