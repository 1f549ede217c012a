// Every key by which a repository can name a program is planted, and none of the programs runs.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { never } from "../../../base/abort.ts";
import { createProcesses } from "../children.ts";
import { runGit } from "./git.ts";

let base = "";
let project = "";

const hasGit = ["/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git"].some((file) => existsSync(file));

/** A program that leaves a file named after what ran it. */
const planted = (name: string) => path.join(base, "evil", name);
const plant = async (name: string) => {
	await writeFile(planted(name), `#!/bin/sh\ntouch "${base}/ran/${name}"\ncat 2>/dev/null\nexit 0\n`);
	await chmod(planted(name), 0o755);
	return planted(name);
};

function git(...words: readonly string[]): void {
	execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@example", ...words], { cwd: project, stdio: "ignore" });
}

beforeEach(async () => {
	base = await mkdtemp(path.join(tmpdir(), "agentwire-git-"));
	project = path.join(base, "project");
	for (const name of ["project/sub", "evil", "ran", "home"]) await mkdir(path.join(base, name), { recursive: true });
});

afterEach(async () => rm(base, { recursive: true, force: true }));

const run = async (words: readonly string[], workDir = project, searchPath = process.env["PATH"] ?? "") => {
	const environment = { PATH: searchPath, HOME: path.join(base, "home") };
	const place = { environment, processes: createProcesses() };
	return await runGit({ words, workDir, outputLimit: 65_536, separateStderr: true }, place, never);
};
const ran = () => readdir(path.join(base, "ran"));

/** What our calls ask. */
const calls = [
	["status", "--short", "--branch"],
	["log", "--oneline", "-n", "5"],
	["log", "-p", "--format=%H %G?"],
	["diff"],
] as const;

describe.runIf(hasGit)("git as we run it", () => {
	beforeEach(async () => {
		git("init", "--quiet");
		await writeFile(path.join(project, "a.txt"), "one\n");
		git("add", "--all");
		git("commit", "--quiet", "--no-gpg-sign", "-m", "first");
		// A signature, so that there is one to verify.
		const commit = execFileSync("git", ["cat-file", "commit", "HEAD"], { cwd: project }).toString();
		const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iHUEABYKAB0\n -----END PGP SIGNATURE-----\n";
		const signed = commit.replace("\n\n", `\n${signature}\n`);
		const id = execFileSync("git", ["hash-object", "-t", "commit", "-w", "--stdin"], { cwd: project, input: signed });
		git("update-ref", "HEAD", id.toString().trim());
		await writeFile(path.join(project, "a.txt"), "two\n");
	});

	const keys: readonly (readonly [name: string, ...settings: string[]])[] = [
		["core.fsmonitor"],
		["filter.x.clean"],
		["filter.x.smudge", "filter.x.required=true"],
		["filter.x.process", "filter.x.required=true"],
		["diff.x.textconv"],
		["diff.x.command"],
		["diff.external"],
		["gpg.program", "log.showSignature=true"],
		["gpg.openpgp.program", "log.showSignature=true"],
		["core.pager", "pager.log=true"],
		["pager.log"],
		["pager.status"],
		["core.editor"],
		["sequence.editor"],
		["core.sshCommand"],
		["core.askPass"],
		["credential.helper"],
		["core.alternateRefsCommand"],
		["interactive.diffFilter"],
		["merge.x.driver"],
	];
	it.each(keys)("does not run the program of %s", async (key, ...more) => {
		git("config", key, await plant(key));
		for (const setting of more) git("config", ...setting.split(/=(.*)/).slice(0, 2));
		await writeFile(path.join(project, ".git/info/attributes"), "* filter=x diff=x merge=x\n");
		for (const words of calls) {
			const outcome = await run(words);
			expect(outcome).toMatchObject({ ended: { kind: "exited", exitCode: 0 }, errorOutput: "" });
		}
		expect(await ran()).toEqual([]);
	});

	it.each(["core.fsmonitor", "filter.x.clean", "diff.external", "gpg.program"])(
		"differs from plain git, which runs the program of %s",
		async (key) => {
			git("config", key, await plant(key));
			git("config", "log.showSignature", "true");
			await writeFile(path.join(project, ".git/info/attributes"), "* filter=x\n");
			for (const words of [["status"], ["diff"], ["log"]]) git(...words);
			expect(await ran()).toEqual([key]);
		},
	);

	it("does not run what an included file names", async () => {
		await writeFile(path.join(project, "included"), `[filter "y.z"]\n\tclean = ${await plant("included")}\n`);
		git("config", "include.path", path.join(project, "included"));
		await writeFile(path.join(project, ".gitattributes"), "* filter=y.z\n");
		for (const words of calls) await run(words);
		expect(await ran()).toEqual([]);
	});

	it("runs no hook, alias or remote helper", async () => {
		for (const hook of ["post-index-change", "fsmonitor-watchman", "pre-commit"]) {
			await cp(await plant(hook), path.join(project, ".git/hooks", hook));
		}
		const helper = await plant("helper");
		git("config", "alias.status", `!${helper}`);
		git("config", "alias.st", `!${helper}`);
		git("config", "core.hooksPath", path.join(project, ".git/hooks"));
		git("config", "remote.origin.url", `ext::${helper}`);
		git("config", "remote.origin.promisor", "true");
		git("config", "extensions.partialClone", "origin");
		git("config", "protocol.ext.allow", "always");
		for (const words of [...calls, ["st"], ["fetch", "origin"], ["show", "1234567890123456789012345678901234567890"]]) {
			await run(words);
		}
		expect(await ran()).toEqual([]);
	});

	it("does not look into submodules, which have settings of their own", async () => {
		const inner = path.join(project, "inner");
		await cp(path.join(project, ".git"), path.join(inner, ".git"), { recursive: true });
		execFileSync("git", ["config", "core.fsmonitor", await plant("inner")], { cwd: inner });
		const head = execFileSync("git", ["rev-parse", "HEAD"], { cwd: project }).toString().trim();
		git("update-index", "--add", "--cacheinfo", `160000,${head},inner`);
		git("config", "submodule.inner.ignore", "none");
		git("config", "status.submoduleSummary", "true");
		for (const words of calls) await run(words);
		expect(await ran()).toEqual([]);
	});

	it("does not take a directory of the project for a repository", async () => {
		const sub = path.join(project, "sub");
		await cp(path.join(project, ".git"), sub, { recursive: true });
		await writeFile(
			path.join(sub, "config"),
			`[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = ${await plant("bare")}\n`,
		);
		for (const words of calls) {
			expect((await run(words, sub))?.output).toBe("");
		}
		expect(await ran()).toEqual([]);
	});

	it("is not a program of the project, whatever PATH says", async () => {
		await mkdir(path.join(project, "bin"));
		await cp(await plant("git"), path.join(project, "bin/git"));
		await symlink(path.join(project, "bin"), path.join(base, "link"));
		const real = process.env["PATH"] ?? "";
		for (const first of [".", "", "bin", path.join(project, "bin"), path.join(base, "link")]) {
			const outcome = await run(["status", "--short"], path.join(project, "sub"), `${first}:${real}`);
			expect(outcome?.output).toContain("a.txt");
		}
		expect(await run(["status"], project, `.:${project}/bin`)).toBeNull();
		expect(await ran()).toEqual([]);
	});

	it("leaves the index as it is", async () => {
		const before = execFileSync("sha256sum", [".git/index"], { cwd: project }).toString();
		await run(["status"]);
		expect(execFileSync("sha256sum", [".git/index"], { cwd: project }).toString()).toBe(before);
	});
});
