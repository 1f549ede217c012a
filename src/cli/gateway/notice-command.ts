// The command of `--notify`: started for each notice, without a shell, with what waits on stdin and in its environment.
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Processes } from "../../processes/port.ts";
import { UsageError } from "../arguments/usage-error.ts";
import type { Notice } from "./notices.ts";

/** Milliseconds until it is ended, and bytes of its output that a failure shows. */
const timeLimit = 10_000;
const outputLimit = 1000;

export interface NoticeCommand {
	readonly file: string;
	readonly arguments: readonly string[];
}

/** A program, or a JSON list of a program and its arguments. Throws UsageError. */
export function readNoticeCommand(value: string): NoticeCommand {
	if (!value.trimStart().startsWith("[")) return { file: value, arguments: [] };
	let list: unknown;
	try {
		list = JSON.parse(value);
	} catch (thrown) {
		throw new UsageError(`--notify is no list in JSON: ${errorText(thrown)}`);
	}
	const words = Array.isArray(list) ? list.filter((word) => typeof word === "string") : [];
	const [file = "", ...rest] = words;
	if (!Array.isArray(list) || words.length < list.length || file === "") {
		throw new UsageError(`--notify takes a program, or a list of it and its arguments: '["notify-send", "It waits"]'.`);
	}
	return { file, arguments: rest };
}

export interface NoticeCommandParts {
	readonly processes: Pick<Processes, "run">;
	readonly workDir: string;
	readonly environment: Readonly<Record<string, string>>;
	readonly log: Log;
	/** Aborts when the program ends. */
	readonly signal: AbortSignal;
}

/** Runs it; what goes wrong is logged. */
export async function runNoticeCommand(
	command: NoticeCommand,
	notice: Notice,
	{ processes, workDir, environment, log, signal }: NoticeCommandParts,
): Promise<void> {
	try {
		const { ended, output } = await processes.run(
			{
				...command,
				workDir,
				environment: { ...environment, ...toVariables(notice) },
				input: `${JSON.stringify(notice)}\n`,
				timeout: timeLimit,
				outputLimit,
			},
			signal,
		);
		const isDone = ended.kind === "aborted" || (ended.kind === "exited" && ended.exitCode === 0);
		if (!isDone) log.warn("The command of --notify failed.", { command: command.file, ...ended, output });
	} catch (error) {
		log.warn("The command of --notify failed.", { command: command.file, error });
	}
}

/** `AGENTWIRE_NOTICE_KIND` and so on; a variable can hold no null. */
function toVariables(notice: Notice): Readonly<Record<string, string>> {
	const values = {
		KIND: notice.kind,
		SESSION: notice.sessionId,
		INTERACTION: notice.interactionId,
		WORK_DIR: notice.workDir,
		TITLE: notice.title,
		TEXT: notice.text,
		WAITING_SINCE: String(notice.waitingSince),
	};
	return Object.fromEntries(
		Object.entries(values).map(([name, value]) => [`AGENTWIRE_NOTICE_${name}`, value.replaceAll("\0", " ")]),
	);
}
