// Several sessions in one process: each has its own work dir, model and events, and none gets in another's way.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { EventBody } from "../../src/api/values/event.ts";
import type { ApprovalInteraction } from "../../src/api/values/interaction.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { plainSessionOptions } from "../../src/kernel/compose/session-options.ts";
import { Kernel } from "../../src/kernel/hosting/kernel.ts";
import type { Session } from "../../src/kernel/session/session.ts";
import { createDiskFiles } from "../../src/ports/files/disk-files.ts";
import { createProcesses } from "../../src/ports/processes/children.ts";
import { createDiskStore } from "../../src/ports/store/disk/disk-store.ts";
import { readConfiguration } from "../../src/settings/config/configuration-reader.ts";
import { parseMcpServers } from "../../src/settings/config/mcp-servers.ts";
import { toolCall } from "../support/executable/executable.ts";
import { createHostServices } from "../support/host/host-services.ts";
import { fixture } from "../support/mcp/mcp-stage.ts";
import { plainAttachment } from "../support/sessions/session-doubles.ts";

interface Place {
	readonly root: string;
	workDir(name: string): string;
	/** A kernel whose models are named after their scripts and whose children have these variables. */
	kernel(scripts: Readonly<Record<string, readonly string[]>>, variables?: Record<string, string>): Promise<Kernel>;
}

function createPlace(): Place {
	const root = realpathSync(mkdtempSync(path.join(tmpdir(), "agentwire-sessions-")));
	const kernels: Kernel[] = [];
	onTestFinished(async () => {
		await Promise.all(kernels.map((kernel) => kernel.close()));
		rmSync(root, { recursive: true, force: true });
	});
	const files = createDiskFiles();
	return {
		root,
		workDir(name) {
			const directory = path.join(root, name);
			mkdirSync(directory);
			return directory;
		},
		async kernel(scripts, variables = {}) {
			const entries = Object.entries(scripts).map(([name, texts]) => {
				const file = path.join(root, `${name}-${kernels.length}.json`);
				writeFileSync(file, JSON.stringify(texts));
				const provider = {
					type: "_scripted_echo",
					base_url: "",
					api_key: "",
					env: { KIMI_SCRIPTED_ECHO_SCRIPTS: file },
				};
				return [name, provider] as const;
			});
			const models = entries.map(([name]) => [
				name,
				{ provider: name, model: "scripted_echo", max_context_size: 100_000 },
			]);
			const text = JSON.stringify({ models: Object.fromEntries(models), providers: Object.fromEntries(entries) });
			const { configuration } = await readConfiguration({ kind: "text", text }, files, silentLog);
			const kernel = new Kernel({
				store: createDiskStore({
					files,
					shareDir: path.join(root, "share"),
					log: silentLog,
					clock: systemClock,
					protocolVersion: "1.10",
				}),
				configuration,
				hostServices: createHostServices({
					environment: { PATH: process.env["PATH"] ?? "", ...variables },
					home: root,
					shareDir: path.join(root, "share"),
					files,
					processes: createProcesses({ openSink: (file) => files.openAppend(file), log: silentLog }),
					clock: systemClock,
					random: Math.random,
					version: "1.2.3",
				}),
			});
			kernels.push(kernel);
			return kernel;
		},
	};
}

const plainOptions = { ...plainSessionOptions, yolo: true };

/** Runs a turn and returns its events; `react` sees each as it arrives. */
async function run(session: Session, text: string, react: (body: EventBody) => unknown = () => {}) {
	const attachment = session.attachPlain(plainAttachment);
	const bodies: EventBody[] = [];
	await session.send({ type: "turn.start", input: text });
	for await (const batch of attachment.events) {
		for (const event of batch) {
			expect(event.sessionId).toBe(session.id);
			bodies.push(event.body);
			await react(event.body);
		}
		if (bodies.at(-1)?.type === "turn.ended") break;
	}
	attachment.close();
	return bodies;
}

function outputs(bodies: readonly EventBody[]): unknown[] {
	return bodies.flatMap((body) => (body.type === "tool.result" ? [body.result.output] : []));
}

const shellCall = (command: string) => toolCall("call-1", "Shell", { command });
/** Two commands that go on only when the other has begun too, through a pair of pipes. */
const meeting = (mine: string, theirs: string) =>
	shellCall(`touch ${mine}; until [ -e ${theirs} ]; do sleep 0.01; done; pwd; echo "\${PLACE:-none}"`);

describe("sessions of one kernel", () => {
	it("run turns at once, each in its own work dir", async () => {
		const place = createPlace();
		const [left, right] = [place.workDir("left"), place.workDir("right")];
		const [leftFile, rightFile] = [path.join(place.root, "l"), path.join(place.root, "r")];
		const kernel = await place.kernel(
			{ a: [meeting(leftFile, rightFile), "text: a"], b: [meeting(rightFile, leftFile), "text: b"] },
			{ PLACE: "here" },
		);
		const sessions = [
			await kernel.create(left, { ...plainOptions, model: "a" }),
			await kernel.create(right, { ...plainOptions, model: "b" }),
		];
		const turns = await Promise.all(sessions.map((session) => run(session, "hi")));
		expect(turns.map(outputs)).toEqual([[`${left}\nhere\n`], [`${right}\nhere\n`]]);
		expect(turns.map((bodies) => bodies.at(-1))).toEqual(
			turns.map(() => ({ type: "turn.ended", outcome: { status: "finished" } })),
		);
	});

	it("resolve relative paths against their own work dir", async () => {
		const place = createPlace();
		const workDirs = ["left", "right"].map((name) => place.workDir(name));
		for (const workDir of workDirs) writeFileSync(path.join(workDir, "name.txt"), path.basename(workDir));
		const kernel = await place.kernel({ m: [toolCall("call-1", "ReadFile", { path: "name.txt" }), "text: done"] });
		const read = async (workDir: string) =>
			outputs(await run(await kernel.create(workDir, { ...plainOptions, model: "m" }), "hi"));
		const [left, right] = await Promise.all(workDirs.map(read));
		expect(left).toEqual([expect.stringContaining("left")]);
		expect(right).toEqual([expect.stringContaining("right")]);
	});

	it("request approvals and are cancelled independently", async () => {
		const place = createPlace();
		const kernel = await place.kernel({ m: [shellCall("touch made; echo ran"), "text: done"] });
		const options = { ...plainOptions, yolo: false, model: "m" };
		const asking = await kernel.create(place.workDir("left"), options);
		const other = await kernel.create(place.workDir("right"), options);
		let interaction: ApprovalInteraction | null = null;
		const cancelled = await run(asking, "hi", async (body) => {
			if (body.type !== "interaction.requested" || body.interaction.kind !== "approval") return;
			interaction = body.interaction;
			// The other session neither knows this ask nor waits for it.
			const answer = { kind: "approval", decision: "approve", feedback: "" } as const;
			expect(await other.send({ type: "interaction.respond", interactionId: interaction.id, answer })).toEqual({
				settled: false,
				by: null,
			});
			const finished = await run(other, "hi", (body) =>
				body.type === "interaction.requested"
					? other.send({ type: "interaction.respond", interactionId: body.interaction.id, answer })
					: undefined,
			);
			expect(outputs(finished)).toEqual(["ran\n"]);
			await asking.send({ type: "turn.cancel" });
		});
		expect(interaction).not.toBeNull();
		expect(cancelled.at(-1)).toEqual({ type: "turn.ended", outcome: { status: "cancelled" } });
		expect(outputs(cancelled)).toEqual([]);
	});

	it("share a tool server as long as one of them lives, and end it with the last", async () => {
		const place = createPlace();
		const workDir = place.workDir("work");
		const wanted = [toolCall("call-1", "pid", {}), toolCall("call-2", "echo", { text: "mine" }), "text: done"];
		const kernel = await place.kernel({ a: wanted, b: wanted, c: wanted });
		const mcpServers = parseMcpServers(JSON.stringify({ shared: fixture() }), "test");
		const open = (model: string, directory = workDir) =>
			kernel.create(directory, { ...plainOptions, model, mcpServers });
		const sessions = await Promise.all([open("a"), open("b"), open("c", place.workDir("elsewhere"))]);
		const results = (await Promise.all(sessions.map((session) => run(session, "hi")))).map((bodies) =>
			outputs(bodies).map((output) => JSON.stringify(output)),
		);
		const [left, right, apart] = results.map(([processId = ""]) => Number(/\d+/.exec(processId)?.[0]));
		expect(left).toBe(right);
		expect(apart).not.toBe(left);
		expect(results.map(([, said]) => said)).toEqual(results.map(() => '[{"type":"text","text":"mine"}]'));
		const isAlive = () => {
			try {
				return process.kill(left ?? 0, 0);
			} catch {
				return false;
			}
		};
		await sessions[0].close(AbortSignal.timeout(1000));
		expect(isAlive()).toBe(true);
		await kernel.close();
		expect(isAlive()).toBe(false);
	});

	it("are shared while they are in use, and are closed together", async () => {
		const place = createPlace();
		const kernel = await place.kernel({ m: [shellCall("sleep 1000")] });
		const workDir = place.workDir("left");
		const options = { ...plainOptions, model: "m" };
		const session = await kernel.openOrCreate(workDir, "s", options);
		expect(await kernel.openOrCreate(workDir, "s", options)).toBe(session);
		const bodies = await run(session, "hi", (body) => {
			if (body.type === "tool-call.started") void kernel.close();
		});
		expect(bodies.at(-1)).toEqual({ type: "turn.ended", outcome: { status: "cancelled" } });
		await expect(session.send({ type: "turn.start", input: "more" })).rejects.toMatchObject({ code: "closed" });
	});
});

describe("kernels of one process", () => {
	it("are opened once, however many requests for one are concurrent", async () => {
		const place = createPlace();
		const workDir = place.workDir("work");
		const kernel = await place.kernel({ m: ["text: done"] });
		const open = () =>
			kernel.openOrCreate(workDir, "5b6f3f7e-0000-4000-8000-000000000000", { ...plainOptions, model: "m" });
		const [first, second] = await Promise.all([open(), open()]);
		expect(second).toBe(first);
	});

	it("give each their own environment, and none the process's", async () => {
		const place = createPlace();
		const command = shellCall('echo "$PLACE-$VITEST"');
		const kernels = await Promise.all(
			["red", "blue"].map((color) => place.kernel({ m: [command, "text: done"] }, { PLACE: color })),
		);
		const workDirs = ["left", "right"].map((name) => place.workDir(name));
		const turns = await Promise.all(
			kernels.map(async (kernel, n) =>
				run(await kernel.create(workDirs[n] ?? "", { ...plainOptions, model: "m" }), "hi"),
			),
		);
		expect(turns.map(outputs)).toEqual([["red-\n"], ["blue-\n"]]);
	});
});
