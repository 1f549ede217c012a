import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { loadPromptVariables, type PromptVariables } from "./prompt-variables.ts";
import { describeSkills } from "./skill.ts";
import { renderSystemPrompt } from "./system-prompt.ts";

let root: string;

beforeEach(async () => {
	root = await mkdtemp(path.join(tmpdir(), "agentwire-prompt-"));
});
afterEach(async () => {
	await rm(root, { recursive: true, force: true });
});

const variables: PromptVariables = {
	now: "2026-01-02T03:04:05+01:00",
	workDir: "/work",
	workDirListing: "└── $& {{now}}",
	agentsMd: "<!-- From: /work/AGENTS.md -->\nUse tabs.",
	skills: "### Project\n\n- deploy",
	additionalDirsInfo: "/more\n\n└── b",
	os: "Linux",
	shell: "bash (/bin/bash)",
};

describe("renderSystemPrompt", () => {
	it("contains every value unchanged, the variable ones last", () => {
		const text = renderSystemPrompt(variables);
		const places = [
			"AGENTS.md -->\nUse tabs.",
			"# Skills",
			"### Project\n\n- deploy",
			"Linux",
			"bash (/bin/bash)",
			"2026-01-02T03:04:05+01:00",
			"/work. ",
		]
			.concat("└── $& {{now}}", "/more\n\n└── b")
			.map((value) => text.indexOf(value));
		expect(places.every((place) => place > 0)).toBe(true);
		expect(places).toEqual([...places].sort((a, b) => a - b));
		expect(text).toBe(text.trim());
		expect(text).not.toMatch(/undefined|\\/);
	});

	it("works without instructions, skills and additional directories", () => {
		const text = renderSystemPrompt({ ...variables, agentsMd: "", skills: describeSkills([]), additionalDirsInfo: "" });
		expect(text).not.toMatch(/skill/i);
		expect(text).not.toContain("Additional directories that");
		expect(text.endsWith("└── $& {{now}}")).toBe(true);
	});
});

describe("loadPromptVariables", () => {
	it("collects time, place, listing, instructions and skills", async () => {
		const more = path.join(root, "more");
		await createDiskFiles().makeDirectory(more);
		await writeFile(path.join(root, "AGENTS.md"), "Use tabs.");
		const skill = { name: "a", description: "Does it.", scope: "user", path: "/a.md", flow: null } as const;
		const now = Date.UTC(2026, 0, 2, 3, 4, 5);
		const loaded = await loadPromptVariables({
			files: createDiskFiles(),
			skills: [skill],
			workDir: root,
			additionalDirs: [more],
			now,
			os: "Linux",
			shell: { name: "bash", path: "/bin/bash" },
			log: silentLog,
		});
		expect(loaded).toEqual({
			now: expect.stringMatching(/^2026-01-0\dT\d\d:\d\d:05[+-]\d\d:\d\d$/),
			workDir: root,
			workDirListing: "├── more/\n└── AGENTS.md",
			agentsMd: `<!-- From: ${root}/AGENTS.md -->\nUse tabs.`,
			skills: describeSkills([skill]),
			additionalDirsInfo: `${more}\n\n(empty directory)`,
			os: "Linux",
			shell: "bash (/bin/bash)",
		});
		expect(Date.parse(loaded.now)).toBe(now);
	});
});
