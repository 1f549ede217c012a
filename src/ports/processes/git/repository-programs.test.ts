import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { never } from "../../../base/abort.ts";
import { createProcesses } from "../children.ts";
import { repositoryProgram } from "./repository-programs.ts";

const hasGit = ["/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git"].some((file) => existsSync(file));
let base = "";

beforeEach(async () => {
	base = await mkdtemp(path.join(tmpdir(), "agentwire-repository-"));
});
afterEach(async () => rm(base, { recursive: true, force: true }));

const git = (...words: readonly string[]) => void execFileSync("git", words, { cwd: base, stdio: "ignore" });
const found = async (directory = base) => {
	const environment = { PATH: process.env["PATH"] ?? "", HOME: "/nowhere" };
	return await repositoryProgram(directory, { environment, processes: createProcesses() }, never);
};

describe.runIf(hasGit)("the programs of a repository", () => {
	it("are none where there is no repository, and in a new one", async () => {
		expect(await found()).toBeNull();
		git("init", "--quiet");
		for (const [key, value] of [
			["core.hooksPath", ".husky/_"],
			["core.sshCommand", "ssh -i key"],
			["core.fsmonitor", "true"],
			["user.name", "me"],
			["alias.st", "status"],
		] as const) {
			git("config", key, value);
		}
		expect(await found()).toBeNull();
	});

	it.each([
		"core.fsmonitor",
		"filter.a.b.clean",
		"diff.x.textconv",
		"diff.x.command",
		"diff.external",
		"gpg.program",
		"gpg.ssh.program",
	])("are found by %s", async (key) => {
		git("init", "--quiet");
		git("config", key, "./evil");
		expect(await found()).toContain(key.toLowerCase().slice(0, 5));
	});

	it("are found in what is included", async () => {
		git("init", "--quiet");
		await writeFile(path.join(base, "more"), "[core]\n\tfsmonitor = ./evil\n");
		git("config", "include.path", "../more");
		expect(await found()).toContain("core.fsmonitor");
	});

	it("are found in what only looks like a repository", async () => {
		git("init", "--quiet");
		await cp(path.join(base, ".git"), path.join(base, "sub"), { recursive: true });
		await writeFile(path.join(base, "sub/config"), "[core]\n\tworktree = .\n\tbare = false\n\tfsmonitor = ./evil\n");
		expect(await found()).toBeNull();
		expect(await found(path.join(base, "sub"))).toContain("core.fsmonitor");
	});

	it("are found in a submodule", async () => {
		git("init", "--quiet");
		await mkdir(path.join(base, "inner"));
		execFileSync("git", ["init", "--quiet"], { cwd: path.join(base, "inner") });
		git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},inner`);
		expect(await found()).toBeNull();
		execFileSync("git", ["config", "core.fsmonitor", "./evil"], { cwd: path.join(base, "inner") });
		expect(await found()).toContain("core.fsmonitor");
	});

	it("are those of the transport too where objects may be missing", async () => {
		git("init", "--quiet");
		git("config", "core.sshCommand", "./evil");
		git("config", "remote.origin.promisor", "true");
		expect(await found()).toContain("core.sshcommand");
	});
});
