// Holds what a script ran against what the product said that it would run.
import path from "node:path";
import { parseCommandPattern } from "../../../src/core/permissions/shell/command-pattern.ts";
import { judgeScript } from "../../../src/core/permissions/shell/judge-script.ts";
import { readScript } from "../../../src/core/permissions/shell/read-script.ts";
import type { CommandReading, ScriptReading, SimpleCommand, Word } from "../../../src/core/permissions/shell/script.ts";
import type { Execution, Run } from "./runner.ts";

/** "asked": more was run than predicted, but no rule for its programs would have allowed the script. */
export type Outcome = "doubt" | "asked" | "predicted" | "ran nothing" | "finding";

export interface Judgement {
	readonly outcome: Outcome;
	/** What was done and not predicted, for findings. */
	readonly words: string;
}

export function readForRun(script: string): Promise<ScriptReading> {
	return readScript(script, place);
}

/** Every command that is predicted, those that wrappers run included. */
function allCommands(commands: readonly CommandReading[]): SimpleCommand[] {
	return commands.flatMap(({ command, inner }) => [command, ...allCommands(inner?.commands ?? [])]);
}

/** The commands that run no other: a rule for a wrapper would allow whatever that runs. */
function leaves(commands: readonly CommandReading[]): SimpleCommand[] {
	return commands.flatMap(({ command, inner }) => (inner === null ? [command] : leaves(inner.commands)));
}

const place = { cwd: "/work", home: "/work" } as const;

/**
 * Whether rules that allow every program by its name would allow the script: they do not where an option or a variable
 * makes a program run another one.
 */
async function isAllowed(reading: ScriptReading): Promise<boolean> {
	const names = leaves(reading.commands).flatMap(({ words: [program] }) =>
		program?.kind === "literal" ? [program.text] : [],
	);
	const allow = [...new Set(names)].flatMap((name) => {
		const parsed = parseCommandPattern(`${name} *`);
		return parsed.ok ? [{ pattern: parsed.pattern }] : [];
	});
	const rules = { deny: [], ask: [], allow, allowsReadOnly: false };
	return (await judgeScript(rules, place, reading, () => "allow")).decision === "allow";
}

export async function judge(reading: ScriptReading, { executions, files }: Run): Promise<Judgement> {
	const { commands, doubts } = reading;
	if (doubts.length > 0) return { outcome: "doubt", words: "" };
	const predicted = allCommands(commands);
	const used = new Set(executions.map(({ words: [program = ""] }) => program));
	const isOwnShell = ({ words }: Execution): boolean =>
		words.length === 3 &&
		words[0] === "sh" &&
		words[1] === "-c" &&
		[...used].some((program) => shellUsers.has(program));
	const made = [...used].some((program) => writers.has(program)) ? [] : files;
	const surprise =
		executions.find((one) => !isOwnShell(one) && !predicted.some((command) => isExecution(command, one))) ??
		made.find((file) => !file.endsWith("/.bash_history") && !predicted.some((command) => writes(command, file)));
	if (surprise !== undefined && !(await isAllowed(reading))) return { outcome: "asked", words: "" };
	if (surprise !== undefined) {
		const did = typeof surprise === "string" ? `wrote ${surprise}` : `ran ${JSON.stringify(surprise)}`;
		const said = predicted.map(({ cwd, words, redirects }) => ({
			words: words.map(showWord),
			cwd,
			writes: redirects.flatMap(({ operation, target }) => (operation === "write" ? [showWord(target)] : [])),
		}));
		return { outcome: "finding", words: `${did}, predicted were ${JSON.stringify(said)}` };
	}
	return { outcome: executions.length === 0 ? "ran nothing" : "predicted", words: "" };
}

/** Programs that write files of their own: only without them is every file written by a redirection. */
const writers: ReadonlySet<string> = new Set(["flock", "nohup", "sed", "sort", "split", "tar", "tee"]);

/** Programs that give their words to a shell by themselves. What it runs in turn is what must be predicted. */
const shellUsers: ReadonlySet<string> = new Set(["awk", "flock", "sed", "split", "tar"]);

const showWord = ({ kind, text }: Word): string => (kind === "literal" ? text : `<${text}>`);

function isExecution({ words: [program, ...words], cwd }: SimpleCommand, execution: Execution): boolean {
	const [name, ...executed] = execution.words;
	if (program === undefined || (cwd !== null && cwd !== execution.cwd)) return false;
	// The stub knows itself by the last part of its path.
	if (program.kind === "literal" && program.text.split("/").at(-1) !== name) return false;
	return areWords(words, executed);
}

/** A dynamic word can become any number of words. */
function areWords([first, ...rest]: readonly Word[], executed: readonly string[]): boolean {
	if (first === undefined) return executed.length === 0;
	if (first.kind === "literal") {
		return first.text === executed[0] && executed.length > 0 && areWords(rest, executed.slice(1));
	}
	return executed.some((_, index) => areWords(rest, executed.slice(index))) || areWords(rest, []);
}

function writes({ redirects, cwd }: SimpleCommand, file: string): boolean {
	return redirects.some(
		({ operation, target }) =>
			operation === "write" && (target.kind === "dynamic" || cwd === null || path.resolve(cwd, target.text) === file),
	);
}
