// Measures how long a provider's delta takes to become a ContentPart: a provider on loopback sends one at a time and
// waits for its line. Includes the sockets and pipes between the processes.
import { spawn } from "node:child_process";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Target } from "./child.ts";
import { median } from "./report.ts";

/** Deltas of one turn; the first few are not measured, because the adapter is being compiled. */
const deltaCount = 300;
const warmUp = 50;

interface Protocol {
	readonly type: string;
	readonly start: string;
	delta(text: string): string;
	readonly end: string;
}

const event = (...values: readonly object[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("");

const chat = {
	start: event({ id: "m", choices: [{ index: 0, delta: { role: "assistant" } }] }),
	delta: (content: string) => event({ id: "m", choices: [{ index: 0, delta: { content } }] }),
	end: event({ id: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
};

const gemini = {
	start: "",
	delta: (text: string) => event({ responseId: "m", candidates: [{ content: { role: "model", parts: [{ text }] } }] }),
	end: event({ responseId: "m", candidates: [{ finishReason: "STOP" }] }),
};

/** The stream of a text for each provider type. */
const protocols: readonly Protocol[] = [
	{ type: "kimi", ...chat },
	{ type: "openai_legacy", ...chat },
	{
		type: "openai_responses",
		start: event(
			{ type: "response.created", response: { id: "m", created_at: 1, model: "m" } },
			{ type: "response.output_item.added", output_index: 0, item: { type: "message", id: "i" } },
		),
		delta: (delta) => event({ type: "response.output_text.delta", output_index: 0, item_id: "i", delta }),
		end: event({ type: "response.completed", response: {} }),
	},
	{
		type: "anthropic",
		start: event(
			{ type: "message_start", message: { id: "m", usage: { input_tokens: 1, output_tokens: 1 } } },
			{ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
		),
		delta: (text) => event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
		end: event(
			{ type: "content_block_stop", index: 0 },
			{ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
			{ type: "message_stop" },
		),
	},
	{ type: "gemini", ...gemini },
	{ type: "vertexai", ...gemini },
];

/** The median of one turn for each provider type, in milliseconds. */
export async function measureDeltas(target: Target, workDir: string): Promise<ReadonlyMap<string, number>> {
	const medians = new Map<string, number>();
	for (const protocol of protocols) medians.set(protocol.type, await measureProvider(target, workDir, protocol));
	return medians;
}

async function measureProvider(target: Target, workDir: string, protocol: Protocol): Promise<number> {
	let answer: (response: ServerResponse) => void = () => {};
	const asked = new Promise<ServerResponse>((resolve) => {
		answer = resolve;
	});
	const server = createServer((request, response) => {
		request.resume();
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.socket?.setNoDelay(true);
		answer(response);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	const config = {
		default_model: "m",
		models: { m: { provider: "p", model: "m", max_context_size: 100_000 } },
		providers: { p: { type: protocol.type, base_url: `http://127.0.0.1:${port}`, api_key: "key-0123456789" } },
	};
	const [file, ...words] = target.command;
	const child = spawn(
		file,
		[...words, "--wire", "--work-dir", path.resolve(workDir), "--config", JSON.stringify(config)],
		{
			env: target.environment,
			stdio: ["pipe", "pipe", "ignore"],
		},
	);
	try {
		const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
		child.stdin.write('{"jsonrpc":"2.0","id":"p","method":"prompt","params":{"user_input":"go"}}\n');
		const response = await asked;
		response.write(protocol.start);
		const times: number[] = [];
		for (let count = 0; count < deltaCount; count += 1) {
			const sentAt = performance.now();
			response.write(protocol.delta(`part ${count}`));
			await lineWith(lines, `part ${count}"`);
			if (count >= warmUp) times.push(performance.now() - sentAt);
		}
		response.end(protocol.end);
		await lineWith(lines, '"id":"p"');
		return median(times);
	} finally {
		child.stdin.end();
		server.closeAllConnections();
		server.close();
		child.kill();
	}
}

async function lineWith(lines: AsyncIterator<string>, text: string): Promise<void> {
	for (;;) {
		const { done, value } = await lines.next();
		if (done === true) throw new Error(`The executable ended before ${text} came.`);
		if (value.includes(text)) return;
	}
}
