// Judges a command line by the rules: everything that it would run, and every file that it would redirect into.
import type { Subject } from "../../events/subject.ts";
import { readScript } from "../shell/read-script.ts";
import type { Law, Ruling } from "./ruling.ts";
import { judgeBy } from "./ruling.ts";
import { allows } from "../shell/command-pattern.ts";

type CommandSubject = Extract<Subject, { kind: "command" }>;

/** Null when no rule speaks of the whole of it. */
export async function judgeCommand({ text, cwd }: CommandSubject, law: Law): Promise<Ruling | null> {
	const { commands } = await readScript(text, { cwd, home: law.place.home });
	const [first] = commands;
	if (first === undefined || commands.length > 1) return null;
	return judgeBy(law.rules, ({ pattern }) => pattern.kind === "command" && allows(pattern.command, first.command));
}
