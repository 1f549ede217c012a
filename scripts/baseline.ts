// Keeps what a release is held to: `npx tsx scripts/baseline.ts 0.2.0` writes test/baselines/0.2.0 with a checksum of each golden
// transcript and session fixture, and session directories of this build with what a client is shown of them. Then remove the
// oldest of three baselines. test/baselines/README.md says how they are used.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { more } from "../src/testing/transcripts/comparison.ts";
import type { Move, Transcript } from "../src/testing/transcripts/format.ts";
import { checksums } from "../test/support/transcripts/baselines.ts";
import { readTranscripts } from "../test/support/transcripts/transcript-files.ts";
import type { ToComparison } from "../test/support/transcripts/transcript-play.ts";
import { playOverProcess } from "../test/support/transcripts/transcript-process.ts";

/** The golden transcripts whose sessions are kept. */
const kept = ["kimi/resume-and-replay", "kimi/question-answered", "kimi/subagent", "kimi/cancel-tool"];

const replay: readonly Move[] = [
	{ kind: "send", line: 1, bytes: '{"jsonrpc":"2.0","id":"r","method":"replay"}\n', repeat: 1 },
	{ kind: "receive", line: 2, text: "the lines of the replay" },
];

/** Takes every line up to the result. */
const recording =
	(lines: string[]): ToComparison =>
	({ fill }) => ({
		fill,
		isOptional: () => false,
		differenceOf(_, line) {
			lines.push(line);
			return line.includes('"result"') ? null : more;
		},
		prepare: (moves) => moves,
	});

async function sessionOf(transcript: Transcript): Promise<string> {
	const files = new Map<string, string>();
	await playOverProcess(
		{ ...transcript, conversations: transcript.conversations.slice(0, 1) },
		undefined,
		async ({ sessionDir, workDir, shareDir }) => {
			for (const entry of readdirSync(sessionDir, { recursive: true, withFileTypes: true })) {
				if (!entry.isFile()) continue;
				const file = path.join(entry.parentPath, entry.name);
				const text = readFileSync(file, "utf8").replaceAll(workDir, "<work-dir>").replaceAll(shareDir, "<share-dir>");
				if (text.trim() !== "") files.set(path.relative(sessionDir, file), text);
			}
		},
	);
	const lines: string[] = [];
	let workDir = "";
	const stored = { ...transcript, sessionFiles: files, conversations: [replay], scripts: [] };
	await playOverProcess(stored, recording(lines), async (place) => {
		workDir = place.workDir;
	});
	return [
		transcript.title,
		"=".repeat(transcript.title.length),
		"Its session, as this release stored it, is replayed and continued.",
		"",
		"--- script",
		"text: And on.",
		"",
		...[...files].flatMap(([name, text]) => [`--- session ${name}`, text]),
		"--- conversation",
		'→ {"jsonrpc":"2.0","id":"r","method":"replay"}',
		...lines.map((line) => `← ${line.replaceAll(workDir, "<work-dir>")}`),
		'→ {"jsonrpc":"2.0","id":"p","method":"prompt","params":{"user_input":"go on"}}',
		'← {"jsonrpc":"2.0","method":"event","params":{"type":"TurnBegin","payload":{"user_input":"go on"}}}',
		'← {"jsonrpc":"2.0","method":"event","params":{"type":"StepBegin","payload":{"n":1}}}',
		'← {"jsonrpc":"2.0","method":"event","params":{"type":"ContentPart","payload":{"type":"text","text":"And on."}}}',
		'← {"jsonrpc":"2.0","method":"event","params":{"type":"StatusUpdate","payload":<any>}}',
		'← {"jsonrpc":"2.0","method":"event","params":{"type":"TurnEnd","payload":{}}}',
		'← {"jsonrpc":"2.0","id":"p","result":{"status":"finished"}}',
		"",
	].join("\n");
}

const [version] = process.argv.slice(2);
if (version === undefined) throw new Error("Name the release: npx tsx scripts/baseline.ts 0.2.0");
const directory = fileURLToPath(new URL(`../test/baselines/${version}/`, import.meta.url));
mkdirSync(path.join(directory, "sessions"), { recursive: true });
writeFileSync(
	path.join(directory, "checksums.txt"),
	checksums()
		.map(([file, sum]) => `${sum} ${file}\n`)
		.join(""),
);
for (const transcript of readTranscripts().filter(({ name }) => kept.includes(name))) {
	writeFileSync(path.join(directory, "sessions", `${path.basename(transcript.name)}.txt`), await sessionOf(transcript));
}
