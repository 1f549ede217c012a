// A server on loopback that plays the providers of models, the pages of the web and the services: it answers as a case wants it to.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Answer = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>;

export interface Loopback {
	/** Without a slash at its end. */
	readonly url: string;
	/** Answers every request whose path begins so. */
	route(path: string, answer: Answer): void;
	/** What the model of the hostile session answers, one after the other. */
	queue(answers: readonly Answer[]): void;
	close(): Promise<void>;
}

export async function startLoopback(): Promise<Loopback> {
	const routes = new Map<string, Answer>();
	const queued: Answer[] = [];
	const answerModel = async (response: ServerResponse, request: IncomingMessage, body: Buffer) => {
		// In a text of the conversation the quotes would be escaped.
		const isHostile = body.includes('"model":"hostile"');
		await ((isHostile ? queued.shift() : undefined) ?? say("done"))(response, request);
	};
	const server = createServer(async (request, response) => {
		response.on("error", () => {});
		try {
			const pieces: Buffer[] = [];
			for await (const piece of request) pieces.push(piece);
			const { url = "" } = request;
			const [, answer] = [...routes].find(([path]) => url.startsWith(path)) ?? [];
			if (answer !== undefined) await answer(response, request);
			else await answerModel(response, request, Buffer.concat(pieces));
		} catch {
			// The client left in the middle of it.
			response.destroy();
		}
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		route: (path, answer) => void routes.set(path, answer),
		queue: (answers) => void queued.push(...answers),
		async close() {
			const closed = once(server, "close");
			server.close();
			server.closeAllConnections();
			await closed;
		},
	};
}

/** Writes bytes as fast as they are taken; ends early when nobody takes them any more. */
export async function pour(response: ServerResponse, pieces: Iterable<string | Uint8Array>): Promise<void> {
	for (const piece of pieces) {
		if (response.destroyed) return;
		if (!response.write(piece)) await room(response);
	}
}

/** Resolves when more can be written, or nobody takes it any more. */
function room(response: ServerResponse): Promise<void> {
	return new Promise((resolve) => {
		const go = () => {
			response.off("drain", go);
			response.off("close", go);
			resolve();
		};
		response.on("drain", go);
		response.on("close", go);
	});
}

/** An answer with these bytes, in pieces of 64 KiB. */
export function give(body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}, status = 200): Answer {
	return async (response) => {
		response.writeHead(status, { "content-type": "text/html; charset=utf-8", ...headers });
		await pour(response, piecesOf(typeof body === "string" ? Buffer.from(body) : body));
		response.end();
	};
}

export function* piecesOf(bytes: Uint8Array, size = 65_536): Generator<Uint8Array> {
	for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

const eventStream = { "content-type": "text/event-stream" };

/** An event stream of these texts. */
export function stream(text: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Answer {
	return give(text, { ...eventStream, ...headers });
}

/** One event of a chat completion. */
export function toEvent(delta: object, more: object = {}): string {
	return `data: ${JSON.stringify({ choices: [{ index: 0, delta, ...more }] })}\n\n`;
}

export const streamEnd = `${toEvent({}, { finish_reason: "stop" })}data: [DONE]\n\n`;

/** The model says this and no more. */
export function say(text: string): Answer {
	return stream(toEvent({ content: text }) + streamEnd);
}

export interface CalledTool {
	readonly name: string;
	/** An object, or the text of the arguments as the model has it. */
	readonly arguments: object | string;
}

/** Characters of arguments in an event. */
const argumentsPiece = 4096;

/** The model calls these tools, as providers stream it. */
export function callTools(...calls: readonly CalledTool[]): Answer {
	const events = calls.flatMap(({ name, arguments: given }, index) => {
		const text = typeof given === "string" ? given : JSON.stringify(given);
		const head = { index, id: `call-${index}`, type: "function", function: { name, arguments: "" } };
		const pieces = Array.from({ length: Math.ceil(text.length / argumentsPiece) }, (_, number) => ({
			index,
			function: { arguments: text.slice(number * argumentsPiece, (number + 1) * argumentsPiece) },
		}));
		return [head, ...pieces].map((call) => toEvent({ tool_calls: [call] }));
	});
	return stream(`${events.join("")}${toEvent({}, { finish_reason: "tool_calls" })}data: [DONE]\n\n`);
}
