// What an approval of a command line for the session covers: of each simple command the program with its subcommand
// where the program is known to have some, else exactly its words.
import type { Proposal } from "../judge.ts";
import { filesOf } from "../shell/judge-script.ts";
import { readScript } from "../shell/read-script.ts";
import type { CommandReading, SimpleCommand } from "../shell/script.ts";
import { isShellOnly } from "../shell/shell-only.ts";
import { type CommandSubject, judgeCommand } from "./command-judge.ts";
import { parseRulePattern } from "./pattern.ts";
import type { Rule } from "./rule.ts";
import type { JudgePlace } from "./ruling.ts";

/** How many words of these programs, their own name included, say what they do; whatever follows does not change that. */
const significantWords: Readonly<Record<string, number>> = Object.fromEntries([
	...words("echo printf ls pwd cat head tail wc date which whoami uname stat file du df sleep true false").map(
		(name) => [name, 1],
	),
	...words(
		"git go cargo gh brew apt apt-get dnf systemctl kubectl helm terraform pip pip3 poetry uv rustup dotnet mvn gradle bundle make",
	).map((name) => [name, 2]),
	...words("npm pnpm yarn bun").map((name) => [name, 2]),
	...words("docker podman").map((name) => [name, 2]),
]);

/** Subcommands after which one more word says what is done. */
const deeper: ReadonlySet<string> = new Set(
	words(
		"npm:run npm:exec pnpm:run yarn:run bun:run docker:compose docker:container docker:image docker:network docker:volume podman:compose git:remote git:stash git:worktree gh:pr gh:issue gh:repo gh:run uv:pip",
	).map((pair) => pair.replace(":", " ")),
);

function words(text: string): readonly string[] {
	return text.split(" ");
}

export async function proposeCommand(subject: CommandSubject, place: JudgePlace): Promise<Proposal> {
	const { text, cwd } = subject;
	const reading = await readScript(text, { cwd, home: place.home });
	const [doubt] = reading.doubts;
	if (doubt !== undefined) return once(doubt.why);
	const patterns = new Set<string>();
	for (const command of grantedCommands(reading.commands, cwd, place)) {
		const pattern = toPattern(command);
		if (pattern === null) return once("what it runs is known only when it runs");
		patterns.add(pattern);
	}
	for (const { operation, path, by } of filesOf(reading.commands)) {
		if (operation === "read" || by === "operand") continue;
		if (path === null) return once("what it writes is known only when it runs");
		patterns.add(`Write(${(await place.resolve(path).catch(() => path)).replace(/[*?[]/g, "[$&]")})`);
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

/** Null when a word is known only when it runs. */
function toPattern({ words: all }: SimpleCommand): string | null {
	const texts = all.flatMap((word) => (word.kind === "literal" ? [word.text] : []));
	const [program = ""] = texts;
	const known = Object.hasOwn(significantWords, program) ? (significantWords[program] ?? 0) : 0;
	const count = deeper.has(`${program} ${texts[1] ?? ""}`) ? known + 1 : known;
	const significant = texts.slice(0, count);
	const isPrefix =
		known > 0 && significant.length === count && significant.slice(1).every((word) => /^[A-Za-z]/.test(word));
	if (!isPrefix && texts.length < all.length) return null;
	if (isPrefix && all.slice(0, count).some(({ kind }) => kind === "dynamic")) return null;
	return isPrefix ? `Shell(${significant.map(quoted).join(" ")}:*)` : `Shell(${texts.map(quoted).join(" ")})`;
}

function quoted(word: string): string {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** What is shown must cover the call: otherwise it would be asked about again. */
async function checked(patterns: readonly string[], subject: CommandSubject, place: JudgePlace): Promise<Proposal> {
	const rules = patterns.flatMap((text): readonly Rule[] => {
		const parsed = parseRulePattern(text, place.home);
		const origin = { scope: "session", file: null, line: null } as const;
		return parsed.ok ? [{ decision: "allow", text, pattern: parsed.pattern, reason: "", origin, base: null }] : [];
	});
	const ruling = await judgeCommand(subject, { rules, allowsReadOnly: false, place });
	if (rules.length === patterns.length && ruling?.decision === "allow") return { kind: "grants", patterns };
	return once(ruling?.decision === "ask" ? withoutEnd(ruling.reason) : "it has nothing that a rule could name");
}

function withoutEnd(sentence: string): string {
	return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, "");
}
