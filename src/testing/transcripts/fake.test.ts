import { describe, expect, it } from "vitest";
import { expectedLines, readTranscripts } from "../../../test/support/transcripts/transcript-files.ts";
import { FreeComparison } from "./comparison.ts";
import { lineQueue } from "./connection.ts";
import { FakeServer } from "./fake.ts";
import { type Move, parseTranscript, type Transcript } from "./format.ts";
import { freedoms, type TranscriptDialect } from "./freedom.ts";
import { parseTemplate } from "./messages.ts";
import { createBindings } from "./placeholders.ts";
import { play } from "./play.ts";

interface Started {
	/** Sends a line; null ends the input. */
	send(line: object | string | null): void;
	read(): Promise<string | null>;
	/** What `serve` resolves with. */
	readonly over: Promise<string | null>;
}

function start(moves: readonly Move[], isStrict: boolean, dialect: TranscriptDialect = "wire"): Started {
	let arrive = (_line: string) => {};
	let end = () => {};
	const { read } = lineQueue((onLine, onEnd) => {
		arrive = onLine;
		end = onEnd;
	});
	let answer = (_line: string) => {};
	let close = () => {};
	const answers = lineQueue((onLine, onEnd) => {
		answer = onLine;
		close = onEnd;
	});
	const given = { "share-dir": "/share", version: "1" };
	const server = new FakeServer(
		{ read, send: (line) => answer(line) },
		{ freedom: freedoms[dialect], isStrict, given, workDir: "/work" },
	);
	const over = server.serve(moves).finally(close);
	return {
		send: (line) => (line === null ? end() : arrive(typeof line === "string" ? line : JSON.stringify(line))),
		read: answers.read,
		over,
	};
}

const dialectOf = ({ name, server }: Transcript): TranscriptDialect =>
	name.startsWith("legacy/")
		? "legacy"
		: server === "session"
			? "wire"
			: server === "meerkat" || server === "codex"
				? server
				: "acp";

/** Those of the dialects that it speaks whose client sends messages only. */
const fakeable = readTranscripts().filter(
	(transcript) =>
		transcript.server !== "claude" &&
		transcript.server !== "codex-exec" &&
		transcript.server !== "gateway" &&
		// Lines that stand for any members cannot be sent.
		expectedLines(transcript).every((line) => parseTemplate(line) !== undefined) &&
		transcript.conversations
			.flat()
			.every((move) => move.kind !== "send" || (move.repeat === 1 && move.bytes.startsWith('{"'))),
);

describe("a fake server", () => {
	it("speaks every golden transcript, to a client that does what is in it", async () => {
		expect(fakeable.length).toBeGreaterThan(300);
		for (const transcript of fakeable) {
			const dialect = dialectOf(transcript);
			const given = { "work-dir": "/work", "share-dir": "/share", version: "1" };
			const comparison = new FreeComparison(createBindings(given, { anyIds: true }), freedoms[dialect]);
			for (const moves of transcript.conversations) {
				const { send, read, over } = start(moves, true, dialect);
				await play({
					moves,
					server: {
						write(bytes) {
							for (const line of bytes.toString("utf8").trimEnd().split("\n")) send(line);
						},
						closeInput: () => send(null),
						read,
						exitCode: async () => 0,
						openGate: () => {},
						fileExists: async () => {},
					},
					comparison,
					patience: 1000,
					ending: "open",
				}).catch((thrown) => expect.fail(`${transcript.name}: ${thrown.message}`));
				send(null);
				expect([transcript.name, await over]).toEqual([transcript.name, null]);
			}
		}
	});

	const moves =
		parseTranscript(
			"kimi/x",
			[
				"--- conversation",
				'→ {"jsonrpc":"2.0","id":"p","method":"prompt","params":{"user_input":"Hi"}}',
				'← {"jsonrpc":"2.0","method":"request","id":"<uuid:1>","params":{"type":"ApprovalRequest","payload":{"id":"<uuid:1>"}}}',
				'→ {"jsonrpc":"2.0","id":"<uuid:1>","result":{"request_id":"<uuid:1>","response":"approve"}}',
				'← {"jsonrpc":"2.0","id":"p","result":{"status":"finished"}}',
			].join("\n"),
		).conversations[0] ?? [];
	const prompt = { jsonrpc: "2.0", id: "mine", method: "prompt", params: { user_input: "Hi" } };
	const approve = (id: unknown, response = "approve") => ({ jsonrpc: "2.0", id, result: { request_id: id, response } });

	it("answers under the client's ids, and waits for its replies", async () => {
		const { send, read, over } = start(moves, true);
		send(prompt);
		const { id } = JSON.parse((await read()) ?? "");
		expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
		send(approve(id));
		expect(JSON.parse((await read()) ?? "")).toEqual({ jsonrpc: "2.0", id: "mine", result: { status: "finished" } });
		send(null);
		expect(await over).toBeNull();
	});

	it("has the same values in every run", async () => {
		const [one, other] = [start(moves, true), start(moves, true)];
		for (const each of [one, other]) each.send(prompt);
		expect(await one.read()).toBe(await other.read());
	});

	it.each([
		[
			"another text",
			[{ ...prompt, params: { user_input: "Ho" } }],
			'line 2: /params/user_input: expected "Hi", not "Ho"',
		],
		[
			"another param",
			[{ ...prompt, params: { user_input: "Hi", more: 1 } }],
			"line 2: /params/more: expected nothing, not 1",
		],
		["another method", [{ ...prompt, method: "steer" }], "line 2: expected prompt, not steer"],
		["no message", ["hello"], "line 2: the client sent a line that is not a message"],
		["the end", [null], "line 2: the client ended its input"],
		["another reply", [prompt, approve("x")], "line 4: expected a reply to "],
	])("is strict about %s", async (_, sent, message) => {
		const { send, over } = start(moves, true);
		for (const line of sent) send(line);
		expect(await over).toContain(message);
	});

	it("is strict about the content of a reply and about what follows the end", async () => {
		for (const [response, next, message] of [
			["reject", null, 'line 4: /result/response: expected "approve", not "reject"'],
			["approve", prompt, "line 5: the transcript is over, and the client goes on"],
		] as const) {
			const { send, read, over } = start(moves, true);
			send(prompt);
			send(approve(JSON.parse((await read()) ?? "").id, response));
			send(next);
			expect(await over).toContain(message);
		}
	});

	it("otherwise refuses what it does not wait for, and goes on", async () => {
		const { send, read, over } = start(moves, false);
		send({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} });
		send({ jsonrpc: "2.0", method: "note" });
		expect(JSON.parse((await read()) ?? "")).toMatchObject({
			id: 1,
			error: { code: -32601, message: expect.stringContaining("waits for prompt") },
		});
		send({ ...prompt, params: { user_input: "Anything" } });
		const { id } = JSON.parse((await read()) ?? "");
		send(approve(id, "reject"));
		expect(JSON.parse((await read()) ?? "")).toMatchObject({ id: "mine" });
		send({ ...prompt, id: "again" });
		expect(JSON.parse((await read()) ?? "")).toMatchObject({
			id: "again",
			error: { message: "The transcript is over." },
		});
		send(null);
		expect(await over).toBeNull();
	});
});
