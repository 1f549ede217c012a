import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventAt, promptRow } from "../../../../test/contracts/store-contract.ts";
import { createSteppingClock } from "../../../../test/support/host/stepping-clock.ts";
import { createFailingFiles } from "../../../../test/support/store/failing-files.ts";
import { placeFixture } from "../../../../test/support/store/session-fixtures.ts";
import {
	createMemoryLog,
	createStoreDirectory,
	type StoreDirectory,
} from "../../../../test/support/store/store-directory.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import type { Files } from "../../files/port.ts";
import type { AgentDescription, StoredSession } from "../session-store.ts";
import { createDiskStore } from "./disk-store.ts";

const id = "11111111-2222-4333-8444-555555555555";
const agent: AgentDescription = {
	id: "a0d984db6",
	type: "coder",
	description: "count lines",
	createdAt: 1_700_000_000_250,
	modelOverride: "fast",
	effectiveModel: "fast",
};
const agentPath = [{ parentToolCallId: "P", agentId: agent.id, subagentType: "coder" }];

describe("the files of a subagent", () => {
	let place: StoreDirectory;
	let directory: string;
	const setUp = async () => {
		place = await createStoreDirectory();
		const hash = createHash("md5").update(place.workDir).digest("hex");
		directory = path.join(place.shareDir, "sessions", hash, id);
	};
	beforeEach(setUp);
	afterEach(() => place.cleanUp());

	const at = (name: string) => path.join(directory, "subagents", agent.id, name);
	const text = (name: string) => readFile(at(name), "utf8");
	const status = async (): Promise<unknown> => JSON.parse(await text("meta.json")).status;
	const open = (files: Files = createDiskFiles()) =>
		place.openStore({ files, clock: createSteppingClock(1_700_000_001_000) }).openOrCreate(place.workDir, id);
	const run = async (session: StoredSession) => {
		const stored = await session.createAgent(agent);
		await stored.begin("Count the lines");
		await stored.changeContext({ kind: "append", rows: [{ type: "system-prompt", content: "You count." }, promptRow] });
		await stored.appendEvents([eventAt({ type: "step.started", n: 1 }, 1_700_000_000_500, agentPath)]);
		return stored;
	};

	it("have the documented layout", async () => {
		const session = await open();
		const stored = await run(session);
		expect(await status()).toBe("running_foreground");
		await stored.appendOutput("Three.\n");
		await stored.setStatus("idle");
		expect((await readdir(at("."))).sort()).toEqual([
			"context.jsonl",
			"meta.json",
			"output",
			"prompt.txt",
			"wire.jsonl",
		]);
		expect(JSON.parse(await text("meta.json"))).toEqual({
			agent_id: agent.id,
			subagent_type: "coder",
			status: "idle",
			description: "count lines",
			created_at: 1_700_000_000.25,
			updated_at: expect.any(Number),
			last_task_id: null,
			launch_spec: {
				agent_id: agent.id,
				subagent_type: "coder",
				model_override: "fast",
				effective_model: "fast",
				created_at: 1_700_000_000.25,
			},
		});
		expect(await text("prompt.txt")).toBe("Count the lines");
		expect(await text("output")).toBe("Three.\n");
		expect(await text("context.jsonl")).toBe(
			'{"role": "_system_prompt", "content": "You count."}\n{"role":"user","content":"Say hello"}\n',
		);
		expect(await text("wire.jsonl")).toBe(
			'{"type": "metadata", "protocol_version": "1.10"}\n' +
				'{"timestamp":1700000000.5,"message":{"type":"StepBegin","payload":{"n":1}}}\n',
		);
	});

	it("contain the outcome of every run, one after the other", async () => {
		const session = await open();
		const stored = await run(session);
		await stored.appendOutput("Three.\n");
		await stored.setStatus("idle");
		await stored.begin("Count again");
		await stored.appendOutput("Still three.\n");
		await stored.setStatus("idle");
		await session.close();
		const again = await (await open()).openAgent(agent.id);
		await again?.begin("And now?");
		await again?.appendOutput("Four.\n");
		expect(await text("output")).toBe("Three.\n\nStill three.\n\nFour.\n");
	});

	it("preserve the output of another program", async () => {
		const session = await open();
		const stored = await run(session);
		await writeFile(at("output"), "[stage] run_soul_start\n\n[summary]\nThree.");
		await stored.appendOutput("Four.\n");
		expect(await text("output")).toBe("[stage] run_soul_start\n\n[summary]\nThree.\n\nFour.\n");
	});

	it("return the description and the context of the subagent", async () => {
		const session = await open();
		await run(session);
		await session.close();
		const again = await (await open()).openAgent(agent.id);
		expect(again?.description).toEqual(agent);
		expect(again?.contextRows).toEqual([{ type: "system-prompt", content: "You count." }, promptRow]);
		await again?.changeContext({ kind: "append", rows: [{ type: "checkpoint", id: 0 }] });
		expect((await text("context.jsonl")).split("\n")).toHaveLength(4);
	});

	it.each([
		"",
		".",
		"..",
		"../a0d984db6",
		"../subagents/a0d984db6",
		"a/b",
		"a0d984db6/",
		"no-such",
		"a".repeat(300),
		"a\0b",
	])("are not found under %j", async (name) => {
		const session = await open();
		await run(session);
		expect(await session.openAgent(name)).toBeNull();
	});

	it.each([
		["invalid JSON", "{"],
		["another shape", '{"agent_id":"a0d984db6"}'],
		["an unknown status", '{"agent_id":"a","subagent_type":"coder","status":"odd","created_at":1}'],
	])("that contain %s are ignored", async (_name, content) => {
		await mkdir(at("."), { recursive: true });
		await writeFile(at("meta.json"), content);
		const session = await open();
		expect(await session.openAgent(agent.id)).toBeNull();
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		expect(await text("meta.json")).toBe(content);
	});

	it("of other programs may lack fields", async () => {
		await mkdir(at("."), { recursive: true });
		await writeFile(
			at("meta.json"),
			'{"agent_id":"a0d984db6","subagent_type":"plan","status":"idle","created_at":1.5}',
		);
		expect((await (await open()).openAgent(agent.id))?.description).toEqual({
			id: agent.id,
			type: "plan",
			description: "",
			createdAt: 1500,
			modelOverride: null,
			effectiveModel: null,
		});
	});

	it("of the reference are opened, and every byte is preserved", async () => {
		const fixture = await placeFixture("subagent");
		try {
			const own = path.join(fixture.directory, "subagents", agent.id);
			const before = await Promise.all(
				["context.jsonl", "wire.jsonl", "output"].map((name) => readFile(path.join(own, name), "utf8")),
			);
			const options = {
				files: createDiskFiles(),
				log: createMemoryLog(),
				clock: createSteppingClock(1_800_000_000_000),
			};
			const store = createDiskStore({ ...options, shareDir: fixture.shareDir, protocolVersion: "1.10" });
			const session = await store.openOrCreate(fixture.workDir, fixture.id);
			const stored = await session.openAgent(agent.id);
			expect(stored?.description).toEqual({
				...agent,
				createdAt: 1_795_209_576.334_061_6 * 1000,
				modelOverride: null,
				effectiveModel: null,
			});
			expect(stored?.contextRows).toHaveLength(13);
			await stored?.changeContext({ kind: "append", rows: [promptRow] });
			await stored?.appendEvents([eventAt({ type: "step.started", n: 1 }, 1_800_000_000_000, agentPath)]);
			await stored?.appendOutput("Still three.\n");
			await session.close();
			const after = await Promise.all(
				["context.jsonl", "wire.jsonl", "output"].map((name) => readFile(path.join(own, name), "utf8")),
			);
			expect(after.map((content, index) => content.startsWith(before[index] ?? "-"))).toEqual([true, true, true]);
			expect(after.map((content, index) => content.length > (before[index]?.length ?? 0))).toEqual([true, true, true]);
		} finally {
			await fixture.remove();
		}
	});

	it("of a background task contain its name, also in later runs", async () => {
		const session = await open();
		const stored = await session.createAgent(agent);
		await stored.begin("Count the lines", "agent-00000001");
		const meta = async () => JSON.parse(await text("meta.json"));
		expect(await meta()).toMatchObject({ status: "running_background", last_task_id: "agent-00000001" });
		await stored.setStatus("idle");
		await (await session.openAgent(agent.id))?.begin("Count again");
		expect(await meta()).toMatchObject({ status: "running_foreground", last_task_id: "agent-00000001" });
	});

	it.each([
		["running_foreground", undefined],
		["running_background", "agent-00000001"],
	])("left as %s by a killed process are marked as failed once the session is written again", async (left, taskId) => {
		const crashed = await open();
		await crashed.commit({ context: { kind: "append", rows: [promptRow] } });
		await (await crashed.createAgent(agent)).begin("Count the lines", taskId);
		const session = await open();
		expect(await status()).toBe(left);
		await session.commit({ context: { kind: "append", rows: [{ type: "checkpoint", id: 1 }] } });
		expect(await status()).toBe("failed");
		expect(JSON.parse(await text("meta.json"))).toMatchObject({ description: "count lines", subagent_type: "coder" });
	});

	it("are left unchanged when the subagent had ended", async () => {
		const first = await open();
		await (await run(first)).setStatus("killed");
		await first.close();
		const before = await text("meta.json");
		await (await open()).commit({ context: { kind: "append", rows: [promptRow] } });
		expect(await text("meta.json")).toBe(before);
	});

	it("are closed when the subagent ends", async () => {
		let open = 0;
		const disk = createDiskFiles();
		const counting: Files = {
			...disk,
			async openAppend(file) {
				const opened = await disk.openAppend(file);
				open += 1;
				return {
					...opened,
					append: (line) => opened.append(line),
					sync: () => opened.sync(),
					close: () => {
						open -= 1;
						return opened.close();
					},
				};
			},
		};
		const session = await place.openStore({ files: counting }).openOrCreate(place.workDir, id);
		await session.commit({ context: { kind: "append", rows: [promptRow] } });
		const before = open;
		for (const name of ["a00000001", "a00000002"]) {
			const stored = await session.createAgent({ ...agent, id: name });
			await stored.begin("Count the lines");
			await stored.changeContext({ kind: "append", rows: [promptRow] });
			await stored.appendEvents([eventAt({ type: "step.started", n: 1 }, 1_700_000_000_500, agentPath)]);
			expect(open).toBe(before + 2);
			await stored.setStatus("idle");
			expect(open).toBe(before);
		}
		await session.commit({}, { sync: true });
		await session.close();
		expect(open).toBe(0);
	});

	it("that cannot be written fail with their path, whichever effect fails, and work again later", async () => {
		const counting = createFailingFiles(createDiskFiles());
		const whole = async (session: StoredSession) => {
			const stored = await run(session);
			await stored.appendOutput("Three.\n");
			await stored.setStatus("idle");
		};
		await whole(await open(counting.files));
		const count = counting.effects.length;
		expect(count).toBeGreaterThan(8);
		for (let n = 1; n <= count; n += 1) {
			await place.cleanUp();
			await setUp();
			const mishap = { kind: "fail", code: "ENOSPC", once: true } as const;
			const failing = createFailingFiles(createDiskFiles(), { at: n, mishap });
			const session = await open(failing.files);
			const failure = await whole(session).then(
				() => null,
				(thrown: unknown) => thrown,
			);
			if (failure !== null) {
				expect(failure).toMatchObject({ code: "storage-failed", message: expect.stringContaining(place.shareDir) });
			}
			await whole(session);
			expect(await status()).toBe("idle");
			await session.close();
		}
	});
});
