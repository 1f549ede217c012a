// Measures one process with many sessions that all stream at once over stdin and stdout: how long until each delta of a
// provider on loopback is in the pipe to the client. The provider is a process of its own.
import { spawn } from "node:child_process";
import { residentMemory, type Target } from "./child.ts";
import { startHelper } from "./gateway/helper.ts";
import type { GatewayLoad } from "./gateway/loads.ts";
import { deltaMark } from "./gateway/measured-stream.ts";
import type { ProviderReport, ProviderRequest } from "./gateway/measurement.ts";
import { monotonicTime } from "./gateway/process.ts";
import { toSettings } from "./gateway/server.ts";
import { inParallel } from "./parallel.ts";
import { killTree } from "./process-tree.ts";
import { processorTime } from "./processor-time.ts";
import { percentile } from "./report.ts";

export interface StreamingMeasurement {
	/** Milliseconds from the provider's write to the client's read. */
	readonly median: number;
	readonly p99: number;
	/** Microseconds of one core for each delta, from the first to the end of the last turn; null where the system does not report it. */
	readonly cost: number | null;
	/** Milliseconds by which the provider itself was late, in 99 of 100 of its writes at most. */
	readonly late: number;
	/** Bytes of memory at most; null where the system does not report it. */
	readonly peak: number | null;
	/** Deltas that did not arrive once and in order: none. */
	readonly faults: readonly string[];
}

/** Requests that are under way at once. */
const atOnce = 20;

export async function measureStreaming(
	target: Target,
	workDir: string,
	load: GatewayLoad,
): Promise<StreamingMeasurement> {
	const { child: helper, peer: provider } = startHelper<ProviderReport, ProviderRequest>("provider.ts");
	const { sessions, rate, warmUp, seconds } = load;
	provider.send({ kind: "begin", load });
	const { port } = await provider.next("listening");
	const client = startClient(target, workDir, port, sessions);
	try {
		const ids = await inParallel(sessions, atOnce, async () => {
			const created = await client.call("session/create", { prompt: "", initial_turn: "deferred" });
			return String(created["session_id"]);
		});
		const turns = ids.map((session_id) => client.call("turn/start", { session_id, prompt: "go" }));
		await provider.next("asked");
		client.postpone();
		const usedBefore = processorTime(client.child);
		let peak = 0;
		const looking = setInterval(() => {
			peak = Math.max(peak, residentMemory(client.child) ?? 0);
		}, 100);
		provider.send({ kind: "stream" });
		const { late } = await provider.next("streamed");
		client.read();
		await Promise.all(turns);
		clearInterval(looking);
		const used = processorTime(client.child);
		const deltas = client.deltas();
		const count = rate * (warmUp + seconds);
		const times = [...deltas.values()].flatMap((marks) =>
			marks.filter(({ number }) => number >= rate * warmUp).map(({ time }) => time),
		);
		return {
			median: percentile(times, 0.5),
			p99: percentile(times, 0.99),
			cost: used === null || usedBefore === null ? null : ((used - usedBefore) * 1_000_000) / (sessions * count),
			late,
			peak: peak === 0 ? null : peak,
			faults: ids.flatMap((id) => {
				const numbers = (deltas.get(id) ?? []).map(({ number }) => number);
				const isWhole = numbers.length === count && numbers.every((number, index) => number === index);
				return isWhole ? [] : [`${id}: ${numbers.length} of ${count} deltas, or not in order`];
			}),
		};
	} finally {
		killTree(client.child);
		helper.kill("SIGKILL");
	}
}

interface Delta {
	readonly number: number;
	/** Milliseconds from the provider's write to the client's read. */
	readonly time: number;
}

interface Message {
	readonly id?: string;
	readonly params?: { readonly session_id: string; readonly event: { readonly type: string; readonly delta?: string } };
	readonly result?: Record<string, unknown>;
	readonly error?: { readonly message: string };
}

/** A client that can note what arrives, and when, and read it later: reading does not delay what is measured then. */
function startClient({ name, command, environment }: Target, workDir: string, port: number, sessions: number) {
	const settings = toSettings(port, sessions, { requests_in_flight: sessions + atOnce });
	const [file, ...words] = command;
	const child = spawn(file, [...words, "rpc", "--work-dir", workDir, "--config", settings], {
		env: environment,
		stdio: ["pipe", "pipe", "inherit"],
	});
	const open = new Map<string, { resolve(result: Record<string, unknown>): void; reject(error: Error): void }>();
	const deltas = new Map<string, Delta[]>();
	const noted: { readonly text: string; readonly at: number }[] = [];
	let isPostponed = false;
	let rest = "";
	let count = 0;
	const take = (line: string, at: number) => {
		const { id = "", params, result, error }: Message = JSON.parse(line);
		if (params?.event.type === "text_delta") {
			const marks = deltas.get(params.session_id) ?? [];
			deltas.set(params.session_id, marks);
			for (const [, number, time] of params.event.delta?.matchAll(deltaMark) ?? [])
				marks.push({ number: Number(number), time: at - Number(time) });
		}
		const request = open.get(id);
		open.delete(id);
		if (error === undefined) request?.resolve(result ?? {});
		else request?.reject(new Error(`${name}: ${error.message}`));
	};
	const readNoted = () => {
		for (const { text, at } of noted.splice(0)) {
			const lines = (rest + text).split("\n");
			rest = lines.pop() ?? "";
			for (const line of lines) take(line, at);
		}
	};
	child.stdout.setEncoding("utf8");
	child.stdout.on("data", (text: string) => {
		noted.push({ text, at: monotonicTime() });
		if (!isPostponed) readNoted();
	});
	child.stdin.on("error", () => {});
	child.on("close", (code) => {
		for (const { reject } of open.values()) reject(new Error(`${name} ended early (${code}).`));
	});
	return {
		child,
		call: (method: string, params: object): Promise<Record<string, unknown>> =>
			new Promise((resolve, reject) => {
				count += 1;
				const id = String(count);
				open.set(id, { resolve, reject });
				child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
			}),
		/** From now on what arrives is noted. */
		postpone() {
			isPostponed = true;
		},
		/** Reads what was noted, and from now on what arrives. */
		read() {
			isPostponed = false;
			readNoted();
		},
		deltas: () => deltas,
	};
}
