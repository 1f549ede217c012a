import { posix } from "node:path";
import type { FileOperand } from "./programs/form.ts";
import { nameOf } from "./programs/program-name.ts";
import { filesOfForm, readForm } from "./programs/read-form.ts";
import type { CommandReading, FoundFiles, ScriptReading, SimpleCommand, Word } from "./script.ts";

export interface FileUse {
	readonly operation: "read" | "write";
	/** Absolute, not normalized: `..` after a symbolic link leads elsewhere. Null if only the shell knows it. */
	readonly path: string | null;
	/** An absolute glob pattern that covers the path; its first segment is literal. */
	readonly glob?: string;
	readonly found?: FoundFiles;
	readonly isListed?: true;
	readonly isRun?: true;
	readonly text: string;
	readonly by: "redirect" | "operand";
}

/** All files of a script. Paths below anything that the script moves, unpacks or links are uncertain. */
export function* filesOf({ commands, values }: ScriptReading): Generator<FileUse> {
	const made = madeBy(commands);
	for (const command of flatten(commands)) yield* usesOf(command, values, made);
}

export function* flatten(commands: readonly CommandReading[]): Generator<SimpleCommand> {
	for (const { command, inner } of commands) {
		yield command;
		if (inner !== null) yield* flatten(inner.commands);
	}
}

/** The files of one command; `own` is the command as the script has it. */
export function* usesOf(
	command: SimpleCommand,
	values: ScriptReading["values"],
	made: Made,
	own: SimpleCommand = command,
): Generator<FileUse> {
	for (const { operation, target } of command.redirects) yield* uses(operation, target, "redirect");
	for (const { operation, word, ...how } of operandsOf(command)) yield* uses(operation, word, "operand", how);

	function* uses(
		operation: FileUse["operation"],
		given: Word,
		by: FileUse["by"],
		how: Pick<FileUse, "isListed" | "isRun"> = {},
	): Generator<FileUse> {
		for (const word of valuesOf(given, values)) {
			const path = pathOf(word, command);
			if (isPipe(word)) continue;
			if (path !== null && isFreeDevice(path)) continue;
			const isCertain = path !== null && !made.covers(path, own);
			const glob = path === null && !made.isAny(own) ? globOf(word, command) : undefined;
			const found = word.kind === "dynamic" && !made.isAny(own) ? word.found : undefined;
			const more = {
				...(glob === undefined ? {} : { glob }),
				...(found === undefined ? {} : { found }),
				...how,
			};
			yield { operation, path: isCertain ? path : null, text: given.text, by, ...more };
		}
	}
}

function operandsOf(command: SimpleCommand): readonly FileOperand[] {
	return filesOfForm(readForm(command));
}

/** A process substitution is not a file. */
function isPipe(word: Word): boolean {
	return word.kind === "dynamic" && word.isOne === true && /^[<>]\(/.test(word.text);
}

function valuesOf(word: Word, values: ScriptReading["values"]): readonly Word[] {
	if (word.kind === "literal") return [word];
	const [, quote, name = ""] = /^("?)\$\{?([A-Za-z_]\w*)\}?\1$/.exec(word.text) ?? [];
	const known = values.get(name);
	if (known === undefined) return [word];
	const isSafe = quote === '"' || known.every(({ kind, text }) => kind === "literal" && !/[\s*?[]/.test(text));
	return isSafe ? known : [word];
}

function pathOf(word: Word, { cwd }: SimpleCommand): string | null {
	if (word.kind === "dynamic" || word.text === "") return null;
	return absolute(word.text, cwd);
}

function absolute(text: string, cwd: string | null): string | null {
	if (posix.isAbsolute(text)) return text;
	return cwd === null ? null : `${cwd === "/" ? "" : cwd}/${text}`;
}

/** Only stars, question marks and sets; null with other expansions. */
function globOf(word: Word, { cwd }: SimpleCommand): string | undefined {
	const isGlob = word.kind === "dynamic" && /^[\w./*?+@%,:[\]!^-]+$/.test(word.text) && /[*?[]/.test(word.text);
	return isGlob ? (absolute(word.text, cwd) ?? undefined) : undefined;
}

function isFreeDevice(path: string): boolean {
	return /^\/dev\/(?:null|stdin|stdout|stderr|tty|zero|full|fd\/\d+)$/.test(path);
}

export interface Made {
	/** Whether another command creates something at this path or above it. */
	covers(path: string, by: SimpleCommand): boolean;
	/** Whether another command, which runs elsewhere, creates the directory or fills it. */
	holds(directory: string, by: SimpleCommand): boolean;
	/** Whether another command creates something anywhere below a directory. */
	isAny(by: SimpleCommand): boolean;
	isWritten(path: string): boolean;
}

/** Programs that unpack into a directory or create links. */
const unpackers = new Set("unzip patch cpio 7z ar rsync".split(" "));
const gitWriters = new Set(
	"checkout switch pull merge stash reset restore apply am rebase cherry-pick revert worktree submodule".split(" "),
);

export function madeBy(commands: readonly CommandReading[]): Made {
	const places: { readonly path: string | null; readonly by: SimpleCommand }[] = [];
	const written = new Set<string>();
	for (const command of flatten(commands)) {
		for (const { operation, target } of command.redirects) {
			const path = pathOf(target, command);
			if (operation === "write" && path !== null) written.add(posix.normalize(path));
		}
		const files = operandsOf(command).filter(({ operation }) => operation === "write");
		for (const { word } of files) {
			const path = pathOf(word, command);
			if (path !== null) written.add(posix.normalize(path));
		}
		const scope = scopeOf(command);
		if (scope === "operands") {
			places.push(...files.map(({ word }) => ({ path: pathOf(word, command), by: command })));
		} else if (scope === "directory") {
			places.push({ path: command.cwd, by: command });
			places.push(...files.map(({ word }) => ({ path: pathOf(word, command), by: command })));
		}
	}
	const known = places.map(({ path, by }) => ({
		path: path === null ? null : posix.normalize(path).replace(/\/$/, ""),
		by,
	}));
	const find = (path: string, by: SimpleCommand) => {
		const normal = posix.normalize(path);
		return known.filter(
			(place) =>
				place.by !== by && (place.path === null || normal === place.path || normal.startsWith(`${place.path}/`)),
		);
	};
	return {
		covers: (path, by) => find(path, by).length > 0,
		holds: (path, by) => find(path, by).some((place) => place.path !== place.by.cwd),
		isAny: (by) => known.some((place) => place.by !== by),
		isWritten: (path) =>
			written.has(posix.normalize(path)) ||
			known.some((place) => place.path === null || posix.normalize(path).startsWith(`${place.path}/`)),
	};
}

/** Where a command may create links: at its operands, or anywhere in its directory. */
function scopeOf({ words: [program, ...words] }: SimpleCommand): "operands" | "directory" | null {
	if (program?.kind !== "literal") return null;
	const name = nameOf(program.text);
	const letters = words.flatMap(({ text }) => /^-?([A-Za-z]+)$/.exec(text)?.[1] ?? []);
	if (name === "ln" || name === "mv") return "operands";
	if (name === "cp")
		return words.some(({ text }) => /^-\w*[rRadPs]|^--(?:rec|arc|no-d|sym)/.test(text)) ? "operands" : null;
	if (/^(?:bsd|g)?tar$/.test(name))
		return letters[0]?.includes("x") || words.some(({ text }) => /^--(?:ex|ge)|^-\w*x/.test(text)) ? "directory" : null;
	if (unpackers.has(name)) return "directory";
	if (name !== "git") return null;
	if (words.some(({ text }) => text === "clone")) return "operands";
	return words.some(({ text }) => gitWriters.has(text)) ? "directory" : null;
}
