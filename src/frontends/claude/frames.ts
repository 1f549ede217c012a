import * as v from "valibot";
import type { Identifiers } from "../../base/ids.ts";
import { isRecord } from "../../base/json.ts";
import type { LineTransport } from "../../ports/rpc/transport.ts";
import { controlResponseFrameSchema } from "./wire.ts";

/** The client answered with an error, or can no longer answer. */
export class ClientRefusal extends Error {}

interface OpenRequest {
	resolve(response: unknown): void;
	reject(refusal: ClientRefusal): void;
}

export class Frames {
	readonly #transport: LineTransport;
	readonly #identifiers: Identifiers;
	readonly #open = new Map<string, OpenRequest>();
	#isInputOver = false;

	constructor(transport: LineTransport, identifiers: Identifiers) {
		this.#transport = transport;
		this.#identifiers = identifiers;
	}

	send(frame: object): void {
		this.#transport.send(JSON.stringify(frame));
	}

	ready(): Promise<void> {
		return this.#transport.ready();
	}

	request(request: object, signal: AbortSignal): Promise<unknown> {
		if (this.#isInputOver) return Promise.reject(new ClientRefusal("The client has closed its input."));
		if (signal.aborted) return Promise.reject(new ClientRefusal("The request was cancelled."));
		const requestId = this.#identifiers.uuid();
		return new Promise<unknown>((resolve, reject) => {
			const cancel = () => {
				if (!this.#open.delete(requestId)) return;
				this.send({ type: "control_cancel_request", request_id: requestId });
				reject(new ClientRefusal("The request was cancelled."));
			};
			const settled = () => signal.removeEventListener("abort", cancel);
			this.#open.set(requestId, {
				resolve: (response) => {
					settled();
					resolve(response);
				},
				reject: (refusal) => {
					settled();
					reject(refusal);
				},
			});
			signal.addEventListener("abort", cancel, { once: true });
			this.send({ type: "control_request", request_id: requestId, request });
		});
	}

	takeAnswer(frame: unknown): boolean {
		if (!isRecord(frame) || frame["type"] !== "control_response") return false;
		const parsed = v.safeParse(controlResponseFrameSchema, frame);
		if (!parsed.success) {
			this.#refuseUnreadable(frame["response"]);
			return true;
		}
		const { response } = parsed.output;
		const open = this.#open.get(response.request_id);
		this.#open.delete(response.request_id);
		if (response.subtype === "success") open?.resolve(response.response ?? {});
		else open?.reject(new ClientRefusal(response.error));
		return true;
	}

	answer(requestId: string, response: object): void {
		this.send({ type: "control_response", response: { subtype: "success", request_id: requestId, response } });
	}

	refuse(requestId: string, error: string): void {
		this.send({ type: "control_response", response: { subtype: "error", request_id: requestId, error } });
	}

	endInput(): void {
		this.#isInputOver = true;
		for (const open of this.#open.values()) open.reject(new ClientRefusal("The client has closed its input."));
		this.#open.clear();
	}

	/** Fails a request whose answer cannot be read, so that nobody waits for it. */
	#refuseUnreadable(response: unknown): void {
		if (!isRecord(response) || typeof response["request_id"] !== "string") return;
		const open = this.#open.get(response["request_id"]);
		this.#open.delete(response["request_id"]);
		open?.reject(new ClientRefusal("The client's answer cannot be read."));
	}
}
