// Runs one scenario: with its own directory, a loopback model, and one command per conversation.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createLineSplitter } from "../../base/text/lines.ts";
import { shellWord } from "../../base/text/quoting.ts";
import { createProcesses } from "../../ports/processes/children.ts";
import type { ChildInput } from "../../ports/processes/port.ts";
import { FreeComparison, fillWord } from "../../testing/transcripts/comparison.ts";
import { lineQueue } from "../../testing/transcripts/connection.ts";
import type { Move, Transcript } from "../../testing/transcripts/format.ts";
import { type Freedom, freedoms } from "../../testing/transcripts/freedom.ts";
import { createBindings } from "../../testing/transcripts/placeholders.ts";
import { play, type Server, TranscriptDifference } from "../../testing/transcripts/play.ts";
import { withPulledEvents } from "../../testing/transcripts/pulled-events.ts";
import type { ConformanceDialect } from "../arguments/options/conformance-options.ts";
import { startLoopbackModel } from "./model/loopback-model.ts";
import { withOfferedOptions } from "./permission-options.ts";
import { wireOpening, withoutOpening } from "./suites.ts";

export type Outcome =
	| { readonly kind: "passed" }
	| { readonly kind: "skipped"; readonly reason: string }
	| {
			readonly kind: "failed";
			/** The transcript line; 0 if the command did not get that far. */
			readonly line: number;
			readonly reason: string;
			readonly expected: string;
			readonly received: string;
			readonly errorOutput: string;
	  };

export interface ScenarioOptions {
	readonly dialect: ConformanceDialect;
	readonly command: string;
	readonly environment: Readonly<Record<string, string>>;
	/** Milliseconds to wait for one line. */
	readonly patience: number;
}

const sessionId = "0b7d4c5e-3f21-4a86-9c1d-5e2f7a90b3c4";

interface Place {
	readonly home: string;
	readonly workDir: string;
	readonly modelUrl: string;
	readonly yolo: boolean;
}

export async function runScenario(transcript: Transcript, options: ScenarioOptions): Promise<Outcome> {
	const { dialect, command } = options;
	if (dialect === "wire" && transcript.conversations.length > 1 && !command.includes("{session}"))
		return { kind: "skipped", reason: "it resumes a session, and the command has no {session}" };
	const root = await realpath(await mkdtemp(path.join(tmpdir(), "agentwire-conformance-")));
	const [home, workDir] = [path.join(root, "home"), path.join(root, "work")];
	const model = await startLoopbackModel(transcript.scripts.map((script) => script.replaceAll("<work-dir>", workDir)));
	const place: Place = { home, workDir, modelUrl: model.url, yolo: transcript.yolo };
	try {
		await prepare(transcript, place);
		const given = { "work-dir": workDir, "share-dir": path.join(home, ".kimi") };
		const comparison = new FreeComparison(createBindings(given, { anyIds: true }), freedomOf(dialect));
		for (const [index, moves] of transcript.conversations.entries()) {
			model.restart();
			const words = wordsOf(transcript.conversationWords[index] ?? [], dialect).map((word) =>
				shellWord(fillWord(comparison, word)),
			);
			const command = [options.command, ...words].join(" ");
			const opened = withOpening(transcript, moves, dialect);
			const outcome = await runConversation(opened, comparison, place, { ...options, command });
			const tool = model.missingTool();
			if (outcome.kind === "failed" && tool !== null)
				return { kind: "skipped", reason: `the server offers its model no tool like ${tool}` };
			if (outcome.kind !== "passed") return outcome;
		}
		return { kind: "passed" };
	} finally {
		model.close();
		await rm(root, { recursive: true, force: true, maxRetries: 3 });
	}
}

function withOpening({ name }: Transcript, moves: readonly Move[], dialect: ConformanceDialect): readonly Move[] {
	const opens = moves.some((move) => move.kind === "send" && move.bytes.includes('"initialize"'));
	return dialect !== "wire" || opens || withoutOpening.includes(name) ? moves : [...wireOpening, ...moves];
}

/** Clients of these dialects start the server with flags that belong to the protocol. */
function wordsOf(words: readonly string[], dialect: ConformanceDialect): readonly string[] {
	if (dialect === "codex-exec") return ["--experimental-json", ...words];
	const formats = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
	return dialect === "claude" ? [...formats, ...words] : [];
}

async function prepare({ files, yolo }: Transcript, { home, workDir, modelUrl }: Place): Promise<void> {
	await mkdir(path.join(home, ".kimi"), { recursive: true });
	await mkdir(workDir);
	const settings = [
		'default_model = "scripted"',
		`default_yolo = ${yolo}`,
		'[models.scripted]\nprovider = "scripts"\nmodel = "scripted_echo"\nmax_context_size = 100000',
		`[providers.scripts]\ntype = "openai_legacy"\nbase_url = "${modelUrl}"\napi_key = "scenario"`,
	];
	await writeFile(path.join(home, ".kimi", "config.toml"), `${settings.join("\n")}\n`);
	for (const [name, content] of files) {
		await mkdir(path.dirname(path.join(workDir, name)), { recursive: true });
		await writeFile(path.join(workDir, name), content);
	}
}

async function runConversation(
	moves: readonly Move[],
	comparison: FreeComparison,
	place: Place,
	{ dialect, command, environment, patience }: ScenarioOptions,
): Promise<Outcome> {
	const { home, workDir, modelUrl, yolo } = place;
	const config = path.join(home, ".kimi", "config.toml");
	const values: Readonly<Record<string, string>> = {
		work: workDir,
		config,
		session: sessionId,
		"model-url": modelUrl,
		approval: yolo ? "allow" : "ask",
	};
	const ending = new AbortController();
	let errorOutput = "";
	let input: Promise<ChildInput> | null = null;
	let exitCode: Promise<number> = Promise.resolve(-1);
	const { read } = lineQueue((onLine, onEnd) => {
		const splitter = createLineSplitter(100_000_000);
		const arrive = (lines: ReturnType<typeof splitter.push>) => {
			for (const line of lines) if (line.kind === "line") onLine(line.text);
		};
		input = new Promise((begin) => {
			const running = createProcesses({ grace: 2000 }).run(
				{
					file: "/bin/sh",
					arguments: [
						"-c",
						command.replaceAll(/\{(work|config|session|model-url|approval)\}/g, (_, name) => values[name] ?? ""),
					],
					workDir,
					environment: {
						...withoutKeys(environment),
						...{
							HOME: home,
							KIMI_SHARE_DIR: path.join(home, ".kimi"),
							OPENAI_BASE_URL: modelUrl,
							OPENAI_API_KEY: "scenario",
						},
					},
					outputLimit: 0,
					conversation: {
						begin,
						hear(source, bytes) {
							if (source === "output") arrive(splitter.push(bytes));
							else errorOutput = (errorOutput + bytes.toString("utf8")).slice(-2000);
						},
					},
				},
				ending.signal,
			);
			exitCode = running.then(({ ended }) => {
				arrive(splitter.end());
				onEnd();
				return ended.kind === "exited" ? ended.exitCode : -1;
			});
		});
	});
	const server: Server = {
		write: (bytes) => void input?.then((each) => each.write(bytes.toString("utf8"))).catch(() => {}),
		closeInput: () => void input?.then((each) => each.close()),
		read,
		exitCode: () => exitCode,
		openGate: () => {},
		async fileExists(name) {
			while (!existsSync(path.join(workDir, name))) await new Promise((resolve) => setTimeout(resolve, 10));
		},
	};
	try {
		// A process for each turn ends by itself: its last line and its exit code belong to the protocol.
		const ending = dialect === "codex-exec" ? "closed" : "open";
		await play({ moves, server: adapt(server, dialect), comparison, patience, ending });
		return { kind: "passed" };
	} catch (thrown) {
		if (!(thrown instanceof Error)) throw thrown;
		const { line, reason, expected, received } =
			thrown instanceof TranscriptDifference ? thrown : { line: 0, reason: thrown.message, expected: "", received: "" };
		return { kind: "failed", line, reason, expected, received, errorOutput };
	} finally {
		server.closeInput();
		const patient = setTimeout(() => ending.abort(), 1000);
		await exitCode;
		clearTimeout(patient);
	}
}

/** What ACP leaves open: calls may be shown before or after the permission request, and prompts be echoed. */
const openInAcp: ReadonlySet<string> = new Set(["tool_call", "user_message_chunk", "$/cancel_request"]);

function freedomOf(dialect: ConformanceDialect): Freedom {
	const freedom = freedoms[dialect];
	if (dialect !== "acp") return freedom;
	return { ...freedom, isOptional: (name) => openInAcp.has(name) || freedom.isOptional(name) };
}

function adapt(server: Server, dialect: ConformanceDialect): Server {
	if (dialect === "gateway") return withPulledEvents(server);
	return dialect === "acp" ? withOfferedOptions(server) : server;
}

/** The user's keys must not reach any command, and no provider other than the loopback may be contacted. */
function withoutKeys(environment: Readonly<Record<string, string>>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(environment).filter(
			([name]) => !/_(?:API_KEY|TOKEN|SECRET|BASE_URL)$|^KIMI_|^AGENTWIRE_|^XDG_/.test(name),
		),
	);
}
