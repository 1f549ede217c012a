import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { createProcesses } from "../../ports/processes/children.ts";
import type { PermissionsAction } from "../arguments/options/permissions-options.ts";
import { answerPermissions } from "./permissions.ts";

const settings = "/share/config.toml";
const project = "/work/.agentwire/permissions.toml";

const rule = (decision: string, pattern: string, reason = "") =>
	`[[permission.rules]]\ndecision = "${decision}"\npattern = "${pattern}"\nreason = "${reason}"\n`;

async function createSubject(texts: Readonly<Record<string, string>> = {}) {
	const files = createMemoryFiles();
	await files.makeDirectory("/work/.git");
	await files.makeDirectory("/share");
	for (const [path, text] of Object.entries(texts)) {
		await files.makeDirectory(path.slice(0, path.lastIndexOf("/")));
		await files.replace(path, text);
	}
	const place = { currentDir: "/work", home: "/home/me" };
	const git = { environment: {}, processes: createProcesses() };
	const answer = (action: PermissionsAction) =>
		answerPermissions(action, { files, shareDir: "/share", place, git, managedFile: null });
	const check = async (command: string) => {
		const { results, code } = await answer({ name: "check", command });
		return [code, results.join("\n")] as const;
	};
	return { files, answer, check };
}

describe("permissions check", () => {
	it("has the decision as its exit code, and prints the rule with file and line", async () => {
		const text = `${rule("allow", "Bash(git diff:*)")}${rule("deny", "Bash(rm:*)", "Use the trash.")}`;
		const { check } = await createSubject({ [settings]: text });
		expect(await check("git diff --stat")).toEqual([0, expect.stringContaining(`${settings}, line 1`)]);
		expect(await check("sudo rm -rf x")).toEqual([2, expect.stringContaining("Use the trash")]);
		expect(await check("make all")).toEqual([1, "ask: no matching rule"]);
	});

	it("explains what a command line would run, and what approving it would cover", async () => {
		const { answer } = await createSubject();
		const { results, code } = await answer({ name: "explain", command: "cd src && git status; X=1 env ls > out" });
		expect(code).toBe(1);
		expect(results).toContain('runs: "git" "status"');
		expect(results).toContain('  writes "out"');
		expect(results.at(-1)).toMatch(/^(approving it for the session covers|it can only be approved once): /);
	});
});

describe("permissions list", () => {
	it("shows every rule with its place, and says that untrusted ones are left out", async () => {
		const { answer } = await createSubject({
			[settings]: `[permission]\nforbid_modes = ["yolo"]\nallow_read_only = true\n${rule("allow", "Read(src/**)", "why")}`,
			[project]: `${rule("allow", "Bash(make)")}${rule("deny", "Write(*.pem)")}`,
		});
		expect(await answer({ name: "list" })).toEqual({
			code: 0,
			results: [
				`allow  Read(src/**)  (user, ${settings}, line 4)  # why`,
				`deny   Write(*.pem)  (project, ${project}, line 5)`,
				`allow  commands that only read  (${settings})`,
				`forbid  the mode yolo  (${settings})`,
			],
			faults: [`${project}: its allow rules are ignored until you run 'permissions trust'.`],
		});
	});

	it("says that there are none", async () => {
		const { answer } = await createSubject();
		expect((await answer({ name: "list" })).results).toEqual(["There are no permission rules."]);
	});
});

describe("permissions trust", () => {
	it("shows what the project's file allows, which then holds until the file changes", async () => {
		const { files, answer, check } = await createSubject({ [project]: rule("allow", "Bash(make)") });
		expect((await check("make"))[0]).toBe(1);
		expect((await answer({ name: "trust" })).results).toEqual([
			`${project} is trusted as it is now. It allows:`,
			"  Bash(make)",
		]);
		expect((await check("make"))[0]).toBe(0);
		await files.replace(project, rule("allow", "Bash(make:*)"));
		expect((await check("make"))[0]).toBe(1);
	});

	it("does not trust a file that is unsound, or none", async () => {
		const { answer } = await createSubject();
		await expect(answer({ name: "trust" })).rejects.toThrow(`There is no ${project}.`);
		const unsound = await createSubject({ [project]: rule("allow", "Bash(m*)") });
		await expect(unsound.answer({ name: "trust" })).rejects.toThrow(
			`${project}:\n  permission.rules[0].pattern: line 1:`,
		);
	});
});

describe("permissions import", () => {
	const claude = JSON.stringify({
		permissions: { allow: ["Bash(npm test:*)", "Skill(x)"], deny: ["Read(//etc/**)"], defaultMode: "plan" },
	});

	it("adds what it can to config.toml once, and says what it left out", async () => {
		const { files, answer, check } = await createSubject({
			[settings]: "default_yolo = false",
			"/work/c.json": claude,
		});
		const first = await answer({ name: "import", file: "c.json" });
		expect(first.results).toEqual([`Added to ${settings}:`, "  deny   Read(/etc/**)", "  allow  Bash(npm test:*)"]);
		expect(first.faults).toEqual([
			expect.stringContaining('Left out: allow "Skill(x)": it must begin with one of'),
			expect.stringContaining("Left out: permissions.defaultMode: it is not a rule; use forbid_modes"),
		]);
		expect((await check("npm test"))[0]).toBe(0);
		const text = String(await files.read(settings));
		expect(text.startsWith("default_yolo = false\n\n[[permission.rules]]\n")).toBe(true);
		expect((await answer({ name: "import", file: "c.json" })).results).toEqual(["No rule was added."]);
		expect(String(await files.read(settings))).toBe(text);
	});

	it("leaves a file alone whose rules cannot be added to", async () => {
		const text = '[permission]\nrules = [{ decision = "allow", pattern = "Bash(ls)" }]\n';
		const { files, answer } = await createSubject({ [settings]: text, "/work/c.json": claude });
		await expect(answer({ name: "import", file: "c.json" })).rejects.toThrow("[[permission.rules]]");
		expect(String(await files.read(settings))).toBe(text);
	});

	it("leaves a file alone that is not UTF-8, which would come back as another one", async () => {
		const { files, answer } = await createSubject({ "/work/c.json": claude });
		const before = Buffer.from("# caf\xe9\n", "latin1");
		await files.replace(settings, before);
		await expect(answer({ name: "import", file: "c.json" })).rejects.toThrow(/config\.toml.*not UTF-8/s);
		expect(await files.read(settings)).toEqual(before);
	});

	it.each([
		["{", "is not JSON"],
		["[]", "has no permissions that can be imported"],
	])("refuses a file that has none: %s", async (text, message) => {
		const { answer } = await createSubject({ "/work/c.json": text });
		await expect(answer({ name: "import", file: "c.json" })).rejects.toThrow(message);
	});
});
