import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Log, silentLog } from "../../base/log.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { Files } from "../../ports/files/port.ts";
import { agentsMdBudget, loadAgentsMd } from "./agents-md.ts";

const files = createDiskFiles();
let root: string;

beforeEach(async () => {
	root = await mkdtemp(path.join(tmpdir(), "agentwire-agents-md-"));
});
afterEach(async () => {
	await rm(root, { recursive: true, force: true });
});

async function put(name: string, text: string | Buffer): Promise<void> {
	await mkdir(path.dirname(path.join(root, name)), { recursive: true });
	await writeFile(path.join(root, name), text);
}

const load = (workDir: string) => loadAgentsMd(files, path.join(root, workDir), silentLog);
const from = (name: string, text: string) => `<!-- From: ${path.join(root, name)} -->\n${text}`;

describe("loadAgentsMd", () => {
	it("returns nothing without instructions, or with blank ones", async () => {
		expect(await load("")).toBe("");
		await put("AGENTS.md", " \n\t\n");
		expect(await load("")).toBe("");
	});

	it("reads from the nearest directory with .git down to the work directory, .kimi first", async () => {
		await put("AGENTS.md", "outside");
		await put("repo/.git/HEAD", "");
		await put("repo/.kimi/AGENTS.md", "hidden\n");
		await put("repo/AGENTS.md", "\ntop\n\n");
		await put("repo/agents.md", "not read beside AGENTS.md");
		await put("repo/a/agents.md", "lower");
		await put("repo/a/b/.kimi/AGENTS.md", "deep");
		await put("repo/a/b/c/AGENTS.md", "below the work dir");
		expect(await load("repo/a/b")).toBe(
			[
				from("repo/.kimi/AGENTS.md", "hidden"),
				from("repo/AGENTS.md", "top"),
				from("repo/a/agents.md", "lower"),
				from("repo/a/b/.kimi/AGENTS.md", "deep"),
			].join("\n\n"),
		);
	});

	it("recognizes a .git file as a project root, and reads only the work directory without one", async () => {
		await put("AGENTS.md", "outside");
		await put("tree/AGENTS.md", "top");
		await put("tree/a/AGENTS.md", "inner");
		expect(await load("tree/a")).toBe(from("tree/a/AGENTS.md", "inner"));
		await put("tree/.git", "gitdir: elsewhere");
		expect(await load("tree/a")).toBe(`${from("tree/AGENTS.md", "top")}\n\n${from("tree/a/AGENTS.md", "inner")}`);
	});

	it("gives the budget to the deepest file and truncates the shallower one, annotations counted", async () => {
		await put(".git/HEAD", "");
		await put("AGENTS.md", "t".repeat(agentsMdBudget));
		await put("a/AGENTS.md", "i".repeat(30_000));
		const text = await load("a");
		expect(Buffer.byteLength(text)).toBe(agentsMdBudget);
		expect(text.endsWith(from("a/AGENTS.md", "i".repeat(30_000)))).toBe(true);
		expect(text.startsWith(from("AGENTS.md", "ttt"))).toBe(true);
	});

	it("omits a shallower file when the budget is exhausted", async () => {
		await put(".git/HEAD", "");
		await put("AGENTS.md", "top");
		await put("a/AGENTS.md", "i".repeat(2 * agentsMdBudget));
		const text = await load("a");
		expect(Buffer.byteLength(text)).toBe(agentsMdBudget);
		expect(text.startsWith(from("a/AGENTS.md", "iii"))).toBe(true);
	});

	it("does not split a character", async () => {
		await put("AGENTS.md", `x${"€".repeat(agentsMdBudget / 3 + 100)}`);
		const text = await load("");
		expect(text).not.toContain("\ufffd");
		expect(Buffer.byteLength(text)).toBeGreaterThan(agentsMdBudget - 3);
		expect(Buffer.byteLength(text)).toBeLessThanOrEqual(agentsMdBudget);
	});

	it("omits what is no file or unreadable, and logs it", async () => {
		await mkdir(path.join(root, "AGENTS.md"));
		await put("agents.md", "lower");
		await put(".kimi/AGENTS.md", "hidden");
		const warnings: unknown[] = [];
		const log: Log = { ...silentLog, warn: (_, fields) => warnings.push(fields) };
		const failing: Files = {
			...files,
			readRange: async (file, offset, length) => {
				if (file.includes(".kimi")) throw new Error("EACCES");
				return files.readRange(file, offset, length);
			},
		};
		expect(await loadAgentsMd(failing, root, log)).toBe(from("agents.md", "lower"));
		expect(warnings).toEqual([{ path: path.join(root, ".kimi/AGENTS.md"), reason: "EACCES" }]);
	});
});
