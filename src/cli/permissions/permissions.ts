// The exit code of `check` and `explain` is the decision; a failure exits with 3.
import { systemClock } from "../../base/clock.ts";
import { isSystemError, KernelError } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import type { Decision, Verdict } from "../../core/permissions/policy.ts";
import { describePlace, type Rule } from "../../core/permissions/rules/rule.ts";
import { createRuleJudge } from "../../core/permissions/rules/rule-judge.ts";
import { readScript } from "../../core/permissions/shell/read-script.ts";
import type { CommandReading, Word } from "../../core/permissions/shell/script.ts";
import { managedPermissionsFile, type Place } from "../../host/place.ts";
import {
	createRepositoryCheck,
	findRuleFiles,
	projectOf,
	projectPermissionsFile,
	type RuleFile,
	readOnlyMode,
	readRuleFiles,
} from "../../kernel/compose/permissions.ts";
import { trustFile } from "../../kernel/compose/trusted-files.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { fileFailureText } from "../../ports/files/file-failure.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import { createProcesses } from "../../ports/processes/children.ts";
import { ConfigurationError } from "../../settings/config/configuration-error.ts";
import { readConfiguration } from "../../settings/config/configuration-reader.ts";
import { readPermissionFile } from "../../settings/config/permission-file.ts";
import type { PermissionsAction } from "../arguments/options/permissions-options.ts";
import { permissionsFailureCode } from "../arguments/usage-error.ts";
import { currentDirectory, homeDirectory, shareDirectory } from "../paths.ts";
import { withEscapes } from "../printable-text.ts";
import { environmentVariables } from "../process/environment.ts";
import { type PermissionsAnswer, PermissionsError, type PermissionsPlace } from "./permissions-answer.ts";
import { importRules } from "./rule-import.ts";

const codes: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

export async function runPermissions(action: PermissionsAction): Promise<number> {
	const place: Place = { currentDir: currentDirectory(), home: homeDirectory() };
	const environment = environmentVariables();
	const shareDir = shareDirectory(environment, place);
	const files = createDiskFiles(privateBelow(shareDir));
	try {
		const given = {
			files,
			shareDir,
			place,
			git: { environment, processes: createProcesses() },
			managedFile: managedPermissionsFile,
		};
		const { results, faults, code } = await answerPermissions(action, given);
		process.stdout.write(toText(results));
		process.stderr.write(toText(faults));
		return code;
	} catch (thrown) {
		if (!isExpected(thrown)) throw thrown;
		process.stderr.write(toText(`Error: ${fileFailureText(thrown)}`.split("\n")));
		return permissionsFailureCode;
	}
}

/** Rules and commands come from outside: they must not forge or hide output lines. */
const toText = (lines: readonly string[]) => lines.map((line) => `${withEscapes(line)}\n`).join("");

function isExpected(thrown: unknown): boolean {
	return (
		thrown instanceof PermissionsError ||
		thrown instanceof ConfigurationError ||
		thrown instanceof KernelError ||
		isSystemError(thrown)
	);
}

export async function answerPermissions(
	action: PermissionsAction,
	given: PermissionsPlace,
): Promise<PermissionsAnswer> {
	switch (action.name) {
		case "check":
			return await check(action.command, given, false);
		case "explain":
			return await check(action.command, given, true);
		case "list":
			return list(await readAll(given));
		case "trust":
			return await trust(given);
		case "import":
			return await importRules(action.file, given);
	}
}

interface Rules {
	readonly ruleFiles: readonly RuleFile[];
	readonly rules: readonly Rule[];
}

async function readAll({ files, shareDir, place, managedFile }: PermissionsPlace): Promise<Rules> {
	const settingsFile = `${shareDir}/config.toml`;
	const exists = (await files.status(settingsFile)) !== null;
	const source = exists ? ({ kind: "file", path: settingsFile } as const) : ({ kind: "text", text: "{}" } as const);
	const { configuration } = await readConfiguration(source, files, silentLog);
	const { home, currentDir } = place;
	const found = { ownFiles: files, shareDir, home, settingsFile, managedPermissionsFile: managedFile };
	const ruleFiles = await findRuleFiles(configuration.permission, currentDir, found);
	return { ruleFiles, rules: await readRuleFiles(ruleFiles, home) };
}

async function check(text: string, given: PermissionsPlace, isExplained: boolean): Promise<PermissionsAnswer> {
	const { ruleFiles, rules } = await readAll(given);
	const { files, place, git } = given;
	const { home, currentDir: cwd } = place;
	const judge = createRuleJudge({
		rules,
		grants: () => [],
		allowsReadOnly: readOnlyMode(ruleFiles),
		place: {
			home,
			roots: async () => [await files.resolve(cwd)],
			resolve: (name) => files.resolve(name),
			repositoryProgram: createRepositoryCheck(git),
			list: async (directory) => (await files.list(directory)).map(({ name }) => name),
		},
	});
	const subjects = [{ kind: "command", text, cwd }] as const;
	const request = { action: "run command", subjects, byDefault: "ask" } as const;
	const verdict: Pick<Verdict, "decision" | "reason"> = (await judge.decide(request)) ?? {
		decision: "ask",
		reason: "no matching rule",
	};
	const results = [`${verdict.decision}: ${verdict.reason}`];
	if (isExplained) {
		const { commands, doubts } = await readScript(text, { cwd, home });
		results.push(...commands.flatMap((reading) => describeReading(reading, 0)));
		results.push(...doubts.map(({ why, text: piece }) => `in doubt: ${why}: ${JSON.stringify(piece)}`));
		const proposal = await judge.propose(request);
		results.push(
			proposal.kind === "grants"
				? `approving it for the session covers: ${proposal.patterns.join(", ")}`
				: `it can only be approved once: ${proposal.why}`,
		);
	}
	return { results, faults: [], code: codes[verdict.decision] };
}

function describeReading({ command, inner }: CommandReading, depth: number): readonly string[] {
	const { words, assignments, redirects, cwd } = command;
	const indent = "  ".repeat(depth);
	const argv = words.map(describeWord).join(" ");
	return [
		`${indent}runs: ${argv === "" ? "no program" : argv}${cwd === null ? " (in an unknown directory)" : ""}`,
		...assignments.map(({ name, value }) => `${indent}  sets ${name} to ${describeWord(value)}`),
		...redirects.map(({ operation, target }) => `${indent}  ${operation}s ${describeWord(target)}`),
		...(inner?.commands ?? []).flatMap((reading) => describeReading(reading, depth + 1)),
	];
}

function describeWord(word: Word): string {
	return word.kind === "literal" ? JSON.stringify(word.text) : `<${word.why}: ${word.text}>`;
}

function list({ ruleFiles, rules }: Rules): PermissionsAnswer {
	const faults = ruleFiles
		.filter(({ isTrusted, settings }) => !isTrusted && settings.rules.some(({ decision }) => decision === "allow"))
		.map(({ file }) => `${file}: its allow rules are ignored until you run 'permissions trust'.`);
	const lines = rules.map(({ decision, text, origin, reason }) => {
		const place = describePlace(origin);
		const why = reason === "" ? "" : `  # ${reason}`;
		return `${decision.padEnd(5)}  ${text}  (${origin.scope}${place === "" ? "" : `, ${place}`})${why}`;
	});
	const modes = ruleFiles.flatMap(({ file, settings }) =>
		settings.forbidModes.map((mode) => `forbid  the mode ${mode}  (${file ?? "settings"})`),
	);
	const readOnly = ruleFiles
		.filter(({ isTrusted, settings }) => isTrusted && settings.allowReadOnly === true)
		.map(({ file }) => `allow  commands that only read  (${file ?? "settings"})`);
	const results = [...lines, ...readOnly, ...modes];
	return { results: results.length === 0 ? ["There are no permission rules."] : results, faults, code: 0 };
}

async function trust({ files, shareDir, place }: PermissionsPlace): Promise<PermissionsAnswer> {
	const file = await projectPermissionsFile(files, place.currentDir);
	const found = await readPermissionFile(files, file);
	if (found === null) throw new PermissionsError(`There is no ${file}.`);
	// An invalid file is not trusted.
	const { base, key } = await projectOf(file, files);
	await readRuleFiles([{ scope: "project", file, settings: found.settings, isTrusted: true, base }], place.home);
	await trustFile(key, found.hash, { files, shareDir, clock: systemClock });
	const allowed = found.settings.rules.filter(({ decision }) => decision === "allow");
	return {
		results: [
			`${file} is trusted as it is now. It allows:`,
			...(allowed.length === 0 ? ["  nothing"] : allowed.map(({ pattern }) => `  ${pattern}`)),
		],
		faults: [],
		code: 0,
	};
}
