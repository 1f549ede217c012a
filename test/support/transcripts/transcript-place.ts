// Where a transcript is played: a temporary folder with work dir, share dir, scripts and settings.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Transcript } from "../../../src/testing/transcripts/format.ts";

export const sessionId = "0b7d4c5e-3f21-4a86-9c1d-5e2f7a90b3c4";

export interface TranscriptPlace {
	readonly home: string;
	readonly workDir: string;
	readonly shareDir: string;
	readonly configFile: string;
	/** The directory of the session that is played. */
	readonly sessionDir: string;
	/** The settings as JSON text. */
	readonly config: string;
	remove(): Promise<void>;
}

/** Makes the folder, with the files, the session and the scripts of the transcript in it. */
export async function preparePlace(transcript: Transcript): Promise<TranscriptPlace> {
	const root = await realpath(await mkdtemp(path.join(tmpdir(), "agentwire-transcript-")));
	const home = path.join(root, "home");
	const workDir = path.join(root, "work");
	const shareDir = path.join(home, ".kimi");
	const sessionDir = path.join(shareDir, "sessions", createHash("md5").update(workDir).digest("hex"), sessionId);
	const scriptsFile = path.join(root, "scripts.json");
	const configFile = path.join(root, "config.json");
	const config = JSON.stringify(toConfiguration(transcript, scriptsFile));
	await mkdir(workDir, { recursive: true });
	await mkdir(shareDir, { recursive: true });
	await writeFile(
		scriptsFile,
		JSON.stringify(
			transcript.scripts.map((script) => script.replaceAll("<work-dir>", workDir).replaceAll("<share-dir>", shareDir)),
		),
	);
	await writeFile(configFile, config);
	for (const [name, text] of transcript.files) {
		await mkdir(path.dirname(path.join(workDir, name)), { recursive: true });
		await writeFile(path.join(workDir, name), text);
	}
	for (const [name, text] of transcript.shareFiles) {
		await mkdir(path.dirname(path.join(shareDir, name)), { recursive: true });
		await writeFile(path.join(shareDir, name), text);
	}
	for (const [name, text] of transcript.sessionFiles) {
		await mkdir(path.dirname(path.join(sessionDir, name)), { recursive: true });
		await writeFile(path.join(sessionDir, name), text.replaceAll("<work-dir>", workDir));
	}
	return {
		home,
		workDir,
		shareDir,
		configFile,
		sessionDir,
		config,
		remove: () => rm(root, { recursive: true, force: true }),
	};
}

function toConfiguration(
	{ hasModel, capabilities, agentwireSettings, settings }: Transcript,
	scriptsFile: string,
): object {
	if (!hasModel) return { agentwire: agentwireSettings, ...settings };
	return {
		default_model: "scripted",
		models: {
			scripted: { provider: "scripts", model: "scripted_echo", max_context_size: 100_000, capabilities },
		},
		providers: {
			scripts: {
				type: "_scripted_echo",
				base_url: "",
				api_key: "",
				env: { KIMI_SCRIPTED_ECHO_SCRIPTS: scriptsFile },
			},
		},
		agentwire: { sync: "off", ...agentwireSettings },
		...settings,
	};
}
