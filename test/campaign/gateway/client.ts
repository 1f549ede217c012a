// A client of the gateway for campaigns: methods, streams that stall and are cut, and bytes that are no request.
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { isRecord } from "../../../src/base/json.ts";
import { GatewayRequests, parsed } from "../../support/gateway/gateway-requests.ts";

/** Milliseconds for what has to come. */
export const patience = 15_000;

export type Fields = Readonly<Record<string, unknown>>;

export class CampaignClient extends GatewayRequests {
	/** `limit` is in milliseconds without a byte of an answer. */
	constructor(port: number, token: string, limit = patience) {
		super(port, token, limit);
	}

	/** All stored events of a session. */
	async history(sessionId: string): Promise<readonly Fields[]> {
		const { body } = await this.send({ path: `/sessions/${sessionId}/history?limit=1000` });
		const events = isRecord(body) ? body["events"] : null;
		return Array.isArray(events) ? events.filter(isRecord) : [];
	}

	/** A stream of one session, from a cursor on; `id` is that of the last durable event. */
	stream(sessionId: string, cursor: string | null, onEvent: (event: Fields, id: string) => void): Promise<OpenStream> {
		return new Promise((resolve, reject) => {
			const headers = cursor === null ? {} : { "last-event-id": cursor };
			const sending = request(this.options("GET", `/events?sessions=${sessionId}`, undefined, headers), (response) => {
				if (response.statusCode === 200) resolve(new OpenStream(response, onEvent));
				else reject(new Error(`a stream was refused with ${response.statusCode}`));
			});
			sending.on("error", reject);
			sending.end();
		});
	}

	/** Every message of a stream of one session, and its end; the function ends it. */
	messages(
		sessionId: string,
		cursor: string | null,
		onMessage: (message: Fields) => void,
		onEnd: () => void = () => {},
	): Promise<() => void> {
		return new Promise((resolve, reject) => {
			const headers = cursor === null ? {} : { "last-event-id": cursor };
			const sending = request(this.options("GET", `/events?sessions=${sessionId}`, undefined, headers), (response) => {
				if (response.statusCode !== 200) reject(new Error(`a stream was refused with ${response.statusCode}`));
				resolve(() => void response.destroy());
				response.on("close", onEnd);
				let rest = "";
				response.setEncoding("utf8");
				response.on("error", () => {});
				response.on("data", (text: string) => {
					const blocks = (rest + text).split("\n\n");
					rest = blocks.pop() ?? "";
					for (const block of blocks) {
						const [, id = null, event, data] = /^(?:id: (\S+)\n)?event: (\w+)\ndata: (.*)$/s.exec(block) ?? [];
						if (event !== undefined) onMessage({ id, event, data: parsed(data ?? "") });
					}
				});
			});
			sending.on("error", reject);
			sending.end();
		});
	}

	/** Sends bytes and gives what came back until the server or the patience ended it. */
	sendBytes(bytes: Buffer): Promise<{ readonly text: string; readonly isEnded: boolean }> {
		return new Promise((resolve) => {
			const socket = connect(this.port, "127.0.0.1");
			let text = "";
			let isEnded = true;
			socket.setTimeout(1000, () => {
				isEnded = false;
				socket.destroy();
			});
			socket.on("data", (piece: Buffer) => {
				text += piece.toString("latin1");
				// What is a request is answered, and the connection stays for the next one.
				if (/\r\n\r\n/.test(text)) socket.end();
			});
			socket.on("error", () => {});
			socket.on("close", () => resolve({ text, isEnded }));
			socket.write(bytes);
		});
	}
}

/** A stream that is being read, or not. */
export class OpenStream {
	/** Resolves with the cursor of the state that a stream begins with; null when it ended before. */
	readonly begun: Promise<string | null>;
	readonly #response: IncomingMessage;
	#rest = "";
	#isCut = false;

	constructor(response: IncomingMessage, onEvent: (event: Fields, id: string) => void) {
		this.#response = response;
		response.setEncoding("utf8");
		response.on("error", () => {});
		this.begun = new Promise((resolve) => {
			response.once("close", () => resolve(null));
			response.on("data", (text: string) => {
				// What was under way when it was cut is lost, as with a broken connection.
				if (this.#isCut) return;
				const blocks = (this.#rest + text).split("\n\n");
				this.#rest = blocks.pop() ?? "";
				for (const block of blocks) {
					if (block.startsWith("event: state")) resolve(toCursor(parsed(block.slice(block.indexOf("data: ") + 6))));
					const [, id, data] = /^id: (\S+)\nevent: e\ndata: (.*)$/s.exec(block) ?? [];
					const event = parsed(data ?? "");
					if (id !== undefined && isRecord(event)) onEvent(event, id);
				}
			});
		});
	}

	pause(): void {
		this.#response.pause();
	}

	resume(): void {
		this.#response.resume();
	}

	cut(): void {
		this.#isCut = true;
		this.#response.destroy();
	}
}

function toCursor(state: unknown): string | null {
	const snapshot = isRecord(state) ? state["snapshot"] : null;
	const cursor = isRecord(snapshot) ? snapshot["cursor"] : null;
	return isRecord(snapshot) && isRecord(cursor) ? `${snapshot["sessionId"]}@${cursor["epoch"]}:${cursor["seq"]}` : null;
}
