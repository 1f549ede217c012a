// A client that reads slowly while a long answer streams: memory stays bounded, nothing is lost, and what the program does
// for another session does not wait for the reader.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { outboxLimit } from "../../src/ports/transports/stdio.ts";
import { createStage, type Stage } from "../support/executable/executable.ts";
import { isResponse, lastOf, type Server, type ServerLine } from "../support/executable/running-server.ts";
import { createSession, eventOf } from "../support/meerkat/meerkat-client.ts";

const megabyte = 1024 * 1024;
const pieces = Array.from({ length: 100_000 }, (_, n) => `${n}.`);
/** Bytes a second. */
const slowly = 64 * 1024;
/** What a pipe or a pair of sockets holds at most, and what one session may add to an outbox that has room. */
const beyondOutbox = 256 * 1024 + 64 * 1024;

interface Dialect {
	readonly flag: string;
	/** Makes what the long answer is asked of. */
	open(server: Server): Promise<string>;
	/** Asks for the answer under the id `long`. */
	ask(server: Server, session: string): void;
	/** The text that a line adds to the answer; null for any other line. */
	textOf(line: ServerLine): string | null;
	/** Whether the line is the last event of the answer. */
	isEnd(line: ServerLine): boolean;
}

const meerkat: Dialect = {
	flag: "rpc",
	open: (server) => createSession(server, { model: "long" }),
	ask: (server, session) => server.request("long", "turn/start", { session_id: session, prompt: "go" }),
	textOf: (line) => (eventOf(line)["type"] === "text_delta" ? String(eventOf(line)["delta"]) : null),
	isEnd: (line) => eventOf(line)["type"] === "run_completed",
};

const kimi: Dialect = {
	flag: "--wire",
	open: async () => "",
	ask: (server) => server.prompt("go", "long"),
	textOf: ({ params }) => (params?.type === "ContentPart" ? String(params.payload["text"]) : null),
	isEnd: ({ params }) => params?.type === "TurnEnd",
};

/** A server with the model `long`, which is the default one and answers in many pieces, and the model `short`. */
function serve(stage: Stage, flag: string): Server {
	const { models, providers } = JSON.parse(stage.configText);
	const entries = Object.entries({ long: pieces.map((piece) => `text: ${piece}`).join("\n"), short: "text: short" });
	for (const [name, script] of entries) {
		const file = path.join(stage.shareDir, `${name}.json`);
		writeFileSync(file, JSON.stringify([script]));
		models[name] = { ...models.m, provider: name };
		providers[name] = { ...providers.p, env: { KIMI_SCRIPTED_ECHO_SCRIPTS: file } };
	}
	return stage.serve(flag, "--config", JSON.stringify({ default_model: "long", models, providers }));
}

/** Resident memory in bytes: now, or the most there was. */
function memory(server: Server, which: "VmRSS" | "VmHWM" = "VmRSS"): number {
	const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
	return Number(new RegExp(`^${which}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024;
}

/** Reads to the response, of which all lines are given with those read before. */
async function readOn(server: Server, before: readonly ServerLine[]): Promise<readonly ServerLine[]> {
	return [...before, ...(await server.readUntil((line) => isResponse(line, "long")))];
}

function expectWhole(lines: readonly ServerLine[], { textOf, isEnd }: Dialect): void {
	const texts = lines.flatMap((line) => textOf(line) ?? []);
	// Compared by hand: what differs in so many would take minutes to print.
	expect(texts.findIndex((text, index) => text !== pieces[index])).toBe(-1);
	expect(texts).toHaveLength(pieces.length);
	const last = lastOf(lines);
	expect(last.error).toBeUndefined();
	expect(lines.findIndex(isEnd)).toBe(lines.indexOf(last) - 1);
}

describe.skipIf(process.platform !== "linux")("a reader of 64 KB a second during an answer of 100,000 pieces", () => {
	it.each([
		["rpc", meerkat],
		["--wire", kimi],
	])(
		"costs no memory and loses nothing: %s",
		async (_, dialect) => {
			const fast = serve(createStage(), dialect.flag);
			dialect.ask(fast, await dialect.open(fast));
			expectWhole(await readOn(fast, []), dialect);

			const slow = serve(createStage(), dialect.flag);
			const session = await dialect.open(slow);
			slow.readAt(slowly);
			dialect.ask(slow, session);
			const lines = await slow.readUntil((line) => dialect.textOf(line) !== null);
			const atFirst = memory(slow);
			const readAtFirst = slow.bytesRead;
			const samples: number[] = [];
			while (slow.bytesRead - readAtFirst < 3 * slowly) {
				await wait(50);
				samples.push(memory(slow));
			}
			expect(Math.max(...samples) - atFirst).toBeLessThan(32 * megabyte);
			expect(memory(slow, "VmHWM") / memory(fast, "VmHWM")).toBeLessThan(1);
			slow.readAt(null);
			expectWhole(await readOn(slow, lines), dialect);
			expect(memory(slow, "VmHWM") / memory(fast, "VmHWM")).toBeLessThan(1.25);
		},
		60_000,
	);

	it("does not delay another session, whose events follow what was queued before them", async () => {
		const stage = createStage();
		const server = serve(stage, "rpc");
		const long = await createSession(server, { model: "long" });
		const short = await createSession(server, { model: "short" });
		server.readAt(slowly);
		meerkat.ask(server, long);
		const lines = await server.readUntil((line) => meerkat.textOf(line) !== null);
		// By now more is queued than is read in a second.
		await wait(500);

		const asked = performance.now();
		const readBefore = server.bytesRead;
		server.request("short", "turn/start", { session_id: short, prompt: "now" });
		const log = path.join(stage.sessionDir(short), "wire.jsonl");
		while (!existsSync(log) || !readFileSync(log, "utf8").includes('"TurnEnd"')) await wait(2);
		const worked = performance.now() - asked;
		const isShort = (type: string) => (line: ServerLine) =>
			eventOf(line)["type"] === type && JSON.stringify(line).includes(short);
		lines.push(...(await server.readUntil(isShort("run_started"))));
		const seen = performance.now() - asked;
		expect(worked).toBeLessThan(seen / 2);
		expect(server.bytesRead - readBefore).toBeLessThan(outboxLimit + beyondOutbox);
		lines.push(...(await server.readUntil((line) => isResponse(line, "short"))));
		expect(lastOf(lines).result).toMatchObject({ text: "short" });
		expect(server.bytesRead - readBefore).toBeLessThan(2 * outboxLimit + beyondOutbox);

		server.readAt(null);
		const all = await readOn(server, lines);
		const others = all.filter((line) => !JSON.stringify(line).includes(short));
		expectWhole(others, meerkat);
		expect(all.some((line) => line.id === "long" && isShort("run_completed")(line))).toBe(false);
	}, 60_000);
});
