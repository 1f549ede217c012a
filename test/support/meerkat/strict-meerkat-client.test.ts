import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { MeerkatClient } from "./strict-meerkat-client.ts";

const id = "01936f8a-7b2c-7000-8000-000000000001";
const event = (payload: object, more: object = {}, source: object = {}) => ({
	jsonrpc: "2.0",
	method: "session/event",
	params: {
		session_id: id,
		event: {
			event_id: id,
			source: { type: "session", session_id: id, ...source },
			seq: 1,
			timestamp_ms: 1,
			payload,
			...more,
		},
	},
});
const run = { session_id: id, text: "", turns: 1, tool_calls: 0, usage: { input_tokens: 0, output_tokens: 0 } };
const answer = (result: object = run, requestId: unknown = 3) => ({ jsonrpc: "2.0", id: requestId, result });
const line = (value: object) => `${JSON.stringify(value)}\n`;

/** Connects to a program that shakes hands and then, asked for a session, says this. */
async function createSession(said: string, contract_version = "0.8.26"): Promise<unknown> {
	const workDir = mkdtempSync(path.join(tmpdir(), "agentwire-strict-"));
	onTestFinished(() => rmSync(workDir, { recursive: true, force: true }));
	const executable = path.join(workDir, "rkat-rpc");
	const capabilities = [{ id: "sessions", description: "Sessions.", status: "Available" }];
	const handshake = [line(answer({ contract_version, methods: [] }, 1)), line(answer({ capabilities }, 2))];
	const script = `#!${process.execPath}
const said = ${JSON.stringify([...handshake, said])};
require("node:readline").createInterface({ input: process.stdin }).on("line", () => process.stdout.write(said.shift() ?? ""));
`;
	writeFileSync(executable, script, { mode: 0o755 });
	const client = await MeerkatClient.connect({ workDir, environment: {} }, { era: "contract", executable });
	return await client.createSession("go");
}

describe("the strict client", () => {
	it("accepts valid lines", async () => {
		const started = event({ type: "run_started", session_id: id, prompt: "go" });
		expect(await createSession(line(started) + line(answer()))).toEqual(run);
	});

	it.each([
		["a line of a log", `started\n${line(answer())}`],
		["a blank line", `\n${line(answer())}`],
		["an id that became text", line(answer(run, "3"))],
		["an answer to nothing", line(answer(run, 4))],
		["a notification with an id", line({ ...event({ type: "turn_started", turn_number: 0 }), id: null })],
		["a request it does not know", line({ jsonrpc: "2.0", id: "a", method: "approval/request", params: {} })],
		["a type of event it does not know", line(event({ type: "checkpoint_saved" }))],
		["an event without what belongs to it", line(event({ type: "run_failed", session_id: id, error: "no" }))],
		["an event in no envelope", line({ ...event({}), params: { session_id: id, event: { type: "text_delta" } } })],
		["an event id in capitals", line(event({ type: "turn_started", turn_number: 0 }, { event_id: id.toUpperCase() }))],
		[
			"an event of another session",
			line(event({ type: "turn_started", turn_number: 0 }, {}, { session_id: id.replace("1", "2") })),
		],
		["a time that is no integer", line(event({ type: "turn_started", turn_number: 0 }, { timestamp_ms: 1.5 }))],
		["an event again", line(event({ type: "turn_started", turn_number: 0 })).repeat(2)],
		["a result without text", line(answer({ ...run, text: null }))],
		["a line separator", `${JSON.stringify(answer({ ...run, text: "\u2028" }))}\n`],
	])("stops at %s", async (_name, said) => {
		await expect(createSession(said)).rejects.toThrow();
	});

	it.each(["0.1.0", "0.7.9", "1.0.0"])("refuses the contract %s", async (version) => {
		await expect(createSession(line(answer()), version)).rejects.toThrow(/contract_version/);
	});
});
