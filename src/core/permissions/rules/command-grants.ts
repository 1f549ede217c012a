// A session approval covers program and subcommand where known, else the exact words.
import { shellWord } from "../../../base/text/quoting.ts";
import type { Proposal } from "../judge.ts";
import { filesOf } from "../shell/files-used.ts";
import { grantPrefix } from "../shell/grant-prefix.ts";
import { readScript } from "../shell/read-script.ts";
import type { CommandReading } from "../shell/script.ts";
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
		const prefix = grantPrefix(command, cwd);
		if (prefix === null) return once("what it runs is known only when it runs");
		patterns.add(`Shell(${prefix.tokens.map(shellWord).join(" ")}${prefix.isExact ? "" : ":*"})`);
	}
	for (const { operation, path: written, by } of filesOf(reading)) {
		if (operation === "read" || by === "operand") continue;
		if (written === null) return once("what it writes is known only when it runs");
		patterns.add(`Write(${literalPath(await place.resolve(written).catch(() => written))})`);
	}
	return await checked([...patterns], subject, place);
}

function once(why: string): Proposal {
	return { kind: "once", why };
}

/** The commands that need a grant. A transparent wrapper is replaced by the commands it runs. */
function* grantedCommands(
	commands: readonly CommandReading[],
	cwd: string,
	place: JudgePlace,
): Generator<CommandReading> {
	for (const reading of commands) {
		const { command, inner } = reading;
		if (inner?.isTransparent === true) yield* grantedCommands(inner.commands, cwd, place);
		else if (inner !== null || !isShellOnly(command, { cwd, home: place.home })) yield reading;
	}
}

async function checked(patterns: readonly string[], subject: CommandSubject, place: JudgePlace): Promise<Proposal> {
	const rules = patterns.flatMap((text) => readGrant(text, place.home) ?? []);
	const ruling = await judgeCommand(subject, { rules, allowsReadOnly: true, place });
	if (rules.length === patterns.length && ruling?.decision === "allow") return { kind: "grants", patterns };
	return once(
		ruling?.decision === "ask"
			? withoutEnd(ruling.reason)
			: "it uses files outside of the workspace, or has nothing that a rule could name",
	);
}

function withoutEnd(sentence: string): string {
	return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, "");
}
