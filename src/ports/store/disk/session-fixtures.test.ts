// Sessions as the reference leaves them: they open, replay with its counts, go on, and keep every byte they had.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { eventAt, promptRow, readAll } from "../../../../test/contracts/store-contract.ts";
import { listFixtures, type PlacedSession, placeFixture } from "../../../../test/support/store/session-fixtures.ts";
import { createMemoryLog } from "../../../../test/support/store/store-directory.ts";
import type { AgentEvent } from "../../../api/values/event.ts";
import { systemClock } from "../../../base/clock.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import { fromLine, toLine } from "../context-row.ts";
import { createDiskStore } from "./disk-store.ts";
import { parseLine } from "./logs/json-lines.ts";

interface Expected {
	readonly events: number;
	readonly requests: number;
	/** Messages by role: user, assistant, tool. */
	readonly roles: readonly [number, number, number];
	readonly title: string;
	/** Lines of the context, and how many of them are half or not readable. */
	readonly contextLines: number;
	readonly unreadable?: number;
}

const expectations: Readonly<Record<string, Expected>> = {
	background: { events: 15, requests: 0, roles: [3, 3, 1], title: "Start the job", contextLines: 19 },
	cancelled: { events: 11, requests: 0, roles: [2, 1, 0], title: "Never mind, go on", contextLines: 11 },
	cleared: { events: 14, requests: 0, roles: [1, 1, 0], title: "Before the clear", contextLines: 7 },
	compacted: { events: 31, requests: 0, roles: [2, 3, 1], title: "Question one", contextLines: 13 },
	damaged: { events: 9, requests: 0, roles: [2, 2, 0], title: "Say hello", contextLines: 17, unreadable: 3 },
	"headerless-old": { events: 23, requests: 2, roles: [2, 4, 2], title: "Say hello", contextLines: 18 },
	"log-1.1": { events: 18, requests: 2, roles: [1, 3, 2], title: "Open the readme", contextLines: 13 },
	"log-1.3": { events: 17, requests: 2, roles: [2, 3, 2], title: "Replace alpha by beta", contextLines: 15 },
	"log-1.5": { events: 19, requests: 2, roles: [2, 3, 2], title: "Count some lines", contextLines: 14 },
	media: { events: 14, requests: 0, roles: [2, 3, 1], title: "What is this?", contextLines: 18 },
	plain: { events: 10, requests: 0, roles: [2, 2, 0], title: "Say hello", contextLines: 13 },
	"plain-no-usage": { events: 10, requests: 0, roles: [2, 2, 0], title: "First", contextLines: 9 },
	plan: { events: 15, requests: 0, roles: [3, 3, 1], title: "Plan the change", contextLines: 19 },
	rejected: { events: 17, requests: 0, roles: [2, 3, 2], title: "Run one", contextLines: 19 },
	steered: { events: 17, requests: 0, roles: [4, 3, 1], title: "Start something slow", contextLines: 20 },
	subagent: { events: 22, requests: 0, roles: [1, 2, 1], title: "Count the lines of a.txt", contextLines: 12 },
	todo: { events: 20, requests: 0, roles: [2, 4, 3], title: "Make a list", contextLines: 24 },
	tools: {
		events: 25,
		requests: 0,
		roles: [2, 4, 4],
		title: "Replace alpha by beta in notes.txt and count its…",
		contextLines: 25,
	},
};

function openStore(place: PlacedSession) {
	const log = createMemoryLog();
	const store = createDiskStore({
		files: createDiskFiles(),
		shareDir: place.shareDir,
		log,
		clock: systemClock,
		protocolVersion: "1.10",
	});
	return { store, log };
}

function isRequest({ body }: AgentEvent): boolean {
	return body.type === "interaction.requested";
}

/** What is before a half-written last line. */
function wholeLines(bytes: Buffer): Buffer {
	return bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
}

describe("session fixtures", () => {
	it("are all listed here", async () => {
		expect(await listFixtures()).toEqual(Object.keys(expectations).sort());
	});

	it.each(Object.entries(expectations))("%s opens, replays and continues", async (name, expected) => {
		const place = await placeFixture(name);
		try {
			const before = {
				context: await readFile(path.join(place.directory, "context.jsonl")),
				wire: await readFile(path.join(place.directory, "wire.jsonl")),
			};
			const { store, log } = openStore(place);
			const session = await store.open(place.workDir, place.id);
			if (session === null) throw new Error("the session was not found");
			expect(await store.lastSessionId(place.workDir)).toBe(place.id);

			const unreadable = expected.unreadable ?? 0;
			expect(session.contextRows).toHaveLength(expected.contextLines - unreadable);
			const roles = session.contextRows.flatMap((row) => (row.type === "message" ? [row.message.role] : []));
			expect(["user", "assistant", "tool"].map((role) => roles.filter((one) => one === role).length)).toEqual(
				expected.roles,
			);
			const events = await readAll(session);
			expect(events.filter((event) => !isRequest(event))).toHaveLength(expected.events);
			expect(events.filter(isRequest)).toHaveLength(expected.requests);
			const listed = { id: place.id, workDir: place.workDir, title: expected.title };
			expect(await store.list({ workDir: place.workDir })).toMatchObject({ sessions: [listed], next: null });
			expect(log.lines.filter((line) => line.message.includes("could not be read"))).toHaveLength(
				unreadable > 0 ? 3 : 0,
			);

			await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 90 }, promptRow] } });
			await session.commit({ events: [eventAt({ type: "turn.started", input: "Say hello" })] });
			await session.commit({ state: { planSlug: "changed" } });
			await session.close();
			const after = {
				context: await readFile(path.join(place.directory, "context.jsonl")),
				wire: await readFile(path.join(place.directory, "wire.jsonl")),
			};
			for (const log of ["context", "wire"] as const) {
				const persisted = wholeLines(before[log]);
				expect(after[log].subarray(0, persisted.length).equals(persisted)).toBe(true);
			}

			const again = await openStore(place).store.open(place.workDir, place.id);
			expect(again?.contextRows).toEqual([...session.contextRows, { type: "checkpoint", id: 90 }, promptRow]);
			expect(again === null ? [] : await readAll(again)).toHaveLength(events.length + 1);
			expect(again?.state()).toEqual({ ...session.state(), planSlug: "changed" });
			await again?.close();
		} finally {
			await place.remove();
		}
	});

	it.each(Object.keys(expectations).filter((name) => name !== "headerless-old" && name !== "damaged"))(
		"%s: every context line is written like the reference writes it",
		async (name) => {
			const place = await placeFixture(name);
			try {
				const lines = (await readFile(path.join(place.directory, "context.jsonl"), "utf8")).split("\n").slice(0, -1);
				const rewritten = lines.map((line) => {
					const row = fromLine(parseLine(line));
					return row === null ? null : toLine(row);
				});
				expect(rewritten).toEqual(lines);
			} finally {
				await place.remove();
			}
		},
	);

	it("damaged: the damaged state is copied, and the partial lines are logged", async () => {
		const place = await placeFixture("damaged");
		try {
			const state = await readFile(path.join(place.directory, "state.json"));
			const { store, log } = openStore(place);
			const session = await store.openOrCreate(place.workDir, place.id);
			await session.commit({ context: { kind: "append", rows: [promptRow] } });
			await session.commit({ events: [eventAt({ type: "turn.started", input: "x" })] });
			await session.commit({ state: { planMode: true } });
			expect((await readFile(path.join(place.directory, "state.json.damaged-1"))).equals(state)).toBe(true);
			const cut = log.lines.flatMap(({ fields }) =>
				typeof fields["base64"] === "string" ? [Buffer.from(fields["base64"], "base64").toString()] : [],
			);
			// Two files are repaired at once.
			expect(cut.sort()).toEqual([
				'{"role":"user","content":"Third, cut in the mid',
				'{"timestamp": 1795209700.5, "message": {"type": "TurnBegin", "payload": {"user_in',
			]);
			await session.close();
		} finally {
			await place.remove();
		}
	});

	it.each(["log-1.1", "log-1.3", "log-1.5"])("%s: the log retains its header", async (name) => {
		const place = await placeFixture(name);
		try {
			const session = await openStore(place).store.openOrCreate(place.workDir, place.id);
			await session.commit({ events: [eventAt({ type: "turn.started", input: "x" })] });
			await session.close();
			const lines = (await readFile(path.join(place.directory, "wire.jsonl"), "utf8")).split("\n");
			expect(lines.filter((line) => line.includes("metadata"))).toEqual([
				`{"type": "metadata", "protocol_version": "${name.slice(4)}"}`,
			]);
		} finally {
			await place.remove();
		}
	});

	it("headerless-old: a system prompt is prepended, the log gets no header", async () => {
		const place = await placeFixture("headerless-old");
		try {
			const before = await readFile(path.join(place.directory, "context.jsonl"), "utf8");
			const session = await openStore(place).store.openOrCreate(place.workDir, place.id);
			await session.commit({ context: { kind: "append", rows: [{ type: "system-prompt", content: "You code." }] } });
			await session.commit({ events: [eventAt({ type: "turn.started", input: "x" })] });
			await session.close();
			expect(await readFile(path.join(place.directory, "context.jsonl"), "utf8")).toBe(
				`{"role": "_system_prompt", "content": "You code."}\n${before}`,
			);
			expect(await readFile(path.join(place.directory, "wire.jsonl"), "utf8")).not.toContain("metadata");
		} finally {
			await place.remove();
		}
	});
});
