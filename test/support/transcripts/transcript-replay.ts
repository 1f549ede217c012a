// Runs the sessions of a transcript again, as the command `replay` does.
import type { SessionStore } from "../../../src/ports/store/session-store.ts";
import { readRecording } from "../../../src/replay/recording.ts";
import { replay } from "../../../src/replay/replay.ts";

/** How each session differs; nothing for one that is the same or cannot be replayed. */
export async function findReplayDifferences(store: SessionStore): Promise<readonly object[]> {
	const differences: object[] = [];
	for (const { id, workDir } of (await store.list({})).sessions) {
		const stored = await store.view(workDir, id);
		if (stored === null) continue;
		const outcome = await replay(await readRecording(stored));
		if (outcome.kind === "differs") differences.push(outcome.difference);
	}
	return differences;
}
