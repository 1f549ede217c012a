// The provider of the campaign: speaks chat completions, and answers each request by the plan in its last prompt.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import * as v from "valibot";
import { fromPrompt, type Plan } from "./plan.ts";

const requestSchema = v.object({
	messages: v.array(
		v.object({
			role: v.string(),
			content: v.optional(v.unknown()),
			tool_calls: v.optional(v.array(v.unknown()), () => []),
		}),
	),
});
type Messages = v.InferOutput<typeof requestSchema>["messages"];

export interface CampaignProvider {
	readonly url: string;
	/** Requests that were answered. */
	readonly answered: number;
	close(): Promise<void>;
}

/** `effects` is the file to which each call appends its id. */
export async function startProvider(effects: string): Promise<CampaignProvider> {
	let answered = 0;
	let asked = 0;
	const server = createServer(async (request, response) => {
		response.on("error", () => {});
		const pieces: Buffer[] = [];
		try {
			for await (const piece of request) pieces.push(piece);
		} catch {
			// The program that asked is gone.
			return;
		}
		const { messages } = v.parse(requestSchema, JSON.parse(Buffer.concat(pieces).toString("utf8")));
		asked += 1;
		await answer(response, messages, effects, asked);
		answered += 1;
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("no port");
	return {
		url: `http://127.0.0.1:${address.port}`,
		get answered() {
			return answered;
		},
		async close() {
			server.closeAllConnections();
			server.close();
			await once(server, "close");
		},
	};
}

/** `number` is that of the request: a call that is asked for again, because an answer broke off, is another call. */
async function answer(response: ServerResponse, messages: Messages, effects: string, number: number): Promise<void> {
	const asked = messages.findLastIndex(({ role, content }) => role === "user" && planOf(content) !== null);
	const plan = planOf(messages[asked]?.content);
	if (plan === null) {
		response.writeHead(400).end(JSON.stringify({ error: { message: "There is no plan in the prompt." } }));
		return;
	}
	const step = messages.slice(asked).filter((each) => each.tool_calls.length > 0).length;
	const calls = plan.steps[step] ?? [];
	response.writeHead(200, { "content-type": "text/event-stream" });
	response.write(toChunk({ role: "assistant" }));
	await wait(plan.pause);
	for (const [index, planned] of calls.entries()) {
		const id = `${planned}-${number}`;
		const command = `${plan.toil > 0 ? `sleep ${plan.toil}; ` : ""}echo ${id} >> '${effects}'`;
		const call = { name: "Shell", arguments: JSON.stringify({ command }) };
		response.write(toChunk({ tool_calls: [{ index, id, type: "function", function: call }] }));
	}
	const pieces = calls.length > 0 ? 0 : plan.pieces;
	for (let piece = 0; piece < pieces; piece += 1) response.write(toChunk({ content: `${plan.name} ${piece} ` }));
	response.end(`${toChunk({}, calls.length > 0 ? "tool_calls" : "stop")}data: [DONE]\n\n`);
}

function toChunk(delta: object, reason: string | null = null): string {
	return `data: ${JSON.stringify({ id: "m", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
}

const partSchema = v.array(v.looseObject({ text: v.optional(v.string(), "") }));

/** The last plan in a message: prompts that no answer came between are one message. */
function planOf(content: unknown): Plan | null {
	const parts = v.safeParse(partSchema, content);
	const text =
		typeof content === "string" ? content : parts.success ? parts.output.map((part) => part.text).join("\n") : "";
	const plans = text.split("\n").flatMap((line) => fromPrompt(line) ?? []);
	return plans.at(-1) ?? null;
}
