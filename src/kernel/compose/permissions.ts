// The permission rules of a session: from the machine administrator, the user and the project.
import path from "node:path";
import type { AddedRule } from "../../api/session-options.ts";
import type { WhenUnattended } from "../../api/values/session-mode.ts";
import { never } from "../../base/abort.ts";
import { projectDirectories } from "../../core/definitions/project-root.ts";
import { decidingFile } from "../../core/permissions/deciding-files.ts";
import { createLazyJudge, type Judge, type ReadOnlyMode } from "../../core/permissions/judge.ts";
import type { Rule, RuleScope } from "../../core/permissions/rules/rule.ts";
import type { Admit, Files } from "../../ports/files/port.ts";
import { SecretFileError, type SecretPaths } from "../../ports/files/secret-paths.ts";
import type { GitPlace } from "../../ports/processes/git/git.ts";
import type { Configuration, PermissionSettings } from "../../settings/config/configuration.ts";
import { ConfigurationError } from "../../settings/config/configuration-error.ts";
import { readPermissionFile } from "../../settings/config/permission-file.ts";
import type { HostServices } from "./host-services.ts";
import type { SessionOptions } from "./session-options.ts";
import { isTrusted } from "./trusted-files.ts";

export interface RuleFile {
	readonly scope: Exclude<RuleScope, "session">;
	/** Absolute path, or null for settings given as text. */
	readonly file: string | null;
	readonly settings: PermissionSettings;
	/** False for an untrusted project file: its allow rules are ignored. */
	readonly isTrusted: boolean;
	/** Base directory of relative paths, or null for the workspace roots. */
	readonly base: string | null;
}

type Place = Pick<HostServices, "ownFiles" | "shareDir" | "home" | "managedPermissionsFile" | "settingsFile">;

export async function projectPermissionsFile(files: Files, workDir: string): Promise<string> {
	const [root] = await projectDirectories(files, workDir);
	return path.join(root, ".agentwire", "permissions.toml");
}

/**
 * Returns the trust key and the base of relative paths for a project file: its location in the project, even if it is a link.
 * With the link target as key, a project could take over the allow rules of another.
 */
export async function projectOf(file: string, files: Files): Promise<{ readonly base: string; readonly key: string }> {
	const root = path.dirname(path.dirname(file));
	const base = await files.resolve(root);
	return { base, key: path.join(base, path.relative(root, file)) };
}

/** All rule files, strictest scope first. Throws ConfigurationError when one is invalid. */
export async function findRuleFiles(
	settings: PermissionSettings,
	workDir: string,
	place: Place,
): Promise<readonly RuleFile[]> {
	const { ownFiles: files, managedPermissionsFile: managed = null, settingsFile = null } = place;
	const project = await projectPermissionsFile(files, workDir);
	const [managedFile, projectFile] = await Promise.all([
		managed === null ? null : readPermissionFile(files, managed),
		readPermissionFile(files, project),
	]);
	// Most projects have no rule file.
	const { base, key } = projectFile === null ? { base: null, key: "" } : await projectOf(project, files);
	return [
		...(managedFile === null
			? []
			: [{ scope: "managed", file: managed, settings: managedFile.settings, isTrusted: true, base: null } as const]),
		{ scope: "user", file: settingsFile, settings, isTrusted: true, base: null },
		...(projectFile === null
			? []
			: [
					{
						scope: "project",
						file: project,
						settings: projectFile.settings,
						isTrusted: await isTrusted(key, projectFile.hash, { files, shareDir: place.shareDir }),
						base,
					} as const,
				]),
	];
}

export function withAddedRules(ruleFiles: readonly RuleFile[], added: readonly AddedRule[]): readonly RuleFile[] {
	if (added.length === 0) return ruleFiles;
	const rules = added.map((rule) => ({ reason: "", match: [], notMatch: [], ...rule, line: null }));
	return ruleFiles.map((file) => {
		if (file.scope !== "user") return file;
		return { ...file, settings: { ...file.settings, rules: [...file.settings.rules, ...rules] } };
	});
}

/** Reads the rules in force. Throws ConfigurationError with the line of an unsound pattern. */
export async function readRuleFiles(ruleFiles: readonly RuleFile[], home: string): Promise<readonly Rule[]> {
	if (ruleFiles.every(({ settings }) => settings.rules.length === 0)) return [];
	const { readRules } = await import("../../core/permissions/rules/rule-reader.ts");
	const all: Rule[] = [];
	for (const { scope, file, settings, isTrusted: trusted, base } of ruleFiles) {
		const { rules, problems } = await readRules(settings.rules, { scope, file, base, home });
		if (problems.length > 0) {
			throw new ConfigurationError(
				file === null ? "text" : "schema",
				file ?? "--config",
				problems.map(({ index, member, reason }) => {
					const line = settings.rules[index]?.line ?? null;
					return {
						key: `permission.rules[${index}].${member}`,
						reason: line === null ? reason : `line ${line}: ${reason}`,
					};
				}),
			);
		}
		all.push(...rules.filter(({ decision }) => trusted || decision !== "allow"));
	}
	return all;
}

/** Whether git would run a program from a repository. */
export function createRepositoryCheck(place: GitPlace): (directory: string) => Promise<string | null> {
	return async (directory) => {
		const { repositoryProgram } = await import("../../ports/processes/git/repository-programs.ts");
		return await repositoryProgram(directory, place, never);
	};
}

/** Whether read-only commands need no rule. Without a setting, it depends on the client. A refusal wins. */
export function readOnlyMode(ruleFiles: readonly RuleFile[]): ReadOnlyMode {
	if (ruleFiles.some(({ settings }) => settings.allowReadOnly === false)) return "never";
	return ruleFiles.some(({ settings, isTrusted: trusted }) => trusted && settings.allowReadOnly === true)
		? "always"
		: "by default";
}

export interface SessionPermissions {
	readonly judge: Judge;
	readonly forbiddenModes: ReadonlyMap<"auto" | "yolo", string>;
	/** Adds files that a rule denies to the unreadable files. */
	withDeniedReads(secrets: SecretPaths): SecretPaths;
}

export async function composePermissions(
	ruleFiles: readonly RuleFile[],
	session: {
		readonly workDir: string;
		readonly additionalDirs: () => readonly string[];
		readonly grants: () => readonly string[];
	},
	{
		ownFiles: files,
		home,
		log,
		...gitPlace
	}: Pick<HostServices, "ownFiles" | "home" | "log" | "environment" | "processes">,
): Promise<SessionPermissions> {
	for (const { file, isTrusted: trusted, settings: found } of ruleFiles) {
		if (trusted || found.rules.every(({ decision }) => decision !== "allow")) continue;
		log.warn(
			"The project's rules that allow something are left out until its file is trusted with `permissions trust`.",
			{ file },
		);
	}
	const rules = await readRuleFiles(ruleFiles, home);
	const allowsReadOnly = readOnlyMode(ruleFiles);
	const roots = () => Promise.all([session.workDir, ...session.additionalDirs()].map((root) => files.resolve(root)));
	const judge = createLazyJudge(
		async () => {
			const { createRuleJudge } = await import("../../core/permissions/rules/rule-judge.ts");
			const resolve = (name: string) => files.resolve(name);
			const list = async (directory: string) => (await files.list(directory)).map(({ name }) => name);
			const place = { roots, home, resolve, list, repositoryProgram: createRepositoryCheck(gitPlace) };
			return createRuleJudge({ rules, grants: session.grants, allowsReadOnly, place });
		},
		({ subjects }) =>
			rules.length > 0 ||
			allowsReadOnly !== "never" ||
			session.grants().length > 0 ||
			subjects.some((subject) => subject.kind === "file" && decidingFile(subject.path, []) !== null),
	);
	return {
		judge,
		forbiddenModes: new Map(
			ruleFiles.flatMap(({ file, settings: found }) =>
				found.forbidModes.map((mode) => [mode, file ?? "the settings"] as const),
			),
		),
		withDeniedReads: await createReadRule(rules, roots),
	};
}

/** Searches and reads omit files that a rule denies. Files named in a call are judged with the call instead. */
async function createReadRule(
	rules: readonly Rule[],
	roots: () => Promise<readonly string[]>,
): Promise<SessionPermissions["withDeniedReads"]> {
	const denied = rules.filter(
		({ decision, pattern }) => decision === "deny" && pattern.kind === "file" && pattern.access === "read",
	);
	if (denied.length === 0) return (secrets) => secrets;
	const { judgeFile } = await import("../../core/permissions/rules/file-judge.ts");
	const isDenied = async (resolved: string) => judgeFile("read", [resolved], await roots(), denied) !== null;
	const admitting =
		(admit: Admit): Admit =>
		async (resolved) => {
			await admit(resolved);
			if (await isDenied(resolved)) throw new SecretFileError(resolved, "rule");
		};
	return (secrets) => ({
		kindOf: secrets.kindOf,
		admit: admitting(secrets.admit),
		forMany() {
			const { kindOf, admit } = secrets.forMany();
			return {
				kindOf: async (resolved) => (await kindOf(resolved)) ?? ((await isDenied(resolved)) ? "rule" : null),
				admit: admitting(admit),
			};
		},
	});
}

/**
 * Settings that reject or delay unattended calls, or forbid an auto-approving mode, also bind session creators. Mode `auto` would
 * approve such calls; where it is forbidden, no setting approves them either.
 */
export function toUnattended(
	{ permissions, expectsClients = false }: Pick<SessionOptions, "permissions" | "expectsClients">,
	setting: Configuration["agentwire"]["unattended"],
	forbiddenModes: SessionPermissions["forbiddenModes"],
): WhenUnattended {
	const wish = permissions?.whenUnattended ?? setting ?? (expectsClients ? "wait" : "reject");
	const isRefused = {
		creator: setting === "reject" || setting === "wait" || forbiddenModes.size > 0,
		approve: forbiddenModes.has("auto"),
		reject: false,
		wait: setting === "reject",
	};
	if (!isRefused[wish]) return wish;
	return setting === "wait" ? "wait" : "reject";
}
