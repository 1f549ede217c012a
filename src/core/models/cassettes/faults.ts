import type { Fetch } from "../../../ports/network/network-settings.ts";
import { refusal } from "./refusal.ts";

/** For one request, counted from 1, or null for all. */
export type Fault = { readonly at: number | null } & (
	| { readonly kind: "status"; readonly status: number; readonly retryAfter: number | null }
	/** After this many body bytes the connection is lost, or stalls. */
	| { readonly kind: "cut" | "stall"; readonly bytes: number }
	/** Splits multi-byte characters across two pieces. */
	| { readonly kind: "split" }
);

export const faultForms =
	"cut[=BYTES], stall[=BYTES], 429[=SECONDS], 5xx[=SECONDS] or split, and @N for request N only";

const standardBytes = 100;

export function parseFault(text: string): Fault | null {
	const [, kind = "", number, request] =
		/^(cut|stall|split|429|5\d\d)(?:=(\d{1,9}))?(?:@([1-9]\d{0,8}))?$/.exec(text) ?? [];
	const at = request === undefined ? null : Number(request);
	switch (kind) {
		case "":
			return null;
		case "cut":
		case "stall":
			return { kind, bytes: Number(number ?? standardBytes), at };
		case "split":
			return number === undefined ? { kind, at } : null;
		default:
			return { kind: "status", status: Number(kind), retryAfter: number === undefined ? null : Number(number), at };
	}
}

/** Answers with the first matching fault, if any. */
export function withFaults(fetch: Fetch, faults: readonly Fault[]): Fetch {
	if (faults.length === 0) return fetch;
	let requests = 0;
	return async (input, init) => {
		requests += 1;
		const n = requests;
		const fault = faults.find(({ at }) => at === null || at === n);
		if (fault?.kind === "status") {
			const headers = fault.retryAfter === null ? {} : { "retry-after": String(fault.retryAfter) };
			return refusal(fault.status, `Failed on purpose with status ${fault.status}.`, headers);
		}
		const response = await fetch(input, init);
		if (fault === undefined || response.body === null) return response;
		const body = response.body.pipeThrough(toTransform(fault, init?.signal ?? null));
		return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
	};
}

function toTransform(
	fault: Exclude<Fault, { kind: "status" }>,
	signal: AbortSignal | null,
): TransformStream<Uint8Array, Uint8Array> {
	if (fault.kind === "split") {
		return new TransformStream({
			transform(bytes, controller) {
				for (const piece of splitCharacters(bytes)) controller.enqueue(piece);
			},
		});
	}
	const { kind } = fault;
	let left = fault.bytes;
	const end = (controller: TransformStreamDefaultController<Uint8Array>) => {
		if (kind === "cut") controller.error(new TypeError("the connection was cut on purpose"));
	};
	return new TransformStream({
		start(controller) {
			signal?.addEventListener("abort", () => controller.error(signal.reason), { once: true });
			if (left === 0) end(controller);
		},
		transform(bytes, controller) {
			const part = bytes.subarray(0, left);
			left -= part.length;
			if (part.length > 0) controller.enqueue(part);
			// Deliver what was sent before: an error drops queued data.
			if (left === 0) setImmediate(end, controller);
		},
		// A stalled answer never ends; a short one is cut at its end.
		flush(controller) {
			end(controller);
			return kind === "stall" ? new Promise<never>(() => {}) : undefined;
		},
	});
}

const continuationMask = 0b1100_0000;
const continuation = 0b1000_0000;

/** Splits the bytes so that each piece, except the first, begins within a character. */
function* splitCharacters(bytes: Uint8Array): Generator<Uint8Array> {
	let start = 0;
	for (let index = 1; index < bytes.length; index += 1) {
		const [before = 0, here = 0] = [bytes[index - 1], bytes[index]];
		const isSecond = (here & continuationMask) === continuation && (before & continuationMask) === continuationMask;
		if (!isSecond) continue;
		yield bytes.subarray(start, index);
		start = index;
	}
	yield bytes.subarray(start);
}
