// The `--notify` command: started for each notice without a shell, with the notice on stdin and in its environment.
import type { Log } from "../../base/log.ts";
import type { Processes } from "../../ports/processes/port.ts";
import type { NamedProgram } from "../arguments/named-program.ts";
import type { Notice } from "./notices.ts";

/** Timeout in milliseconds, and bytes of output shown on failure. */
const timeLimit = 10_000;
const outputLimit = 1000;

export interface NoticeCommandParts {
	readonly processes: Pick<Processes, "run">;
	readonly workDir: string;
	readonly environment: Readonly<Record<string, string>>;
	readonly log: Log;
	readonly signal: AbortSignal;
}

export async function runNoticeCommand(
	command: NamedProgram,
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
		if (!isDone) log.warn("The --notify command failed.", { command: command.file, ...ended, output });
	} catch (error) {
		log.warn("The --notify command failed.", { command: command.file, error });
	}
}

/** `AGENTWIRE_NOTICE_KIND` and so on. Replaces NUL characters, which variables cannot hold. */
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
