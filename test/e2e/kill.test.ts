// What a client meets when the process is killed, when two processes want one session, and when the files are taken away:
// over the real executable (docs/explanation/guarantees.md).
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath } from "../support/executable/executable.ts";
import { Server } from "../support/executable/running-server.ts";
import { createHeldStage } from "../support/models/held-provider.ts";

const id = "11111111-2222-4333-8444-555555555555";

/** The types of the events of a turn that were delivered, except its end. */
const deliveredTypes = (lines: readonly { readonly params?: { readonly type: string } }[]) =>
	lines.flatMap(({ params }) => params?.type ?? []).filter((type) => type !== "TurnEnd");

const storageError = (text: string) => ({ code: -32603, message: expect.stringContaining(text) });

describe("two processes on one session", () => {
	it("prompt in turn without waiting for each other, and each knows what the other did", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two"] });
		const before = stage.serve("--session", id);
		before.initialize();
		before.prompt("first");
		expect((await before.response("prompt")).result).toEqual({ status: "finished" });

		const started = performance.now();
		const newcomer = stage.serve("--session", id);
		newcomer.initialize();
		await newcomer.response("initialize");
		newcomer.prompt("second");
		expect((await newcomer.response("prompt")).result).toEqual({ status: "finished" });
		before.prompt("third", "late");
		expect((await before.response("late")).result).toEqual({ status: "finished" });
		newcomer.prompt("fourth", "last");
		expect((await newcomer.response("last")).result).toEqual({ status: "finished" });
		expect(performance.now() - started).toBeLessThan(2_900);
		for (const server of [before, newcomer]) {
			server.endInput();
			expect(await server.exited).toBe(0);
		}
		const context = readFileSync(path.join(stage.sessionDir(id), "context.jsonl"), "utf8");
		const prompts = ["first", "second", "third", "fourth"].map((text) => context.indexOf(`"${text}"`));
		expect(prompts.every((place, index) => place > (prompts[index - 1] ?? 0))).toBe(true);
		expect(readdirSync(path.join(stage.shareDir, "leases"))).toEqual([]);
	});

	it("leave a running turn alone, unless one of them takes the session over by name", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const owner = stage.serve("--session", id);
		owner.initialize();
		owner.prompt("first");
		const answer = await nextRequest();

		const reader = stage.serve("--session", id);
		reader.initialize();
		await reader.response("initialize");
		reader.request("replay", "replay");
		expect((await reader.response("replay")).result).toMatchObject({ status: "finished" });
		const shown = await stage.run("sessions", "show", id);
		expect(shown.stdout + shown.stderr).toContain("first");
		reader.prompt("second", "refused");
		expect((await reader.response("refused")).error?.message).toContain(
			`running elsewhere: process ${owner.pid} works on a turn`,
		);
		await answer.say("done");
		answer.end();
		expect((await owner.response("prompt")).result).toEqual({ status: "finished" });

		owner.prompt("third", "taken");
		await nextRequest();
		const taker = stage.serve("--session", id, "--take-over");
		taker.initialize();
		taker.prompt("fourth");
		const mine = await nextRequest();
		expect((await owner.response("taken")).error).toMatchObject(storageError("has taken over the session"));
		await mine.say("mine");
		mine.end();
		expect((await taker.response("prompt")).result).toEqual({ status: "finished" });
		for (const server of [owner, reader, taker]) {
			server.endInput();
			expect(await server.exited).toBe(0);
		}
	});

	it.each(["runs", "has ended"])(
		"that both found new: the one that writes first has it, whether it %s",
		async (state) => {
			const stage = createStage({ scripts: ["text: one", "text: two"] });
			const [late, early] = [stage.serve("--session", id), stage.serve("--session", id)];
			for (const server of [late, early]) {
				server.initialize();
				await server.response("initialize");
			}
			const end = async () => {
				early.endInput();
				expect(await early.exited).toBe(0);
			};
			early.prompt("of the early one");
			expect((await early.response("prompt")).result).toEqual({ status: "finished" });
			if (state === "has ended") await end();
			late.prompt("of the late one", "late");
			const lines = await late.readUntil((line) => line.id === "late");
			expect(lines.at(-1)?.error).toMatchObject(storageError("another process has created the session"));
			expect(deliveredTypes(lines)).toEqual([]);
			late.endInput();
			expect(await late.exited).toBe(0);
			if (state === "runs") {
				early.prompt("third", "next");
				expect((await early.response("next")).result).toEqual({ status: "finished" });
				await end();
			}
			const log = readFileSync(path.join(stage.sessionDir(id), "journal.jsonl"), "utf8");
			expect([log.includes("of the early one"), log.includes("of the late one")]).toEqual([true, false]);
			expect(readdirSync(path.join(stage.shareDir, "leases"))).toEqual([]);
		},
	);

	it("the model gets a steer that was answered right before the process was killed", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const killed = stage.serve("--session", id);
		killed.initialize();
		killed.prompt("first");
		await nextRequest();
		killed.request("steer", "steer", { user_input: "turn left" });
		expect((await killed.response("steer")).result).toEqual({ status: "steered" });
		killed.kill("SIGKILL");
		await killed.exited;
		const next = stage.serve("--session", id);
		next.initialize();
		next.prompt("go on");
		const { messages, say, end } = await nextRequest();
		const said = JSON.stringify(messages.filter(({ role }) => role === "user"));
		const places = ["first", "turn left", "go on"].map((text) => said.indexOf(text));
		expect(places[0]).toBeGreaterThan(0);
		expect(places).toEqual(places.toSorted((one, other) => one - other));
		await say("done");
		end();
		expect((await next.response("prompt")).result).toEqual({ status: "finished" });
		next.endInput();
		expect(await next.exited).toBe(0);
	});

	it("the newcomer starts at once when the one before was killed", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two"] });
		const before = stage.serve("--session", id);
		before.initialize();
		before.prompt("first");
		await before.response("prompt");
		before.kill("SIGKILL");
		await before.exited;
		expect(readdirSync(path.join(stage.shareDir, "leases"))).toHaveLength(1);

		const started = performance.now();
		const newcomer = stage.serve("--session", id);
		newcomer.initialize();
		await newcomer.response("initialize");
		newcomer.prompt("second");
		expect((await newcomer.response("prompt")).result).toEqual({ status: "finished" });
		expect(performance.now() - started).toBeLessThan(2_500);
		newcomer.endInput();
		expect(await newcomer.exited).toBe(0);
		expect(readdirSync(path.join(stage.shareDir, "leases"))).toEqual([]);
	});
});

describe("files that are removed while the server runs", () => {
	it("a session directory deleted under a running server ends the turn with an error, and the server goes on", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two", "text: three"] });
		const server = stage.serve("--session", id);
		server.initialize();
		server.prompt("first");
		await server.response("prompt");
		rmSync(stage.sessionDir(id), { recursive: true });
		for (const request of ["second", "third"]) {
			server.prompt(request, request);
			const lines = await server.readUntil((line) => line.id === request);
			expect(deliveredTypes(lines)).toEqual([]);
			expect(lines.at(-1)?.error).toMatchObject(storageError(stage.sessionDir(id)));
		}
		expect(existsSync(stage.sessionDir(id))).toBe(false);
		server.endInput();
		expect(await server.exited).toBe(0);
	});

	it("a share directory that cannot be made lets the server start, and the first prompt says so", async () => {
		const stage = createStage();
		const file = path.join(stage.workDir, "file");
		writeFileSync(file, "");
		const child = spawn(executablePath, ["--work-dir", stage.workDir, "--config", stage.configText], {
			cwd: stage.workDir,
			env: { ...stage.environment, KIMI_SHARE_DIR: path.join(file, "share") },
		});
		const server = new Server(child);
		server.initialize();
		expect((await server.response("initialize")).error).toBeUndefined();
		server.prompt("first");
		const lines = await server.readUntil((line) => line.id === "prompt");
		expect(deliveredTypes(lines)).toEqual([]);
		expect(lines.at(-1)?.error).toMatchObject(storageError(path.join(file, "share")));
		server.endInput();
		expect(await server.exited).toBe(0);
	});
});
