import path from "node:path";
import { isatty } from "node:tty";
import type { SessionSummary } from "../../api/session-list.ts";
import { never } from "../../base/abort.ts";
import { oneLine } from "../../base/text/sentence.ts";
import type { NamedSession, ProgramOptions } from "../arguments/command-line.ts";
import { requireTerminal } from "../arguments/server-start.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { checkWorkDir } from "../paths.ts";
import { openQuestions } from "../process/terminal-question.ts";
import { findCommandStore } from "../store/command-store.ts";

/** Maximum sessions shown; older ones can still be opened by id. */
const listLimit = 50;

export function sessionListText(workDir: string, sessions: readonly SessionSummary[]): string {
	const shown = sessions.slice(0, listLimit);
	const digits = String(shown.length).length;
	const older = sessions.length - shown.length;
	return [
		`Sessions of ${workDir}, the last used first:`,
		"",
		...shown.map(({ id, title }, index) => `  ${String(index + 1).padStart(digits)}  ${id}  ${oneLine(title)}`),
		...(older === 0 ? [] : [`  … and ${older} older ${older === 1 ? "one" : "ones"}.`]),
		"",
	].join("\n");
}

export interface Chooser {
	show(text: string): void;
	ask(question: string): Promise<string | null>;
}

/** Returns the chosen id; null if none. Throws UsageError, naming the flag, if there are no sessions. */
export async function chooseSession(
	flag: string,
	workDir: string,
	sessions: readonly SessionSummary[],
	{ show, ask }: Chooser,
): Promise<string | null> {
	refuseNone(flag, workDir, sessions);
	show(sessionListText(workDir, sessions));
	for (;;) {
		const answer = (await ask("\nNumber or id of the session (empty to cancel): "))?.trim() ?? "";
		if (answer === "") return null;
		const index = sessions.findIndex(({ id }, position) => id === answer || String(position + 1) === answer);
		const chosen = sessions[index];
		if (chosen !== undefined) return chosen.id;
		show(`${JSON.stringify(answer)} is not in the list.\n`);
	}
}

/** The session of a print run: the named one, or one the user chooses; null if none. Throws UsageError. */
export async function toNamedSession(options: ProgramOptions): Promise<NamedSession | null> {
	const { session } = options;
	if (session.kind !== "asked") return session;
	requireTerminal(session.flag, isatty(0) && isatty(2));
	const { workDir, sessions } = await findSessions(options);
	const { ask, close } = openQuestions(never);
	const id = await chooseSession(session.flag, workDir, sessions, {
		show: (text) => void process.stderr.write(text),
		ask,
	}).finally(close);
	return id === null ? null : { kind: "id", id };
}

/** Lists the sessions and how to open one; returns the exit code. Throws UsageError if there are none. */
export async function listSessions(executable: string, flag: string, options: ProgramOptions): Promise<number> {
	const { workDir, sessions } = await findSessions(options);
	refuseNone(flag, workDir, sessions);
	const name = path.basename(executable);
	const ways = [
		`  ${name} ${flag} ID -p TEXT  answer one prompt in it and exit`,
		`  ${name} ${flag} ID --wire   serve it on this terminal, one JSON message per line`,
	];
	process.stdout.write(`${sessionListText(workDir, sessions)}\nTo continue one of them:\n\n${ways.join("\n")}\n`);
	return 0;
}

function refuseNone(flag: string, workDir: string, sessions: readonly SessionSummary[]): void {
	if (sessions.length === 0) throw new UsageError(`${flag}: there is no earlier session in ${workDir}.`);
}

async function findSessions(options: ProgramOptions) {
	const { place, files, openStore } = await findCommandStore();
	const workDir = await checkWorkDir(options.workDir, place, files);
	const store = await openStore();
	try {
		return { workDir, sessions: (await store.list({ workDir })).sessions };
	} finally {
		await store.close();
	}
}
