// Notifications of a task survive a crash at any point: the client gets each at least once, the model exactly once.
import { describe, expect, it } from "vitest";
import { createFailingFiles } from "../../../test/support/failing-files.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../test/support/memory-files.ts";
import { createScriptedModel, done, say } from "../../../test/support/scripted-model.ts";
import { createSessionSubject } from "../../../test/support/session-subject.ts";
import { createSteppingClock } from "../../../test/support/stepping-clock.ts";
import { silentLog } from "../../base/log.ts";
import type { Files } from "../../files/port.ts";
import { createDiskStore } from "../../store/disk/disk-store.ts";
import { newRuntime } from "../../store/stored-tasks.ts";

const shareDir = "/home/share";
const open = (files: Files) =>
	createDiskStore({
		files,
		shareDir,
		log: silentLog,
		clock: createSteppingClock(1_800_000_000_000),
		protocolVersion: "1.10",
	}).openOrCreate("/work", "s");

/** A session with a task that has ended, of which no notification was delivered. */
async function createLeft(): Promise<MemoryFiles> {
	const files = createMemoryFiles();
	await files.makeDirectory("/home");
	await files.syncDirectory("/");
	const stored = await open(files);
	await stored.commit({ context: { kind: "append", rows: [{ type: "system-prompt", content: "Be brief." }] } });
	const task = await stored.tasks.create({
		id: "bash-00000001",
		kind: "bash",
		sessionId: "s",
		description: "the job",
		toolCallId: "c1",
		createdAt: 1,
		timeout: null,
		command: { text: "make", shellPath: "/bin/bash", workDir: "/work" },
		agent: null,
	});
	await task.setRuntime({ ...newRuntime, status: "completed" });
	const earlier = { type: "turn.started", input: "earlier" } as const;
	await stored.commit(
		{ events: [{ sessionId: "s", turnId: null, agentPath: [], at: 1, body: earlier }] },
		{ sync: true },
	);
	await stored.close();
	return files;
}

/** Runs one turn in one process life and returns the notifications delivered to the client. */
async function live(files: Files): Promise<readonly string[]> {
	const delivered: string[] = [];
	let ids = 0;
	const life = Math.random().toString(16).slice(2, 8);
	const { session, attach } = await createSessionSubject(createScriptedModel([[say("ok"), done()]]), [], {
		stored: await open(files),
		identifiers: { uuid: () => `${life}-${++ids}`, hex: (length) => `${life}${++ids}`.padEnd(length, "0") },
	});
	const client = attach();
	client.onEvent = ({ body }) => {
		if (body.type === "notification.raised") delivered.push(body.id);
	};
	await session.start();
	await session.send({ type: "turn.start", input: "go" });
	await client.next("turn.ended");
	await session.close(AbortSignal.timeout(1000));
	return delivered;
}

const text = async (files: Files, name: string): Promise<string> => {
	const [workDir] = await files.list(`${shareDir}/sessions`);
	return String((await files.read(`${shareDir}/sessions/${workDir?.name}/s/${name}`)) ?? "");
};
const count = (content: string, pattern: RegExp) => content.match(pattern)?.length ?? 0;

/** What must hold after the process life that follows the crash. */
async function check(files: MemoryFiles, deliveredBefore: readonly string[], where: string): Promise<void> {
	const delivered = [...deliveredBefore, ...(await live(files))];
	expect([where, delivered.length > 0, new Set(delivered).size <= 1]).toEqual([where, true, true]);
	const context = await text(files, "context.jsonl");
	expect([where, count(context, /<notification id=/g)]).toEqual([where, 1]);
	// A further life delivers nothing more.
	expect([where, await live(files)]).toEqual([where, []]);
	expect([where, count(await text(files, "context.jsonl"), /<notification id=/g)]).toEqual([where, 1]);
}

describe("the notification of a task", () => {
	it("reaches client and model once, when nothing fails", async () => {
		const files = await createLeft();
		expect(await live(files)).toHaveLength(1);
		expect(await live(files)).toEqual([]);
		expect(count(await text(files, "context.jsonl"), /<notification id=/g)).toBe(1);
	});

	it.each(["before", "after"] as const)("survives a crash %s any write", async (when) => {
		const untouched = await createLeft();
		const counted = createFailingFiles(untouched.copy());
		await live(counted.files);
		expect(counted.effects.length).toBeGreaterThan(15);
		for (let at = 1; at <= counted.effects.length; at += 1) {
			for (const loss of [null, 0, 0.5, 0.99]) {
				const files = untouched.copy();
				const mishap = { kind: "stop", when, manner: "throw" } as const;
				const delivered = await live(createFailingFiles(files, { at, mishap }).files);
				const left = loss === null ? files.copy() : files.afterPowerLoss(() => loss);
				await check(left, delivered, `${when} effect ${at}, ${loss === null ? "killed" : `power loss ${loss}`}`);
			}
		}
	});
});
