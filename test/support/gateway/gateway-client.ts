// A client of the gateway for tests: requests and streams of events.
import { type IncomingMessage, request as sendRequest } from "node:http";
import { onTestFinished } from "vitest";
import { isRecord } from "../../../src/base/json.ts";
import { GatewayRequests, parsed, type Sending } from "./gateway-requests.ts";

/** A message of a stream of events. */
export interface StreamMessage {
	readonly id: string | null;
	readonly name: string;
	readonly data: Readonly<Record<string, unknown>>;
}

export interface Stream {
	readonly status: number;
	readonly messages: StreamMessage[];
	/** What the server said that is no message. */
	readonly comments: readonly string[];
	/** Resolves with the first message, earlier ones included, that fits; fails when the stream ends without one. */
	until(fits: (message: StreamMessage) => boolean): Promise<StreamMessage>;
	/** Resolves when the server has ended the stream or the connection broke. */
	readonly ended: Promise<void>;
	close(): void;
	/** Stops reading, and goes on. */
	pause(): void;
	resume(): void;
}

export class GatewayClient extends GatewayRequests {
	/** Opens a stream, which is closed with the running test. */
	stream(query: string, headers: Sending["headers"] = {}): Promise<Stream> {
		return new Promise((resolve, reject) => {
			const request = sendRequest(this.options("GET", `/events?${query}`, undefined, headers), (response) => {
				resolve(toStream(response));
			});
			request.on("error", reject);
			request.end();
			onTestFinished(() => void request.destroy());
		});
	}
}

function toStream(response: IncomingMessage): Stream {
	const messages: StreamMessage[] = [];
	const comments: string[] = [];
	const waiting = new Set<() => void>();
	let isOver = false;
	let rest = "";
	const wake = () => {
		for (const look of [...waiting]) look();
	};
	response.setEncoding("utf8");
	response.on("data", (piece: string) => {
		rest += piece;
		const blocks = rest.split("\n\n");
		rest = blocks.pop() ?? "";
		comments.push(...blocks.filter((block) => block.startsWith(": ")).map((block) => block.slice(2)));
		messages.push(...blocks.flatMap(toMessage));
		wake();
	});
	const ended = new Promise<void>((resolve) => {
		response.on("close", () => {
			isOver = true;
			wake();
			resolve();
		});
	});
	response.on("error", () => {});
	return {
		status: response.statusCode ?? 0,
		messages,
		comments,
		ended,
		until: (fits) =>
			new Promise((resolve, reject) => {
				const look = () => {
					const found = messages.find(fits);
					if (found === undefined && !isOver) return;
					waiting.delete(look);
					if (found !== undefined) resolve(found);
					else
						reject(
							new Error(
								`The stream ended after ${messages.map(({ name, data }) => `${name} ${String(data["type"])}`).join(", ")}`,
							),
						);
				};
				waiting.add(look);
				look();
			}),
		close: () => void response.destroy(),
		pause: () => void response.pause(),
		resume: () => void response.resume(),
	};
}

function toMessage(block: string): StreamMessage[] {
	const fields = new Map(
		block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
	);
	const name = fields.get("event");
	const data = parsed(fields.get("data") ?? "");
	return name === undefined || !isRecord(data) ? [] : [{ id: fields.get("id") ?? null, name, data }];
}

/** Whether a message of a stream is this event. */
export const isEvent = (type: string) => (message: StreamMessage) => message.data["type"] === type;
