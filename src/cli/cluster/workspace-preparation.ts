import { KernelError } from "../../base/errors.ts";
import { createProcesses } from "../../ports/processes/children.ts";
import type { NamedProgram } from "../arguments/named-program.ts";
import type { ProgramProcess } from "../process/program-process.ts";

/** Timeout in milliseconds, and bytes of output shown on failure. */
const timeLimit = 120_000;
const outputLimit = 2000;

/** Runs it with `{"workDir", "sessionId"}` on stdin. Fails `overloaded` with the end of its output. */
export function createPreparation(
	command: NamedProgram,
	{ environment, shareDir, log }: Pick<ProgramProcess, "environment" | "shareDir" | "log">,
	signal: AbortSignal,
): (workDir: string | null, sessionId: string | null) => Promise<void> {
	const processes = createProcesses({ log });
	return async (workDir, sessionId) => {
		const { ended, output } = await processes.run(
			{
				...command,
				workDir: shareDir,
				environment,
				input: `${JSON.stringify({ workDir, sessionId })}\n`,
				timeout: timeLimit,
				outputLimit,
			},
			signal,
		);
		if (ended.kind === "exited" && ended.exitCode === 0) return;
		log.warn("The --prepare command failed.", { command: command.file, ...ended, output });
		throw new KernelError(
			"overloaded",
			`The worker could not prepare the work directory: ${command.file} failed. ${output.trim()}`.trim(),
		);
	};
}
