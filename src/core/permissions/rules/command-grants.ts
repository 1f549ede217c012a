// What an approval of a command line for the session covers: of each simple command the program with its subcommand
// where the program is known to have some, else exactly its words.
import { shellWord } from "../../../base/quoting.ts";
import type { Proposal } from "../judge.ts";
import { type GrantPrefix, grantPrefix } from "../shell/grant-prefix.ts";
import { filesOf } from "../shell/judge-script.ts";
import { readScript } from "../shell/read-script.ts";
import type { CommandReading, SimpleCommand } from "../shell/script.ts";
import { isShellOnly } from "../shell/shell-only.ts";
import { type CommandSubject, judgeCommand } from "./command-judge.ts";
import { readGrant } from "./grant-rule.ts";
import { literalPath } from "./path-pattern.ts";
import type { JudgePlace } from "./ruling.ts";

export async function proposeCommand(subject: CommandSubject, place: JudgePlace): Promise<Proposal> {
	const { text, cwd } = subject;
	if (subject.outsideSandbox === true) return once("it would run outside of the sandbox");
	const reading = await readScript(text, { cwd, home: place.home });
	const [doubt] = reading.doubts;
	if (doubt !== undefined) return once(doubt.why);
	const patterns = new Set<string>();
	for (const command of grantedCommands(reading.commands, cwd, place)) {
		const prefix = grantPrefix(command);
		if (prefix === null) return once("what it runs is known only when it runs");
		patterns.add(toPattern(prefix));
	}
	for (const { operation, path, by } of filesOf(reading.commands)) {
		if (operation === "read" || by === "operand") continue;
		if (path === null) return once("what it writes is known only when it runs");
		patterns.add(`Write(${literalPath(await place.resolve(path).catch(() => path))})`);
	}
	return await checked([...patterns], subject, place);
}

function once(why: string): Proposal {
	return { kind: "once", why };
}

/** The commands that need a grant: those that a transparent wrapper runs in place of the wrapper. */
function* grantedCommands(
	commands: readonly CommandReading[],
	cwd: string,
	place: JudgePlace,
): Generator<SimpleCommand> {
	for (const { command, inner } of commands) {
		if (inner?.isTransparent === true) yield* grantedCommands(inner.commands, cwd, place);
		else if (inner !== null || !isShellOnly(command, { cwd, home: place.home })) yield command;
	}
}

function toPattern({ tokens, isExact }: GrantPrefix): string {
	return `Shell(${tokens.map(shellWord).join(" ")}${isExact ? "" : ":*"})`;
}

/** What is shown must cover the call: otherwise it would be asked about again. */
async function checked(patterns: readonly string[], subject: CommandSubject, place: JudgePlace): Promise<Proposal> {
	const rules = patterns.flatMap((text) => readGrant(text, place.home) ?? []);
	const ruling = await judgeCommand(subject, { rules, allowsReadOnly: false, place });
	if (rules.length === patterns.length && ruling?.decision === "allow") return { kind: "grants", patterns };
	return once(ruling?.decision === "ask" ? withoutEnd(ruling.reason) : "it has nothing that a rule could name");
}

function withoutEnd(sentence: string): string {
	return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, "");
}
