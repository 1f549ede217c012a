// Writes sessions with a history, in the program's format: one of many messages to resume, one of a long log to replay,
// one of many small events to load.
import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, statSync, writeFileSync, writeSync } from "node:fs";
import path from "node:path";

export const messageCount = 5000;
/** Bytes of the replayed log. */
export const logSize = 50_000_000;
/** Events of the log that is loaded. */
export const eventCount = 10_000;

export const manyMessages = "11111111-1111-4111-8111-111111111111";
export const longLog = "22222222-2222-4222-8222-222222222222";
export const manyEvents = "33333333-3333-4333-8333-333333333333";

const sentence = "The quick brown fox jumps over the lazy dog. ";

/** Writes the sessions of a work dir into a share directory. */
export function writeLongSessions(shareDir: string, workDir: string): void {
	const hash = createHash("md5").update(workDir).digest("hex");
	const make = (id: string): string => {
		const directory = path.join(shareDir, "sessions", hash, id);
		mkdirSync(directory, { recursive: true });
		writeFileSync(path.join(directory, "state.json"), JSON.stringify({ version: 1, custom_title: "long" }));
		return directory;
	};
	writeFileSync(path.join(make(manyMessages), "context.jsonl"), contextText());
	for (const [id, isWhole] of [
		[longLog, (_: number, bytes: number) => bytes >= logSize],
		[manyEvents, (events: number) => events >= eventCount],
	] as const) {
		const directory = make(id);
		writeFileSync(path.join(directory, "context.jsonl"), '{"role": "_system_prompt", "content": "Be brief."}\n');
		writeLog(path.join(directory, "wire.jsonl"), isWhole);
	}
}

/** Bytes of the log of a session. */
export function logSizeOf(shareDir: string, workDir: string, id: string): number {
	const hash = createHash("md5").update(workDir).digest("hex");
	return statSync(path.join(shareDir, "sessions", hash, id, "wire.jsonl")).size;
}

/** Questions, each answered after one call: four messages of half a kilobyte or so. */
function contextText(): string {
	const lines: unknown[] = [{ role: "_system_prompt", content: "Be brief." }];
	for (let n = 0; n < messageCount / 4; n += 1) {
		const call = { type: "function", id: `c${n}`, function: { name: "ReadFile", arguments: '{"path":"a.txt"}' } };
		lines.push(
			{ role: "_checkpoint", id: n },
			{ role: "user", content: `Question ${n}. ${sentence.repeat(4)}` },
			{
				role: "assistant",
				content: [{ type: "think", think: sentence.repeat(6), encrypted: null }],
				tool_calls: [call],
			},
			{ role: "tool", content: [{ type: "text", text: sentence.repeat(24) }], tool_call_id: `c${n}` },
			{ role: "assistant", content: `Answer ${n}. ${sentence.repeat(12)}` },
			{ role: "_usage", token_count: 100 },
		);
	}
	return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** Turns of five events each, until the log is whole. */
function writeLog(file: string, isWhole: (events: number, bytes: number) => boolean): void {
	const status = { context_usage: 0.1, context_tokens: 100, max_context_tokens: 1000, plan_mode: false };
	const handle = openSync(file, "w");
	let written = writeSync(handle, '{"type": "metadata", "protocol_version": "1.10"}\n');
	for (let n = 0; !isWhole(n * 5, written); n += 1) {
		const messages = [
			{ type: "TurnBegin", payload: { user_input: `Question ${n}` } },
			{ type: "StepBegin", payload: { n: 1 } },
			{ type: "ContentPart", payload: { type: "text", text: sentence.repeat(24) } },
			{ type: "StatusUpdate", payload: status },
			{ type: "TurnEnd", payload: {} },
		];
		const lines = messages.map((message) => JSON.stringify({ timestamp: 1_795_209_584.5 + n, message }));
		written += writeSync(handle, `${lines.join("\n")}\n`);
	}
	closeSync(handle);
}
