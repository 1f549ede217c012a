import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, get, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createBareRelay } from "../targets.ts";
import { openStream } from "./measured-stream.ts";
import { type RunningServer, sendCall, startServer } from "./server.ts";

let folder: string;
let provider: Server;
let agent: Agent;
let relay: RunningServer;
/** The answers that sessions wait for, in order. */
let answers: ServerResponse[];

beforeEach(async () => {
	folder = mkdtempSync(path.join(tmpdir(), "bare-relay-"));
	agent = new Agent({ keepAlive: true });
	answers = [];
	provider = createServer((request, response) => {
		request.resume();
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.write(toChunk({ role: "assistant" }));
		answers.push(response);
		provider.emit("asked");
	});
	await once(provider.listen(0, "127.0.0.1"), "listening");
	const address = provider.address();
	if (address === null || typeof address === "string") throw new Error("The provider has no port.");
	relay = await startServer(createBareRelay(folder), folder, address.port, 1);
});

afterEach(() => {
	relay.child.kill("SIGKILL");
	agent.destroy();
	provider.closeAllConnections();
	provider.close();
	rmSync(folder, { recursive: true, force: true });
});

const toChunk = (delta: object): string => `data: ${JSON.stringify({ id: "m", choices: [{ index: 0, delta }] })}\n\n`;
const toDelta = (number: number, filling = ""): string => toChunk({ content: `${filling}${number}@1.00 ` });

async function createSession(): Promise<string> {
	return String((await sendCall(relay, agent, "sessions.create", {}))["sessionId"]);
}

/** Starts a turn; resolves with what the provider answers it with. */
async function startTurn(sessionId: string): Promise<ServerResponse> {
	const asked = once(provider, "asked");
	await sendCall(relay, agent, "turn.start", { sessionId, input: "go" });
	await asked;
	const answer = answers.at(-1);
	if (answer === undefined) throw new Error("The provider was not asked.");
	return answer;
}

interface StreamEvent {
	readonly type: string;
	readonly seq?: number;
	readonly part?: { readonly type: string; readonly text: string };
}

/** A stream of one session, for so many bytes that they are parsed in the end only. */
async function openRaw(session: string): Promise<IncomingMessage> {
	const headers = { authorization: `Bearer ${relay.token}` };
	const [response]: IncomingMessage[] = await once(
		get({ host: "127.0.0.1", port: relay.port, path: `/events?sessions=${session}`, headers, agent: false }),
		"response",
	);
	if (response?.statusCode !== 200) throw new Error("There is no stream.");
	return response.setEncoding("utf8");
}

/** Its events up to the end of the turn. */
async function readTurn(response: IncomingMessage): Promise<readonly StreamEvent[]> {
	const pieces: string[] = [];
	for await (const piece of response) {
		pieces.push(piece);
		if (pieces.slice(-2).join("").includes('"turn.ended"')) break;
	}
	const blocks = pieces.join("").split("\n\n").slice(0, -1);
	return blocks.map((block) => JSON.parse(block.slice(block.indexOf("data: ") + 6)));
}

it("gives each stream of a session every delta, the answer and its end, in order", async () => {
	const [first, second] = [await createSession(), await createSession()];
	const both = await openStream(relay, [first, second], 1);
	const one = await openStream(relay, [first], 0);
	for (const session of [first, second]) {
		const answer = await startTurn(session);
		answer.write(toDelta(0));
		answer.write(toDelta(1) + toDelta(2).slice(0, 9));
		answer.end(`${toDelta(2).slice(9)}${toChunk({})}data: [DONE]\n\n`);
	}
	await Promise.all([both.ended(), one.ended()]);
	expect(both.faults(3, true)).toEqual([]);
	expect(one.faults(3, true)).toEqual([]);
	expect(both.times).toHaveLength(4);
	expect(one.times).toHaveLength(3);
	// So that nothing would be found where there is nothing to find.
	expect(one.faults(4, true)).toEqual([`${first}: the answer has 3 of 4 deltas`]);
});

it("keeps every stored event for a client that does not read, and drops deltas instead of filling its memory", async () => {
	const session = await createSession();
	const [stalled, reading] = [await openRaw(session), await openRaw(session)];
	stalled.pause();
	const answer = await startTurn(session);
	const count = 1600;
	const filling = "x".repeat(10_000);
	for (let number = 0; number < count; number += 1) {
		if (!answer.write(toDelta(number, filling))) await once(answer, "drain");
	}
	answer.end("data: [DONE]\n\n");
	await readTurn(reading);
	const events = await readTurn(stalled);
	expect(events.filter(({ type }) => type === "content.delta").length).toBeLessThan(count);
	expect(events.flatMap(({ type, seq }) => (seq === undefined ? [] : [[seq, type]]))).toEqual([
		[1, "turn.started"],
		[2, "content.completed"],
		[3, "turn.ended"],
	]);
	const whole = Array.from({ length: count }, (_, number) => `${filling}${number}@1.00 `).join("");
	expect(events.find(({ type }) => type === "content.completed")?.part?.text === whole).toBe(true);
});

it("refuses clients without its token", async () => {
	const stranger = { ...relay, token: "0".repeat(64) };
	await expect(openStream(stranger, [await createSession()], 0)).rejects.toThrow("A stream was refused with 401.");
});
