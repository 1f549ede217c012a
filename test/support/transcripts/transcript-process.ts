// Plays a transcript against the built executable, one process per conversation.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import path from "node:path";
import { createDeferred, type Deferred } from "../../../src/base/deferred.ts";
import { createLineSplitter } from "../../../src/base/text/lines.ts";
import { productVersion } from "../../../src/host/product.ts";
import { fillWord } from "../../../src/testing/transcripts/comparison.ts";
import type { ServerKind, Transcript } from "../../../src/testing/transcripts/format.ts";
import { createBindings } from "../../../src/testing/transcripts/placeholders.ts";
import { executablePath, sharedCodeCache } from "../executable/executable.ts";
import { preparePlace, sessionId, type TranscriptPlace } from "./transcript-place.ts";
import { playGolden, type StartedServer, type ToComparison, toTheLetter } from "./transcript-play.ts";

/** Plays every conversation of the transcript. Throws at the first difference, with what the process said on stderr. */
export async function playOverProcess(
	transcript: Transcript,
	toComparison: ToComparison = toTheLetter,
	atEnd: (place: TranscriptPlace) => Promise<void> = async () => {},
): Promise<void> {
	const place = await preparePlace(transcript);
	const comparison = toComparison(
		createBindings({ "work-dir": place.workDir, "share-dir": place.shareDir, version: productVersion }),
	);
	try {
		for (const [index, moves] of transcript.conversations.entries()) {
			const words = (transcript.conversationWords[index] ?? []).map((word) => fillWord(comparison, word));
			const { server, complaints, kill } = startServer(transcript, place, words);
			try {
				await playGolden(transcript, moves, server, comparison, place.workDir);
			} catch (thrown) {
				throw new Error(`${thrown instanceof Error ? thrown.message : String(thrown)}\nstderr:\n${complaints()}`);
			} finally {
				kill();
			}
		}
		await atEnd(place);
	} finally {
		await place.remove();
	}
}

const serverArguments: { readonly [K in ServerKind]: readonly string[] } = {
	session: ["--wire", "--session", sessionId],
	meerkat: ["rpc"],
	acp: ["acp"],
	"acp-v2": ["acp", "--acp-protocol", "2"],
	claude: ["claude", "--input-format", "stream-json", "--output-format", "stream-json"],
	codex: ["codex", "app-server"],
	"codex-exec": ["codex", "exec", "--experimental-json"],
	gateway: ["serve", "--stdio"],
};

/** Protocols whose command line is somebody else's: it has no flags of ours. */
const isForeign = (server: ServerKind) => server === "claude" || server === "codex" || server === "codex-exec";

function toFlags({ yolo, plan, afk, maxSteps, maxAttempts, model, agentFile }: Transcript): string[] {
	return [
		...(yolo ? ["--yolo"] : []),
		...(plan ? ["--plan"] : []),
		...(afk ? ["--afk"] : []),
		...(maxSteps === null ? [] : ["--max-steps-per-turn", String(maxSteps)]),
		...(maxAttempts === null ? [] : ["--max-retries-per-step", String(maxAttempts)]),
		...(model === null ? [] : ["--model", model]),
		...(agentFile === null ? [] : ["--agent-file", agentFile]),
	];
}

/** Some servers take no settings file, and an editor is offered a sign-in only with the settings of the share directory; JSON there is converted at the start. */
function settingsFlags({ server }: Transcript, { shareDir, configFile }: TranscriptPlace): readonly string[] {
	if (server !== "acp" && server !== "acp-v2" && !isForeign(server)) return ["--config-file", configFile];
	if (!existsSync(path.join(shareDir, "config.toml"))) copyFileSync(configFile, path.join(shareDir, "config.json"));
	return [];
}

function startServer(
	transcript: Transcript,
	place: TranscriptPlace,
	words: readonly string[],
): { readonly server: StartedServer; complaints(): string; kill(): void } {
	const { home, shareDir, workDir } = place;
	const child = spawn(
		executablePath,
		[
			...serverArguments[transcript.server],
			...words,
			...(isForeign(transcript.server) ? [] : ["--work-dir", workDir]),
			...settingsFlags(transcript, place),
			...toFlags(transcript),
		],
		{
			cwd: workDir,
			env: {
				PATH: process.env["PATH"] ?? "",
				HOME: home,
				KIMI_SHARE_DIR: shareDir,
				...(sharedCodeCache === undefined ? {} : { XDG_CACHE_HOME: sharedCodeCache }),
				...transcript.environment,
			},
		},
	);
	let complaints = "";
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		complaints += text;
	});
	// Input that a process no longer takes is shown by what it does not answer.
	child.stdin.on("error", () => {});
	const code = new Promise<number>((resolve) => child.on("close", (exitCode) => resolve(exitCode ?? -1)));
	const read = createLineReader(child);
	return {
		server: {
			write: (bytes) => void child.stdin.write(bytes),
			closeInput: () => void child.stdin.end(),
			read,
			exitCode: () => code,
			openGate() {
				throw new Error("a transcript with gates is memory only");
			},
		},
		complaints: () => complaints,
		kill: () => void child.kill("SIGKILL"),
	};
}

function createLineReader(child: ChildProcessWithoutNullStreams): () => Promise<string | null> {
	const splitter = createLineSplitter(1_000_000_000);
	const arrived: string[] = [];
	let ended = false;
	let waiting: Deferred<void> | null = null;
	const arrive = (lines: ReturnType<typeof splitter.push>) => {
		for (const line of lines) if (line.kind === "line") arrived.push(line.text);
		waiting?.resolve();
		waiting = null;
	};
	child.stdout.on("data", (bytes: Buffer) => arrive(splitter.push(bytes)));
	child.stdout.on("close", () => {
		ended = true;
		arrive(splitter.end());
	});
	return async () => {
		while (arrived.length === 0) {
			if (ended) return null;
			waiting ??= createDeferred();
			await waiting.promise;
		}
		return arrived.shift() ?? null;
	};
}
