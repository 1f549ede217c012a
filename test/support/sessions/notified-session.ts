// A session with a task that has ended, and what must hold of its notification after a crash at any write.

import { expect } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import type { Files } from "../../../src/ports/files/port.ts";
import { createDiskStore } from "../../../src/ports/store/disk/disk-store.ts";
import { newRuntime } from "../../../src/ports/store/stored-tasks.ts";
import { createSteppingClock } from "../host/stepping-clock.ts";
import { createScriptedModel, done, say } from "../models/scripted-model.ts";
import { createFailingFiles } from "../store/failing-files.ts";
import { heldSession } from "../store/held-session.ts";
import { createMemoryFiles, type MemoryFiles } from "../store/memory-files.ts";
import { createSessionSubject } from "./session-subject.ts";

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
export async function createLeft(): Promise<MemoryFiles> {
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
export async function live(files: Files): Promise<readonly string[]> {
	const delivered: string[] = [];
	let ids = 0;
	const life = Math.random().toString(16).slice(2, 8);
	const { session, attach } = await createSessionSubject(createScriptedModel([[say("ok"), done()]]), [], {
		stored: heldSession(await open(files)),
		identifiers: { uuid: () => `${life}-${++ids}`, hex: (length) => `${life}${++ids}`.padEnd(length, "0") },
	});
	const client = attach();
	client.onEvent = ({ body }) => {
		if (body.type === "notification.raised") delivered.push(body.id);
	};
	await session.start();
	// It fails in a life that crashes before its beginning is stored, and ends all the same.
	await session.send({ type: "turn.start", input: "go" }).catch(() => undefined);
	await client.next("turn.ended");
	await session.close(AbortSignal.timeout(1000));
	return delivered;
}

export const text = async (files: Files, name: string): Promise<string> => {
	const [workDir] = await files.list(`${shareDir}/sessions`);
	return String((await files.read(`${shareDir}/sessions/${workDir?.name}/s/${name}`)) ?? "");
};
export const count = (content: string, pattern: RegExp) => content.match(pattern)?.length ?? 0;

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

/** What a power loss leaves of what was not synced, as a share; null is a kill, which takes nothing. */
export const losses = [null, 0, 0.5, 0.99] as const;

/** Stops a process life at each of its writes, and checks what the next one finds after the losses chosen for that write. */
export async function checkEveryCrash(
	when: "before" | "after",
	chooseLosses: (at: number) => readonly (number | null)[],
): Promise<void> {
	const untouched = await createLeft();
	const counted = createFailingFiles(untouched.copy());
	await live(counted.files);
	expect(counted.effects.length).toBeGreaterThan(15);
	for (let at = 1; at <= counted.effects.length; at += 1) {
		for (const loss of chooseLosses(at)) {
			const files = untouched.copy();
			const mishap = { kind: "stop", when, manner: "throw" } as const;
			const delivered = await live(createFailingFiles(files, { at, mishap }).files);
			const left = loss === null ? files.copy() : files.afterPowerLoss(() => loss);
			await check(left, delivered, `${when} effect ${at}, ${loss === null ? "killed" : `power loss ${loss}`}`);
		}
	}
}
