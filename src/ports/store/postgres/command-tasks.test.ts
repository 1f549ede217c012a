// Commands in the background of a session in the database, on the machine that runs them and on another one.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { promptRow } from "../../../../test/contracts/store-contract.ts";
import { createPostgresPlace, type PostgresPlace } from "../../../../test/support/postgres/postgres-place.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import { newRuntime, type TaskSpec } from "../stored-tasks.ts";

const url = inject("postgresUrl");
const id = "11111111-2222-4333-8444-555555555555";
const spec: TaskSpec = {
	id: "bash-0a1b2c3d",
	kind: "bash",
	sessionId: id,
	description: "a build",
	toolCallId: "call-1",
	createdAt: 1_700_000_000_250,
	timeout: 900,
	command: { text: "make", shellPath: "/bin/sh", workDir: "/w" },
	agent: null,
};

describe.skipIf(url === "")("a command in the background of a session in PostgreSQL", () => {
	let place: PostgresPlace;
	let root: string;
	beforeEach(async () => {
		place = await createPostgresPlace(url);
		root = await mkdtemp(path.join(tmpdir(), "agentwire-scratch-"));
	});
	afterEach(async () => {
		await place.cleanUp();
		await rm(root, { recursive: true, force: true });
	});
	const machine = (name: string) =>
		place.openStore({ scratch: { files: createDiskFiles(), directory: path.join(root, name) } });

	const start = async () => {
		const session = await machine("one").openOrCreate(place.workDir, id);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		const task = await session.tasks.create(spec);
		await task.setRuntime({ ...newRuntime, status: "running", workerPid: 1, updatedAt: 5 });
		await task.appendOutput("one\ntwo\n");
		return { session, task };
	};

	it("has its files in a directory of this machine, and is found there again", async () => {
		const { session, task } = await start();
		expect(session.directory).toBe(path.join(root, "one", id));
		expect(task.directory).toBe(path.join(root, "one", id, "tasks", spec.id));
		await session.close();
		const again = await (await machine("one").openOrCreate(place.workDir, id)).tasks.find(spec.id);
		expect([again?.spec, (await again?.runtime())?.status]).toEqual([spec, "running"]);
		expect((await again?.outputTail(4))?.bytes.toString()).toBe("two\n");
	});

	it("is seen on another machine with its end and its output", async () => {
		const { session, task } = await start();
		await task.setRuntime({ ...newRuntime, status: "completed", exitCode: 0, finishedAt: 9_000 });
		await session.close();
		const distant = await (await machine("two").openOrCreate(place.workDir, id)).tasks.find(spec.id);
		expect(distant?.directory).toBeNull();
		expect(await distant?.runtime()).toMatchObject({ status: "completed", exitCode: 0, finishedAt: 9_000 });
		expect(await distant?.outputTail(4)).toEqual({ bytes: Buffer.from("two\n"), size: 8 });
	});

	it("counts as lost on another machine, for good, when it had not ended", async () => {
		await start();
		const other = machine("two");
		const session = await other.openOrCreate(place.workDir, id);
		const distant = await session.tasks.find(spec.id);
		expect(await distant?.runtime()).toMatchObject({
			status: "lost",
			failureReason: expect.stringContaining("another machine"),
		});
		await session.close();
		const third = await place.openStore().openOrCreate(place.workDir, id);
		expect((await (await third.tasks.find(spec.id))?.runtime())?.status).toBe("lost");
	});
});
