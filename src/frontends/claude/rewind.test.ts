import { expect, it } from "vitest";
import type { SessionApi } from "../../api/kernel.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import type { FilePlan, RestoredFiles } from "../../api/values/file-changes.ts";
import { KeyedTurns, rewindFiles } from "./rewind.ts";

const started = (turnId: string, key: string): AgentEvent => ({
	sessionId: "s",
	epoch: "e",
	seq: 1,
	at: 0,
	turnId,
	agentPath: [],
	body: { type: "turn.started", input: "go", key },
});

const change = (path: string, conflict: boolean): FilePlan["files"][number] => ({
	path,
	action: "change",
	lines: { added: 2, removed: 1 },
	conflict,
});

/** A session that an earlier process had the turn `t1` in, started with the key `u1`. */
function createSession(plan: Partial<FilePlan>, restored: Partial<RestoredFiles> = {}) {
	const sent: object[] = [];
	const session: Pick<SessionApi, "events" | "send" | "workDir"> = {
		workDir: "/work",
		async *events() {
			yield [started("t1", "u1")];
		},
		send: (async (command: { type: string }) => {
			sent.push(command);
			if (command.type === "files.plan") return { files: [], uncovered: [], outside: [], reasons: [], ...plan };
			return { id: "r", restored: [], left: [], ...restored };
		}) as SessionApi["send"],
	};
	return { session, turns: new KeyedTurns(session), sent };
}

it("finds the turn of a prompt of an earlier process, and of one that another client sent since", async () => {
	const { session, turns, sent } = createSession({});
	turns.take(started("t2", "u2"));
	for (const user_message_id of ["u1", "u2"]) await rewindFiles(session, turns, { user_message_id });
	expect(sent).toContainEqual({ type: "files.restore", before: "t1", conflicts: "stop" });
	expect(sent).toContainEqual({ type: "files.restore", before: "t2", conflicts: "stop" });
});

it("restores nothing where somebody else changed a file, and names it", async () => {
	const why = "it is not as the session left it; nothing is restored because of conflicts";
	const { session, turns, sent } = createSession(
		{ files: [change("a.txt", true), change("b.txt", false)] },
		{ left: [{ path: "a.txt", reason: why }] },
	);
	const dry = await rewindFiles(session, turns, { user_message_id: "u1", dry_run: true });
	expect(dry).toEqual({ canRewind: false, error: expect.stringContaining("left them: a.txt.") });
	expect(sent).toEqual([{ type: "files.plan", before: "t1" }]);
	await expect(rewindFiles(session, turns, { user_message_id: "u1" })).rejects.toThrow("a.txt");
});

it("says what is restored and what is not, with absolute paths", async () => {
	const { session, turns } = createSession(
		{ files: [change("a.txt", false), change("/other/b", false)], uncovered: [{ path: "big", reason: "too large" }] },
		{ restored: ["a.txt"], left: [{ path: "/other/b", reason: "a permission rule denies writing it" }] },
	);
	expect(await rewindFiles(session, turns, { user_message_id: "u1" })).toEqual({
		canRewind: true,
		filesChanged: ["/work/a.txt"],
		insertions: 2,
		deletions: 1,
		notRestored: [
			{ path: "/other/b", reason: "a permission rule denies writing it" },
			{ path: "/work/big", reason: "too large" },
		],
	});
});
