// A provider on loopback: raw HTTP that answers with given bytes, cut where a test wants them cut.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";

export interface ReceivedRequest {
	readonly path: string;
	readonly headers: IncomingMessage["headers"];
	/** Decoded when it is JSON; else its bytes as a string with one character for each. */
	readonly body: unknown;
	/** Resolves when the socket of this request is gone or its answer was sent. */
	readonly closed: Promise<void>;
}

/** Writes the answer of one request; the request's body has been read. */
export type AnswerRequest = (response: ServerResponse) => Promise<void>;

export interface ProviderServer {
	/** Without a slash at the end. */
	readonly url: string;
	readonly requests: readonly ReceivedRequest[];
	/** Queues the answer of the next request. */
	answerNext(answer: AnswerRequest): void;
	close(): Promise<void>;
}

const unexpected = () => sendJson(500, {}, { error: { message: "no answer was queued" } });

/** `answerOther` answers the requests for which nothing is queued, by their bodies; without it that is an error. */
export async function startProviderServer(
	answerOther: (body: unknown) => AnswerRequest = unexpected,
): Promise<ProviderServer> {
	const requests: ReceivedRequest[] = [];
	const answers: AnswerRequest[] = [];
	const server = createServer(async (request, response) => {
		const closed = once(response, "close").then(() => {});
		const pieces: Buffer[] = [];
		for await (const piece of request) pieces.push(piece);
		const body = readBody(Buffer.concat(pieces), request.headers["content-type"] ?? "");
		requests.push({ path: request.url ?? "", headers: request.headers, body, closed });
		const answer = answers.shift() ?? answerOther(body);
		await answer(response);
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("no port");
	return {
		url: `http://127.0.0.1:${address.port}`,
		requests,
		answerNext: (answer) => answers.push(answer),
		async close() {
			server.closeAllConnections();
			server.close();
			await once(server, "close");
		},
	};
}

function readBody(bytes: Buffer, contentType: string): unknown {
	return contentType.startsWith("multipart/") ? bytes.toString("latin1") : JSON.parse(bytes.toString("utf8"));
}

export interface StreamOptions {
	/** Bytes of one write; the whole at once when absent. */
	readonly chunkSize?: number;
	/** `end` ends well, `cut` destroys the socket, `hang` sends nothing more. */
	readonly ending?: "end" | "cut" | "hang";
}

/** Sends an event stream. */
export function sendEvents(text: string, { chunkSize, ending = "end" }: StreamOptions = {}): AnswerRequest {
	return async (response) => {
		response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
		response.flushHeaders();
		const bytes = Buffer.from(text, "utf8");
		const size = chunkSize ?? Math.max(1, bytes.length);
		for (let start = 0; start < bytes.length; start += size) {
			response.write(bytes.subarray(start, start + size));
			await nextTurn();
		}
		if (ending === "end") response.end();
		else if (ending === "cut") response.socket?.destroySoon();
	};
}

export function sendJson(status: number, headers: Record<string, string>, body: unknown): AnswerRequest {
	return sendText(status, { "content-type": "application/json", ...headers }, JSON.stringify(body));
}

export function sendText(status: number, headers: Record<string, string>, body: string): AnswerRequest {
	return async (response) => {
		response.writeHead(status, headers);
		response.end(body);
	};
}

const providerFixtures = new URL("../../fixtures/providers/", import.meta.url);

/** The text of a recorded provider shape. */
export function readProviderFixture(name: string): string {
	return readFileSync(new URL(name, providerFixtures), "utf8");
}
