import { posix } from "node:path";
import { isHarmlessVariable } from "./command-pattern.ts";
import type { ScriptPlace, SimpleCommand } from "./script.ts";
import { riskyVariable } from "./word-doubts.ts";

const always = new Set(
	": true false exit return break continue shift wait unset local getopts set shopt umask times test [ read".split(" "),
);

/** Whether a command needs no rule. Redirections and doubts are judged separately. */
export function isShellOnly(command: SimpleCommand, place: ScriptPlace): boolean {
	const { words, assignments, isDeclaredHere, cwd } = command;
	const [program, ...others] = words;
	if (program === undefined) return assignments.every(isOwnAssignment);
	if (program.kind === "dynamic" || isDeclaredHere) return false;
	// A variable before a command changes how it works; `IFS` for `read` is common and harmless.
	if (!assignments.every((assignment) => assignment.name === "IFS" || isOwnAssignment(assignment))) return false;
	switch (program.text) {
		case "cd":
		case "pushd":
			return isBelow(others.at(-1), cwd, place.cwd) && others.length === 1;
		case "popd":
			return others.length === 0;
		case "export":
		case "declare":
		case "typeset":
		case "readonly":
			return others.every(({ kind, text }) => {
				const [, name = "", value = null] = /^([^=+]*)(?:\+?=(.*))?$/s.exec(text) ?? [];
				if (/^-/.test(text) || isOwnVariable(name)) return true;
				return isHarmlessVariable(name, kind === "literal" || value === null ? value : "$");
			});
		default:
			return always.has(program.text);
	}
}

/** Programs read uppercase, `npm_config_…` and `yarn_…` variables; others belong to the script. */
function isOwnVariable(name: string): boolean {
	return /^[a-z_][a-z0-9_]*$/.test(name) && !/_proxy$|^(?:[a-z]+_config|yarn)_/.test(name) && !riskyVariable(name);
}

function isOwnAssignment({ name, value }: SimpleCommand["assignments"][number]): boolean {
	return isOwnVariable(name) || (value.kind === "literal" && isHarmlessVariable(name, value.text));
}

function isBelow(target: SimpleCommand["words"][number] | undefined, cwd: string | null, root: string): boolean {
	if (target?.kind !== "literal" || target.text === "" || target.text.startsWith("-")) return false;
	if (cwd === null && !posix.isAbsolute(target.text)) return false;
	const path = posix.resolve(cwd ?? "/", target.text);
	const top = posix.resolve(root);
	return path === top || path.startsWith(top === "/" ? "/" : `${top}/`);
}
