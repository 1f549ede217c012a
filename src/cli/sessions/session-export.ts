// The command `export`: writes a session to one ZIP file, for a backup or for somebody else.
import { homedir } from "node:os";
import path from "node:path";
import { systemClock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import { createDiskFiles } from "../../files/disk-files.ts";
import type { Files } from "../../files/port.ts";
import { privateBelow } from "../../files/private-paths.ts";
import { admitByName } from "../../files/secret-paths.ts";
import { isSessionId } from "../../store/disk/work-dir.ts";
import type { ExportOptions } from "../arguments/export-options.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { currentDirectory, type Place, shareDirectory, toAbsolutePath } from "../paths.ts";
import { handleStopSignals } from "../process/stop-signals.ts";
import { openQuestions } from "../process/terminal-question.ts";
import { whileShown } from "../process/waiting-line.ts";
import { type ArchivePlace, ExportFailure, findArchivedSession, toEntries } from "./session-archive.ts";
import { zipPieces } from "./zip-archive.ts";

/** What the export needs of its process. */
export interface ExportServices extends ArchivePlace {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Asks the person; null when there is none. */
	readonly ask: ((question: string) => Promise<boolean>) | null;
	print(line: string): void;
	complain(line: string): void;
}

/** Exports and returns the exit code. Throws UsageError. */
export async function runExport(executable: string, options: ExportOptions): Promise<number> {
	const place: Place = { currentDir: currentDirectory(), home: homedir() };
	const shareDir = shareDirectory(process.env, place);
	const stopping = new AbortController();
	handleStopSignals(() => stopping.abort(new ExportFailure("The export was stopped; nothing was written.")));
	return await exportSession(options, {
		executableName: path.basename(executable),
		files: createDiskFiles(privateBelow(shareDir)).admitting(admitByName),
		...place,
		shareDir,
		now: () => systemClock.now(),
		ask: process.stdin.isTTY ? (question) => confirm(question, stopping.signal) : null,
		print: (line) => void process.stdout.write(`${line}\n`),
		complain: (line) => void process.stderr.write(`${line}\n`),
		signal: stopping.signal,
	});
}

async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
	const { ask, close } = openQuestions(signal);
	const answer = await ask(question).finally(close);
	return /^y(es)?$/i.test(answer?.trim() ?? "");
}

/** Finds the session, asks, and writes the archive. Throws UsageError. */
export async function exportSession(options: ExportOptions, hostServices: ExportServices): Promise<number> {
	const { files, print, complain } = hostServices;
	if (options.sessionId !== null && !isSessionId(options.sessionId)) {
		throw new UsageError(`${JSON.stringify(options.sessionId)} cannot be the id of a session.`);
	}
	try {
		const session = await findArchivedSession(options.sessionId, hostServices);
		const target = await toTarget(options.output, `session-${session.id}.zip`, files, hostServices);
		if (!options.yes && hostServices.ask !== null) {
			complain(`Session ${session.id} in ${session.workDir}: ${session.title}`);
			complain(
				"The archive will hold all that was said and done in it, and the program's logs: look for secrets in it.",
			);
			if (!(await hostServices.ask(`Write ${target}? [y/N] `))) throw new ExportFailure("Nothing was exported.");
		}
		const leftOut = [...session.leftOut];
		const archive = zipPieces(toEntries(session, leftOut, hostServices.now(), hostServices));
		// Private, like the directory of the sessions.
		await whileShown("Writing the archive", () => files.replaceByPieces(target, archive, { mode: 0o600 }));
		for (const { name, reason } of leftOut) complain(`Left out: ${name} (${reason})`);
		print(target);
		return 0;
	} catch (thrown) {
		if (thrown instanceof ExportFailure) complain(thrown.message);
		else complain(`The session could not be exported: ${errorText(thrown)}`);
		return 1;
	}
}

/** The absolute path to write to. An existing file is overwritten only if it is an archive. */
async function toTarget(typed: string | null, name: string, files: Files, place: Place): Promise<string> {
	const named = toAbsolutePath(typed ?? ".", place);
	const isDirectory = (await files.status(named))?.kind === "directory";
	if (!isDirectory && typed?.endsWith("/")) throw new ExportFailure(`There is no directory ${named}.`);
	const target = isDirectory ? path.join(named, name) : named;
	const parent = path.dirname(target);
	if ((await files.status(parent))?.kind !== "directory") throw new ExportFailure(`There is no directory ${parent}.`);
	const status = await files.status(target);
	const leadsTo = await files.resolve(target);
	if (status === null && leadsTo !== path.join(await files.resolve(parent), path.basename(target))) {
		throw new ExportFailure(
			`${target} is a link to ${leadsTo}, where there is nothing. Give another path with --output.`,
		);
	}
	if (status === null) return target;
	const start = status.kind === "file" ? await files.readRange(target, 0, 4) : null;
	if (start?.toString("latin1") === "PK\x03\x04") return target;
	throw new ExportFailure(`${target} is there already and is no ZIP file. Give another path with --output.`);
}
