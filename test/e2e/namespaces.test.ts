// Two processes on one share directory that do not see each other, each with a namespace of its own for process ids, as in
// two containers: over the real executable (docs/explanation/guarantees.md).
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, type Stage } from "../support/executable/executable.ts";
import type { Server } from "../support/executable/running-server.ts";

const id = "11111111-2222-4333-8444-555555555555";
const namespace = ["--pid", "--fork", "--kill-child", "--mount-proc"];
const hasNamespaces = spawnSync("unshare", [...namespace, "true"]).status === 0;

/** Runs a program with a process id that neither a process nor a thread has in a namespace that has just begun. */
const later = ["sh", "-c", 'n=0; while [ $n -lt 60 ]; do /bin/true; n=$((n + 1)); done; "$@"; exit $?', "sh"];

const serveElsewhere = (stage: Stage, ...before: readonly string[]): Server =>
	stage.serveAs("unshare", ...namespace, ...before, executablePath, "--wire", "--session", id);

async function turn(server: Server, text: string): Promise<void> {
	server.prompt(text, text);
	expect((await server.response(text)).result).toEqual({ status: "finished" });
}

const leasesOf = (stage: Stage) => readdirSync(path.join(stage.shareDir, "leases"));

describe.runIf(hasNamespaces)("a session that a process in another namespace has open", () => {
	it("is used in turn with it", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two"] });
		const before = serveElsewhere(stage, ...later);
		before.initialize();
		await turn(before, "first");

		const newcomer = serveElsewhere(stage);
		newcomer.initialize();
		await turn(newcomer, "second");
		await turn(before, "third");
		for (const server of [before, newcomer]) {
			server.endInput();
			expect(await server.exited).toBe(0);
		}
		const journal = readFileSync(path.join(stage.sessionDir(id), "journal.jsonl"), "utf8");
		expect([journal.includes("second"), journal.includes("third")]).toEqual([true, true]);
		expect(leasesOf(stage)).toEqual([]);
	});

	it("is left alone by what takes no session from a living process, and is free three seconds after that was killed", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two"] });
		const holder = serveElsewhere(stage, ...later);
		holder.initialize();
		await turn(holder, "first");
		const archive = async () =>
			JSON.parse((await stage.run("store", "archive", "--older-than", "0m", "--json")).stdout);
		expect(await archive()).toEqual({ archived: [], open: [id], failed: [] });
		await turn(holder, "second");
		holder.kill("SIGKILL");
		await holder.exited;
		expect(leasesOf(stage)).toHaveLength(1);
		expect(await archive()).toEqual({ archived: [id], open: [], failed: [] });
		expect(leasesOf(stage)).toEqual([]);
	});
});
