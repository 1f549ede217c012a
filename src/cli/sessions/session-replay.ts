import { orAbort } from "../../base/abort.ts";
import { type Place, toAbsolutePath } from "../../host/place.ts";
import { productVersion } from "../../host/product.ts";
import { fileFailureText } from "../../ports/files/file-failure.ts";
import type { Files } from "../../ports/files/port.ts";
import { isSessionId } from "../../ports/store/disk/work-dir.ts";
import type { SessionStore } from "../../ports/store/session-store.ts";
import {
	parseReplayText,
	type Recording,
	readRecording,
	toReplayText,
	withoutSecrets,
} from "../../replay/recording.ts";
import { type ReplayOutcome, replay } from "../../replay/replay.ts";
import { whileShown } from "../process/waiting-line.ts";
import { findCommandStore } from "../store/command-store.ts";
import { withoutPrefix } from "./session-prefix.ts";

/** The exit code if replay is impossible; 0 and 1 are comparison results. */
const notReplayable = 2;

const longestFile = 256 * 1024 * 1024;

export async function runReplay(subject: string): Promise<number> {
	let recording: Recording | null;
	try {
		recording = await findRecording(subject);
	} catch (thrown) {
		return complain(`${subject} cannot be replayed: ${fileFailureText(thrown)}`);
	}
	if (recording === null)
		return complain(`There is no session and no file ${JSON.stringify(subject)}; 'sessions list' shows all sessions.`);
	const outcome = await whileShown("Replaying", () => replay(recording));
	const text = outcomeText(recording.sessionId, outcome);
	if (outcome.kind === "not-replayable") return complain(text);
	process.stdout.write(`${text}\n`);
	return outcome.kind === "same" ? 0 : 1;
}

function complain(text: string): number {
	process.stderr.write(`${text}\n`);
	return notReplayable;
}

async function findRecording(subject: string): Promise<Recording | null> {
	const { files, place, openStore } = await findCommandStore();
	const file = toAbsolutePath(subject, place);
	if ((await files.status(file))?.kind === "file") {
		const bytes = await files.read(file, longestFile);
		return bytes === null ? null : parseReplayText(bytes.toString("utf8"));
	}
	if (!isSessionId(subject)) return null;
	const store = await openStore();
	try {
		return await readStored(store, subject, place);
	} finally {
		await store.close();
	}
}

/** Finds the session by id, with or without kimi-code's prefix; null if missing. */
async function readStored(store: SessionStore, named: string, { currentDir }: Place): Promise<Recording | null> {
	for (const id of [named, ...(withoutPrefix(named) === null ? [] : [withoutPrefix(named) ?? ""])]) {
		for (const workDir of [currentDir, await store.workDirOf(id)]) {
			const stored = workDir === null ? null : await store.view(workDir, id);
			if (stored !== null) return await readRecording(stored);
		}
	}
	return null;
}

/** Maximum characters shown of a value. */
const shownLength = 2000;

export function outcomeText(session: string, outcome: ReplayOutcome): string {
	switch (outcome.kind) {
		case "same": {
			const leftOut = [...outcome.leftOut].map(([what, count]) => `${what} (${count})`);
			const more = leftOut.length === 0 ? "" : `\nNot compared: ${leftOut.join(", ")}.`;
			return `The session ${session} replays the same: ${outcome.events} events.${more}`;
		}
		case "differs": {
			const { seq, place, recorded, replayed } = outcome.difference;
			const where =
				seq === null ? "after its last recorded event" : `at event ${seq}${place === "" ? "" : `, in ${place}`}`;
			return `The session ${session} differs ${where}:\n- recorded: ${cut(recorded)}\n+ replayed: ${cut(replayed)}`;
		}
		case "not-replayable":
			return `The session ${session} cannot be replayed. ${outcome.reason}`;
	}
}

function cut(text: string): string {
	return text.length <= shownLength ? text : `${text.slice(0, shownLength)} … (${text.length} characters)`;
}

export interface ReplayableExport {
	readonly content: AsyncIterable<Uint8Array>;
	readonly notes: readonly string[];
}

/** Null if the session is missing. Reads the configured store. */
export async function exportReplayable(
	sessionId: string | null,
	signal: AbortSignal,
): Promise<(ReplayableExport & { readonly id: string }) | null> {
	const { place, openStore } = await findCommandStore();
	const store = await openStore();
	try {
		const id = sessionId ?? (await orAbort(store.lastSessionId(place.currentDir), signal));
		const found = id === null ? null : await orAbort(readStored(store, id, place), signal);
		if (found === null) return null;
		const { recording, changed } = withoutSecrets(found);
		const outcome = await whileShown("Replaying", () => replay(recording));
		const redacted = `${changed} ${changed === 1 ? "text" : "texts"} that looked like a key or token ${changed === 1 ? "was" : "were"} replaced`;
		return {
			id: found.sessionId,
			content: onePiece(toReplayText(recording, productVersion)),
			notes: [
				`It holds the ${recording.events.length} events of the session: prompts, answers, tool calls with their results, decisions. ${redacted}; check for other secrets before you share it.`,
				outcomeText(found.sessionId, outcome),
			],
		};
	} finally {
		await store.close();
	}
}

async function* onePiece(text: string): AsyncGenerator<Uint8Array> {
	yield Buffer.from(text);
}

/** Whether the file is an earlier recording, which may be overwritten. */
export async function isReplayable(file: string, files: Files): Promise<boolean> {
	const start = await files.readRange(file, 0, 24).catch(() => null);
	return start?.toString("utf8").startsWith('{"agentwire_replay":') === true;
}
