// The answer to `initialize` that an earlier start has remembered: given before the program is loaded, once, and only as long as
// nothing that it was made from has changed.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it, vi } from "vitest";
import { createStage, type Stage } from "../support/executable/executable.ts";
import type { Server, ServerLine } from "../support/executable/running-server.ts";

/** Milliseconds after which a file counts as settled. */
const settling = 2000;

const answersOf = ({ environment }: Stage) => path.join(environment["XDG_CACHE_HOME"] ?? "", "agentwire", "answers");

function remembered(stage: Stage): string[] {
	try {
		return readdirSync(answersOf(stage)).map((name) => path.join(answersOf(stage), name));
	} catch {
		return [];
	}
}

/** Waits until what was written so far is too old to have changed unnoticed. */
async function settled(): Promise<void> {
	const written = Date.now();
	await vi.waitUntil(() => Date.now() - written > settling + 100, { timeout: 10_000 });
}

/** A stage with a cache of its own, whose settings have settled. */
async function settledStage(scripts: readonly string[] = ["text: done"]): Promise<Stage> {
	const stage = createStage({ isFirstStart: true, scripts });
	// The first start makes the settings private, and the one file copies its skills.
	await handshake(stage);
	await settled();
	return stage;
}

async function end(server: Server): Promise<number | null> {
	server.endInput();
	return await server.exited;
}

async function handshake(stage: Stage, ...flags: string[]): Promise<ServerLine> {
	const server = stage.serve("--wire", ...flags);
	server.initialize();
	const line = await server.read();
	expect(await end(server)).toBe(0);
	if (line === null) throw new Error("There is no answer.");
	return line;
}

/** Changes a word of the remembered answer, so that it differs from the program's own. */
function mark(stage: Stage): void {
	const [file = ""] = remembered(stage);
	writeFileSync(file, readFileSync(file, "utf8").replace("Forget the conversation", "Forgotten once"));
}

const isMarked = (line: ServerLine): boolean => JSON.stringify(line).includes("Forgotten once");

it("is given once, with everything after it in order, and is replaced when it was not right", async () => {
	const stage = await settledStage();
	const first = await handshake(stage, "--session", "one");
	expect(remembered(stage)).toHaveLength(1);
	mark(stage);
	const server = stage.serve("--wire", "--session", "two");
	const request = (id: string, method: string, params: object) =>
		JSON.stringify({ jsonrpc: "2.0", id, method, params });
	server.write(
		`${request("h", "initialize", { protocol_version: "1.10" })}\n${request("p", "prompt", { user_input: "hello" })}\n`,
	);
	const lines: ServerLine[] = [];
	for (let line = await server.read(); line !== null; line = await server.read()) {
		lines.push(line);
		if (line.id === "p") server.endInput();
	}
	expect(await server.exited).toBe(0);
	expect(lines.map(({ id, params }) => id ?? params?.type)).toEqual([
		"h",
		"TurnBegin",
		"StepBegin",
		"ContentPart",
		"StatusUpdate",
		"TurnEnd",
		"p",
	]);
	expect(lines.map(isMarked)).toEqual([true, ...lines.slice(1).map(() => false)]);
	// The program has noticed that its own answer is another one.
	expect((await handshake(stage, "--session", "three")).result).toEqual(first.result);
});

it("is not given for a skill that was added, a file that was changed, or other params", async () => {
	const stage = await settledStage();
	await handshake(stage);
	mark(stage);
	const other = stage.serve("--wire");
	other.request("initialize", "initialize", { protocol_version: "1.10", client: { name: "c", version: "1" } });
	expect(isMarked(await other.response("initialize"))).toBe(false);
	await end(other);
	mark(stage);
	expect(isMarked(await handshake(stage))).toBe(true);
	mark(stage);
	const skill = path.join(stage.workDir, ".kimi", "skills", "added");
	mkdirSync(skill, { recursive: true });
	writeFileSync(path.join(skill, "SKILL.md"), "---\nname: added\ndescription: Added later.\n---\n");
	const withSkill = await handshake(stage);
	expect(isMarked(withSkill)).toBe(false);
	expect(JSON.stringify(withSkill)).toContain("skill:added");
});

it("is not given when the settings are broken meanwhile", async () => {
	const stage = await settledStage();
	await handshake(stage);
	expect(remembered(stage)).toHaveLength(1);
	writeFileSync(path.join(stage.shareDir, "config.toml"), "default_model = \n");
	const server = stage.serve("--wire");
	server.initialize();
	expect(await server.read()).toBeNull();
	expect(await server.exited).not.toBe(0);
});

it("is not remembered where a hook runs before it, and not for files that have just changed", async () => {
	const stage = createStage({ isFirstStart: true });
	await handshake(stage);
	expect(remembered(stage)).toEqual([]);
	const settings = path.join(stage.shareDir, "config.toml");
	writeFileSync(settings, `${readFileSync(settings, "utf8")}\n[[hooks]]\nevent = "SessionStart"\ncommand = "true"\n`);
	await settled();
	await handshake(stage);
	expect(remembered(stage)).toEqual([]);
});

it("leaves a damaged file alone, and a client that says nothing yet can wait", async () => {
	const stage = await settledStage();
	const first = await handshake(stage);
	const [file = ""] = remembered(stage);
	writeFileSync(file, readFileSync(file, "utf8").slice(0, 100));
	expect((await handshake(stage)).result).toEqual(first.result);
	const server = stage.serve("--wire");
	// The program is loaded by the time of the first line, or not: both are fine.
	await new Promise((resolve) => setTimeout(resolve, 300));
	server.initialize();
	expect((await server.response("initialize")).result).toEqual(first.result);
	server.kill("SIGTERM");
	expect(await server.exited).toBe(0);
});

/** Whether the process handles the last of the signals that stop it; Node itself handles the others from the beginning. */
function handlesStop({ pid }: Server): boolean {
	const [, mask = "0"] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
	return (BigInt(`0x${mask}`) & 1n) !== 0n;
}

it.runIf(process.platform === "linux")("is stopped by a signal before the client has said anything", async () => {
	const stage = await settledStage();
	await handshake(stage);
	const server = stage.serve("--wire");
	await vi.waitUntil(() => handlesStop(server));
	server.kill("SIGTERM");
	expect(await server.exited).toBe(0);
});
