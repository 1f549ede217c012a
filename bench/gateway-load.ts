// Measures the gateway under load: a provider on loopback streams the answers of many sessions at once, at a fixed rate; how
// long until each delta is at a client, what it costs in memory, and whether anything was lost.
import { type ChildProcess, spawn } from "node:child_process";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { readTokens } from "../test/support/gateway/token-file.ts";
import { residentMemory, type Target } from "./child.ts";
import { inParallel } from "./parallel.ts";
import { percentile } from "./report.ts";

/** The load: sessions, the streams that share them among each other, and deltas of a session in a second. */
export interface GatewayLoad {
	readonly sessions: number;
	readonly streams: number;
	/** Whether every stream carries every session, instead of its share of them. */
	readonly isShared: boolean;
	/** Streams among them that do not read while the answers come. */
	readonly stalled: number;
	readonly rate: number;
	readonly seconds: number;
}

export interface GatewayMeasurement {
	/** Milliseconds from the provider's write to the client's read. */
	readonly median: number;
	readonly p99: number;
	/** Deltas that arrived at clients in a second, those that were merged into one event counted one by one. */
	readonly deltasPerSecond: number;
	/** Bytes of memory: before the answers, and at most. Null where the system does not report it. */
	readonly memory: { readonly before: number; readonly peak: number } | null;
	/** What the cursors and the texts say that is not right: empty. */
	readonly faults: readonly string[];
}

const now = () => performance.timeOrigin + performance.now();
const chunk = (delta: object, more: object = {}) =>
	`data: ${JSON.stringify({ id: "m", choices: [{ index: 0, delta, ...more }] })}\n\n`;
/** Of the deltas, with their number and the time at which they were written. */
const mark = /(\d+)@([\d.]+) /g;
/** Requests that are under way at once. */
const atOnce = 20;
/** The provider does not write to all sessions in the same moment. */
const slices = 10;

export async function measureGateway(target: Target, workDir: string, load: GatewayLoad): Promise<GatewayMeasurement> {
	const provider = await startProvider(load);
	const gateway = await startGateway(target, workDir, provider.port, load.sessions);
	const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
	try {
		const call = (method: string, params: object) => sendCall(gateway, agent, method, params);
		const ids = await inParallel(load.sessions, atOnce, async () =>
			String((await call("sessions.create", {}))["sessionId"]),
		);
		const streams = await inParallel(load.streams, atOnce, async (n) => {
			const share = load.isShared ? ids : ids.filter((_, index) => index % load.streams === n);
			return await openStream(gateway, share);
		});
		const before = residentMemory(gateway.child);
		for (const stream of streams.slice(0, load.stalled)) stream.pause();
		await inParallel(ids.length, atOnce, (n) => call("turn.start", { sessionId: ids[n], input: "go" }));
		await provider.allAsked;
		let peak = before;
		const looking = setInterval(() => {
			peak = Math.max(peak ?? 0, residentMemory(gateway.child) ?? 0);
		}, 100);
		const startedAt = now();
		await provider.stream();
		const seconds = (now() - startedAt) / 1000;
		// Those that read have the end of every turn; then the others read.
		await Promise.all(streams.slice(load.stalled).map((stream) => stream.ended()));
		for (const stream of streams.slice(0, load.stalled)) stream.resume();
		await Promise.all(streams.slice(0, load.stalled).map((stream) => stream.ended()));
		clearInterval(looking);
		const reading = streams.slice(load.stalled);
		const times = reading.flatMap(({ times: each }) => each);
		return {
			median: percentile(times, 0.5),
			p99: percentile(times, 0.99),
			deltasPerSecond: times.length / seconds,
			memory: before === null || peak === null ? null : { before, peak },
			faults: [
				...reading.flatMap((stream) => stream.faults(load.rate * load.seconds, true)),
				...streams.slice(0, load.stalled).flatMap((stream) => stream.faults(load.rate * load.seconds, false)),
			],
		};
	} finally {
		agent.destroy();
		gateway.child.kill("SIGKILL");
		provider.close();
	}
}

interface Provider {
	readonly port: number;
	/** Resolves when every session waits for its answer. */
	readonly allAsked: Promise<void>;
	/** Streams all answers; resolves when they are written. */
	stream(): Promise<void>;
	close(): void;
}

async function startProvider({ sessions, rate, seconds }: GatewayLoad): Promise<Provider> {
	const open: ServerResponse[] = [];
	let allAsked = () => {};
	const asked = new Promise<void>((resolve) => {
		allAsked = resolve;
	});
	const server = createServer((incoming, response) => {
		incoming.resume();
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.socket?.setNoDelay(true);
		response.write(chunk({ role: "assistant" }));
		open.push(response);
		if (open.length === sessions) allAsked();
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4096, resolve));
	const { port } = server.address() as AddressInfo;
	const write = (slice: number, content: string) => {
		for (let n = slice; n < open.length; n += slices) open[n]?.write(chunk({ content }));
	};
	return {
		port,
		allAsked: asked,
		async stream() {
			const step = 1000 / rate / slices;
			const startedAt = now();
			for (let beat = 0; beat < rate * seconds * slices; beat += 1) {
				const wait = startedAt + beat * step - now();
				if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
				write(beat % slices, `${Math.floor(beat / slices)}@${now().toFixed(2)} `);
			}
			for (const response of open) response.end(chunk({}, { finish_reason: "stop" }));
		},
		close() {
			server.closeAllConnections();
			server.close();
		},
	};
}

interface RunningGateway {
	readonly child: ChildProcess;
	readonly port: number;
	readonly token: string;
}

async function startGateway(
	{ command, environment }: Target,
	workDir: string,
	provider: number,
	turns: number,
): Promise<RunningGateway> {
	const config = {
		default_model: "m",
		models: { m: { provider: "p", model: "m", max_context_size: 1_000_000 } },
		providers: { p: { type: "kimi", base_url: `http://127.0.0.1:${provider}`, api_key: "key-0123456789" } },
		agentwire: { limits: { running_turns: turns, loaded_sessions: Math.max(1024, turns) } },
	};
	const [file, ...words] = command;
	const child = spawn(
		file,
		[
			...words,
			"serve",
			"--json",
			"--port",
			"0",
			"--work-dir",
			path.resolve(workDir),
			"--config",
			JSON.stringify(config),
		],
		{ env: environment, stdio: ["ignore", "pipe", "inherit"] },
	);
	for await (const line of createInterface({ input: child.stdout })) {
		const { url, tokens }: { url: string; tokens: string } = JSON.parse(line);
		return { child, port: Number(new URL(url).port), token: readTokens(tokens).control ?? "" };
	}
	throw new Error("The gateway ended before it served.");
}

function sendCall(
	{ port, token }: RunningGateway,
	agent: Agent,
	method: string,
	params: object,
): Promise<Record<string, unknown>> {
	const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
	return new Promise((resolve, reject) => {
		const sending = request(
			{
				host: "127.0.0.1",
				port,
				agent,
				method: "POST",
				path: "/rpc",
				headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
			},
			(response) => {
				let text = "";
				response.setEncoding("utf8");
				response.on("data", (piece: string) => {
					text += piece;
				});
				response.on("end", () => {
					const answer: { result?: Record<string, unknown>; error?: { message: string } } = JSON.parse(text);
					if (answer.result === undefined) reject(new Error(`${method}: ${answer.error?.message}`));
					else resolve(answer.result);
				});
			},
		);
		sending.on("error", reject);
		sending.end(body);
	});
}

interface Carried {
	/** The number of the last stored event. */
	seq: number;
	/** What was streamed, and what was complete in the end. */
	streamed: string;
	whole: string;
	hasEnded: boolean;
}

/** One stream of events, its clock and its oracle. */
class MeasuredStream {
	readonly times: number[] = [];
	readonly #response: IncomingMessage;
	readonly #sessions: Map<string, Carried>;
	readonly #faults: string[] = [];
	#rest = "";
	#left: number;
	#onEnd = () => {};

	constructor(response: IncomingMessage, ids: readonly string[]) {
		this.#response = response;
		this.#sessions = new Map(ids.map((id) => [id, { seq: 0, streamed: "", whole: "", hasEnded: false }]));
		this.#left = ids.length;
		response.setEncoding("utf8");
		response.on("data", (text: string) => this.#take(text));
		response.on("close", () => this.#onEnd());
	}

	pause(): void {
		this.#response.pause();
	}

	resume(): void {
		this.#response.resume();
	}

	/** Resolves when every session's turn has ended, or the connection did. */
	ended(): Promise<void> {
		if (this.#left === 0 || this.#response.destroyed) return Promise.resolve();
		return new Promise((resolve) => {
			this.#onEnd = resolve;
		});
	}

	/** What is not as it has to be; a stream that read has every delta too. */
	faults(count: number, hasRead: boolean): readonly string[] {
		const found = [...this.#faults];
		for (const [id, { streamed, whole, hasEnded }] of this.#sessions) {
			if (!hasEnded) found.push(`${id}: the turn has no end`);
			const numbers = [...whole.matchAll(mark)].map(([, number]) => Number(number));
			if (numbers.length !== count || numbers.some((number, index) => number !== index)) {
				found.push(`${id}: the answer has ${numbers.length} of ${count} deltas`);
			}
			if (hasRead && streamed !== whole) found.push(`${id}: the pieces are not the answer`);
		}
		return found;
	}

	#take(text: string): void {
		const at = now();
		const blocks = (this.#rest + text).split("\n\n");
		this.#rest = blocks.pop() ?? "";
		for (const block of blocks) {
			const start = block.indexOf("data: ");
			if (start !== -1) this.#takeEvent(JSON.parse(block.slice(start + 6)), at);
		}
	}

	#takeEvent(data: Record<string, unknown>, at: number): void {
		const carried = this.#sessions.get(String(data["sessionId"]));
		if (carried === undefined) return;
		const { type, seq, part } = data as { type?: string; seq?: number; part?: { type: string; text?: string } };
		if (seq !== undefined) {
			if (seq !== carried.seq + 1) this.#faults.push(`event ${seq} follows event ${carried.seq}`);
			carried.seq = seq;
		}
		if (type === "content.delta" && part?.text !== undefined) {
			carried.streamed += part.text;
			for (const [, , time] of part.text.matchAll(mark)) this.times.push(at - Number(time));
		}
		if (type === "content.completed" && part?.text !== undefined) carried.whole += part.text;
		if (type !== "turn.ended" || carried.hasEnded) return;
		carried.hasEnded = true;
		this.#left -= 1;
		if (this.#left === 0) this.#onEnd();
	}
}

function openStream({ port, token }: RunningGateway, ids: readonly string[]): Promise<MeasuredStream> {
	return new Promise((resolve, reject) => {
		const sending = request(
			{
				host: "127.0.0.1",
				port,
				agent: false,
				path: `/events?sessions=${ids.map(encodeURIComponent).join()}&role=observe`,
				headers: { authorization: `Bearer ${token}` },
			},
			(response) => {
				if (response.statusCode === 200) resolve(new MeasuredStream(response, ids));
				else reject(new Error(`A stream was refused with ${response.statusCode}.`));
			},
		);
		sending.on("error", reject);
		sending.end();
	});
}
