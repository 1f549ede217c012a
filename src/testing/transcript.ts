// A session as text that is the same in every run, and its comparison with a file.
import { AssertionError } from "node:assert";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { PublicEvent, Session } from "../index.ts";
import { temporaryPrefix } from "./temporary-place.ts";
import { createPrinter } from "./transcript-lines.ts";
import { createBindings } from "./transcripts/placeholders.ts";

export interface TranscriptOptions {
	readonly replace?: readonly (readonly [from: string | RegExp, to: string])[];
}

/** Set to 1 to write transcripts instead of comparing them. */
const updateVariable = "AGENTWIRE_UPDATE_TRANSCRIPTS";

/**
 * The stored conversation of a session: a line for each prompt, step, text, call, decision, result and end, indented for
 * subagents. Ids, times and temporary directories are replaced. Await the turns first: what comes later is missing.
 */
export async function transcriptOf(
	session: Pick<Session, "workDir" | "history">,
	{ replace = [] }: TranscriptOptions = {},
): Promise<string> {
	const print = createPrinter();
	const lines: string[] = [];
	for await (const event of session.history()) {
		const line = print(event);
		if (line !== null) lines.push(indentOf(event) + line);
	}
	const text = lines.map((line) => `${line}\n`).join("");
	const replaced = replace.reduce(
		(changed, [from, to]) => changed.replaceAll(typeof from === "string" ? from : toGlobal(from), () => to),
		text,
	);
	return normalize(replaced, session.workDir);
}

/**
 * Compares a session with its transcript in a file. Fails with an AssertionError that shows the first different line. Run the
 * tests with AGENTWIRE_UPDATE_TRANSCRIPTS=1 to write the file instead.
 */
export async function expectTranscript(
	session: Pick<Session, "workDir" | "history">,
	file: string | URL,
	options: TranscriptOptions = {},
): Promise<void> {
	const name = typeof file === "string" ? file : fileURLToPath(file);
	const actual = await transcriptOf(session, options);
	if (process.env[updateVariable] === "1") {
		await mkdir(path.dirname(name), { recursive: true });
		await writeFile(name, actual);
		return;
	}
	const expected = await readTranscript(name);
	const difference = expected === null ? "" : firstDifference(expected, actual);
	if (difference === null) return;
	const advice = `If this is intended, run the test again with ${updateVariable}=1.`;
	const message =
		expected === null
			? `There is no transcript ${name}. Run the test again with ${updateVariable}=1 to write it.`
			: `The session differs from ${name} ${difference}\n${advice}`;
	throw new AssertionError({ message, actual, expected: expected ?? "", operator: "expectTranscript" });
}

/** Null if missing. Git may have changed the line ends. */
async function readTranscript(file: string): Promise<string | null> {
	try {
		return (await readFile(file, "utf8")).replaceAll("\r\n", "\n");
	} catch (thrown) {
		if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return null;
		throw thrown;
	}
}

/** Null if all lines are equal, except for placeholders. */
function firstDifference(expected: string, actual: string): string | null {
	const [before, now] = [expected.split("\n"), actual.split("\n")];
	const { matches } = createBindings({});
	const isSame = (line: string, other: string | undefined) =>
		line === other || (other !== undefined && matches(line, other));
	const index = before.findIndex((line, at) => !isSame(line, now[at]));
	if (index === -1 && now.length === before.length) return null;
	const at = index === -1 ? before.length : index;
	const shown = (line: string | undefined) => (line === undefined || line === "" ? "(the end)" : line);
	return `in line ${at + 1}:\n- ${shown(before[at])}\n+ ${shown(now[at])}`;
}

function indentOf({ agentPath }: PublicEvent): string {
	return "  ".repeat(agentPath.length);
}

function toGlobal(pattern: RegExp): RegExp {
	return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`);
}

const ids = /\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})\b/g;
const times = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
const temporary = new RegExp(`/[^\\s"'\`]*?${temporaryPrefix}\\w{6}`, "g");

function normalize(text: string, workDir: string): string {
	const known = new Map<string, string>();
	const toName = (id: string): string => {
		const name = known.get(id) ?? `<id-${known.size + 1}>`;
		known.set(id, name);
		return name;
	};
	const work = new RegExp(`${workDir.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?![\\w.-])`, "g");
	return (workDir === path.parse(workDir).root ? text : text.replaceAll(work, "<work>"))
		.replaceAll(temporary, "<temporary>")
		.replaceAll(ids, toName)
		.replaceAll(times, "<time>");
}
