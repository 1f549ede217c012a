import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import type { Subject } from "../../api/values/subject.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { createProcesses } from "../../ports/processes/children.ts";
import { toPermissionSettings } from "../../settings/config/configuration.ts";
import { readPermissionFile } from "../../settings/config/permission-file.ts";
import { composePermissions, findRuleFiles } from "./permissions.ts";
import { trustFile } from "./trusted-files.ts";

const none = toPermissionSettings({ rules: [], allow_read_only: false, forbid_modes: [] }, null);
const project = "/project/.agentwire/permissions.toml";
const managed = "/etc/agentwire/permissions.toml";

const rule = (decision: string, pattern: string) =>
	`[[permission.rules]]\ndecision = "${decision}"\npattern = "${pattern}"\n`;

async function createSubject(texts: Readonly<Record<string, string>>) {
	const files = createMemoryFiles();
	await files.makeDirectory("/project/.git");
	await files.makeDirectory("/project/inner");
	await files.makeDirectory("/share");
	for (const [path, text] of Object.entries(texts)) {
		await files.makeDirectory(path.slice(0, path.lastIndexOf("/")));
		await files.replace(path, text);
	}
	const place = {
		ownFiles: files,
		shareDir: "/share",
		home: "/home/me",
		settingsFile: "/share/config.toml",
		managedPermissionsFile: managed,
		log: silentLog,
		environment: {},
		processes: createProcesses(),
	};
	const workDir = "/project/inner";
	const compose = async () =>
		composePermissions(
			await findRuleFiles(none, workDir, place),
			{ workDir, additionalDirs: () => [], grants: () => [] },
			place,
		);
	const decide = async (subject: Subject) =>
		await (await compose()).judge.decide({ action: "act", subjects: [subject], byDefault: "ask" });
	return { files, compose, decide };
}

const write = (path: string): Subject => ({ kind: "file", operation: "write", path });

describe("the rules of a session", () => {
	it("are none without files, and then nothing is judged", async () => {
		const { decide } = await createSubject({});
		expect(await decide(write("/project/a"))).toBeNull();
	});

	it("of a project may deny at once, and allow only once its file is trusted as it is", async () => {
		const text = `${rule("allow", "Write(src/**)")}${rule("deny", "Write(*.pem)")}`;
		const { files, decide } = await createSubject({ [project]: text });
		expect(await decide(write("/project/src/a"))).toBeNull();
		expect(await decide(write("/project/src/a.pem"))).toMatchObject({
			decision: "deny",
			reason: `The project rule \`Write(*.pem)\` (${project}, line 4) denies it.`,
		});

		const found = await readPermissionFile(files, project);
		await trustFile(project, found?.hash ?? "", { files, shareDir: "/share", clock: systemClock });
		expect(await decide(write("/project/src/a"))).toMatchObject({ decision: "allow" });

		await files.replace(project, `${text}\n# one more byte\n`);
		expect(await decide(write("/project/src/a"))).toBeNull();
		expect(await decide(write("/project/src/a.pem"))).toMatchObject({ decision: "deny" });
	});

	it("of whoever manages the machine hold as well, and can forbid modes", async () => {
		const text = `[permission]\nforbid_modes = ["yolo"]\n${rule("deny", "Write(/etc/**)")}`;
		const { compose, decide } = await createSubject({ [managed]: text });
		expect(await decide(write("/etc/hosts"))).toMatchObject({ decision: "deny", by: "rule" });
		expect([...(await compose()).forbiddenModes]).toEqual([["yolo", managed]]);
	});

	it.each([
		[rule("allow", "Bash(rm*)"), 'permission.rules[0].pattern: line 1: "Bash(rm*)":'],
		[`\n\n${rule("allow", "Read")}${rule("permit", "Read")}`, 'permission.rules[1].decision: must be one of "allow"'],
		["= 1", "Invalid TOML"],
		["permission = 5", "permission: must be a table"],
		['[[permission.rules]]\ndecision = "deny"\n', "permission.rules[0].pattern: is required"],
		[
			`${rule("deny", "Read")}not_mach = ["x"]\n`,
			"permission.rules[0].not_mach: is not a key of this table, which has decision, pattern, reason, match, not_match",
		],
		[rule("deny", "Read").replace("rules", "rule"), "permission.rule: is not a key of this table"],
		[rule("deny", "Read").replace("permission", "permissions"), "permissions: is not a key of this table"],
		["[permission]\nforbid_mode = 'yolo'", "permission.forbid_mode: is not a key of this table"],
	])("that are unsound are an error with file and line: %j", async (text, message) => {
		for (const file of [project, managed]) {
			const { compose } = await createSubject({ [file]: text });
			await expect(compose()).rejects.toThrow(message);
			await expect(compose()).rejects.toThrow(file);
		}
	});

	it("that deny reading a file keep everything from reading it", async () => {
		const { files, compose } = await createSubject({
			[managed]: rule("deny", "Read(/secret/**)"),
			"/secret/key": "k",
		});
		const { withDeniedReads } = await compose();
		const secrets = withDeniedReads({
			kindOf: async () => null,
			admit: async () => {},
			forMany: () => ({ kindOf: async () => null, admit: async () => {} }),
		});
		await expect(files.admitting(secrets.admit).read("/secret/key")).rejects.toThrow(
			"/secret/key is denied by a permission rule and is not read",
		);
		expect(await secrets.forMany().kindOf("/secret/key")).toBe("rule");
		expect(await secrets.forMany().kindOf("/other")).toBeNull();
	});
});
