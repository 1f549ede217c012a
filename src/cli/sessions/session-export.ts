import { tmpdir } from "node:os";
import path from "node:path";
import { orAbort } from "../../base/abort.ts";
import { systemClock } from "../../base/clock.ts";
import { isSystemError, KernelError } from "../../base/errors.ts";
import { randomIdentifiers } from "../../base/ids.ts";
import { silentLog } from "../../base/log.ts";
import { protocolVersion } from "../../formats/protocol-version.ts";
import { openConfiguredStore } from "../../host/configured-store.ts";
import { type Place, toAbsolutePath } from "../../host/place.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { fileFailureText } from "../../ports/files/file-failure.ts";
import type { Files } from "../../ports/files/port.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import { admitByName } from "../../ports/files/secret-paths.ts";
import { createDiskStore } from "../../ports/store/disk/disk-store.ts";
import { isSessionId } from "../../ports/store/disk/work-dir.ts";
import { copySession } from "../../ports/store/session-copy.ts";
import type { ExportOptions } from "../arguments/options/export-options.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { endInTime } from "../process/process-exit.ts";
import { handleStopSignals } from "../process/stop-signals.ts";
import { openQuestions } from "../process/terminal-question.ts";
import { whileShown } from "../process/waiting-line.ts";
import { type CommandStore, findCommandStore } from "../store/command-store.ts";
import { type ArchivePlace, ExportFailure, findArchivedSession, toEntries } from "./session-archive.ts";
import { zipPieces } from "./zip-archive.ts";

export interface ExportServices extends ArchivePlace {
	now(): number;
	/** Asks the user; null if nobody is present. */
	readonly ask: ((question: string) => Promise<boolean>) | null;
	print(line: string): void;
	complain(line: string): void;
}

export async function runExport(executable: string, options: ExportOptions): Promise<number> {
	const command = await findCommandStore();
	const { place, shareDir } = command;
	const stopping = new AbortController();
	handleStopSignals(() => {
		// The database or the disk may be unresponsive.
		endInTime(() => 1, null);
		stopping.abort(new ExportFailure("The export was stopped; nothing was written."));
	});
	const hostServices: ExportServices = {
		executableName: path.basename(executable),
		files: createDiskFiles(privateBelow(shareDir)).admitting(admitByName),
		...place,
		shareDir,
		now: () => systemClock.now(),
		ask: process.stdin.isTTY ? (question) => confirm(question, stopping.signal) : null,
		print: (line) => void process.stdout.write(`${line}\n`),
		complain: (line) => void process.stderr.write(`${line}\n`),
		signal: stopping.signal,
	};
	if (options.replayable) return await exportRecording(options, hostServices);
	if (command.settings.type === "disk") return await exportSession(options, hostServices);
	return await exportFromDatabase(options, hostServices, command);
}

/** Copies the session to files, which are archived. Only reads from the database. */
async function exportFromDatabase(
	options: ExportOptions,
	hostServices: ExportServices,
	{ settings, files, place }: CommandStore,
): Promise<number> {
	const { currentDir, complain, signal } = hostServices;
	const storeDir = path.join(tmpdir(), `agentwire-export-${randomIdentifiers.uuid()}`);
	const store = await openConfiguredStore(settings, { files, place, log: silentLog });
	try {
		const id = options.sessionId ?? (await orAbort(store.lastSessionId(currentDir), signal));
		const home = id === null ? null : await orAbort(store.workDirOf(id), signal);
		const source = id === null || home === null ? null : await orAbort(store.view(home, id), signal);
		if (source === null) {
			complain(
				id === null
					? `There is no session in ${currentDir} yet. Go to the directory that you worked in, or name a session.`
					: `There is no session ${id} in the database.`,
			);
			return 1;
		}
		const own = createDiskFiles(privateBelow(storeDir));
		const disk = { files: own, shareDir: storeDir, log: silentLog, clock: systemClock, protocolVersion };
		await orAbort(copySession(source, createDiskStore(disk)), signal);
		return await exportSession({ ...options, sessionId: source.id }, { ...hostServices, storeDir });
	} catch (thrown) {
		if (thrown instanceof ExportFailure) complain(thrown.message);
		else if (thrown instanceof KernelError || isSystemError(thrown))
			complain(`The session could not be exported: ${fileFailureText(thrown)}`);
		else throw thrown;
		return 1;
	} finally {
		// First: pending reads then fail, and write nothing more.
		await store.close();
		await files.remove(storeDir);
	}
}

async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
	const { ask, close } = openQuestions(signal);
	const answer = await ask(question).finally(close);
	return /^y(es)?$/i.test(answer?.trim() ?? "");
}

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
				"The archive will contain the whole conversation, all tool calls and the program's logs: check it for secrets.",
			);
			if (!(await hostServices.ask(`Write ${target}? [y/N] `))) throw new ExportFailure("Nothing was exported.");
		}
		const leftOut = [...session.leftOut];
		const archive = zipPieces(toEntries(session, leftOut, hostServices.now(), hostServices));
		// Private, like the session directory.
		await whileShown("Writing the archive", () => files.replaceByPieces(target, archive, { mode: 0o600 }));
		for (const { name, reason } of leftOut) complain(`Left out: ${name} (${reason})`);
		print(target);
		return 0;
	} catch (thrown) {
		if (thrown instanceof ExportFailure) complain(thrown.message);
		else complain(`The session could not be exported: ${fileFailureText(thrown)}`);
		return 1;
	}
}

async function exportRecording(options: ExportOptions, hostServices: ExportServices): Promise<number> {
	const { files, print, complain, signal } = hostServices;
	const { exportReplayable, isReplayable } = await import("./session-replay.ts");
	try {
		const found = await exportReplayable(options.sessionId, signal);
		if (found === null) throw new ExportFailure("There is no such session; 'sessions list' shows all sessions.");
		const isOwn = (file: string) => isReplayable(file, files);
		const target = await toTarget(
			options.output,
			`session-${found.id}.jsonl`,
			files,
			hostServices,
			isOwn,
			"earlier export",
		);
		for (const note of found.notes) complain(note);
		if (!options.yes && hostServices.ask !== null && !(await hostServices.ask(`Write ${target}? [y/N] `)))
			throw new ExportFailure("Nothing was exported.");
		await files.replaceByPieces(target, found.content, { mode: 0o600 });
		print(target);
		return 0;
	} catch (thrown) {
		if (thrown instanceof ExportFailure) complain(thrown.message);
		else if (thrown instanceof KernelError || isSystemError(thrown))
			complain(`The session could not be exported: ${fileFailureText(thrown)}`);
		else throw thrown;
		return 1;
	}
}

async function isArchive(file: string, files: Files): Promise<boolean> {
	return (await files.readRange(file, 0, 4))?.toString("latin1") === "PK\x03\x04";
}

/** Returns the absolute target path. Only an earlier export may be overwritten. */
async function toTarget(
	typed: string | null,
	name: string,
	files: Files,
	place: Place,
	isOwn = (file: string) => isArchive(file, files),
	what = "ZIP file",
): Promise<string> {
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
			`${target} is a link to ${leadsTo}, which does not exist. Give another path with --output.`,
		);
	}
	if (status === null) return target;
	if (status.kind === "file" && (await isOwn(target))) return target;
	throw new ExportFailure(`${target} already exists and is not a ${what}. Give another path with --output.`);
}
