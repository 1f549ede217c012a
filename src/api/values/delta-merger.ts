// Merges consecutive deltas into their stored form (wire-protocol §8.2): text with text, reasoning with reasoning until it is
// signed, a tool call with the argument parts after it, stray argument parts with each other.
import type { ContentPart } from "./content.ts";
import type { EventBody } from "./event.ts";

export interface DeltaMerger {
	/**
	 * Adds a delta that continues the open sequence and returns it with its text offset. Returns null for any other event and
	 * ignores it.
	 */
	extend(body: EventBody): EventBody | null;
	push(body: EventBody): Pushed;
	/** Like `push`, for callers that only need `open`. */
	note(body: EventBody): void;
	flush(): EventBody | null;
	/** The durable form of the open sequence so far; null if none is open. */
	open(): EventBody | null;
}

export interface Pushed {
	/** The durable form of the sequence that this event ends, if any. */
	readonly completed: EventBody | null;
	/** The event itself, deltas with their text offset. */
	readonly body: EventBody;
}

type OpenRun =
	| { readonly kind: "text"; readonly pieces: string[]; length: number }
	| { readonly kind: "think"; readonly pieces: string[]; length: number; encrypted: string | null }
	| { readonly kind: "media"; readonly body: EventBody }
	| {
			readonly kind: "call";
			readonly started: Extract<EventBody, { type: "tool-call.started" }>;
			readonly pieces: string[];
			length: number;
	  }
	| { readonly kind: "fragment"; readonly pieces: string[]; length: number };

export function createDeltaMerger(): DeltaMerger {
	let run: OpenRun | null = null;

	const flush = (): EventBody | null => {
		const ended = run;
		run = null;
		return ended === null ? null : toCompleted(ended);
	};

	const extend = (body: EventBody): EventBody | null => {
		const offset = run === null ? null : extendRun(run, body);
		return offset === null ? null : withOffset(body, offset);
	};

	return {
		extend,
		push(body) {
			if (interjections.has(body.type)) return { completed: null, body };
			const extended = extend(body);
			if (extended !== null) return { completed: null, body: extended };
			const completed = flush();
			run = openRun(body);
			return { completed, body: withOffset(body, 0) };
		},
		note(body) {
			if ((run === null || extendRun(run, body) === null) && !interjections.has(body.type)) run = openRun(body);
		},
		flush,
		open: () => (run === null ? null : toCompleted(run)),
	};
}

/** Events outside the conversation: they may arrive while an answer streams, and do not end a sequence. */
export const interjections: ReadonlySet<EventBody["type"]> = new Set<EventBody["type"]>([
	"budget.warning",
	"usage.counted",
	"permission.decided",
	"session-hook.started",
	"session-hook.ended",
	"tool.started",
	"tool.progress",
	"tool.ended",
	"tool.outcome-unknown",
	"recovery.reported",
	"steer.accepted",
	"mode.changed",
	"model.changed",
	"title.changed",
	"files.snapshot",
	"files.restored",
	"session.rewound",
	"client.attached",
	"client.detached",
	"session.reset",
]);

function withOffset(body: EventBody, offset: number): EventBody {
	// Written out for speed: a generic copy costs more, and this runs for every delta.
	if (body.type === "content.delta" && (body.part.type === "text" || body.part.type === "think")) {
		return { type: "content.delta", part: body.part, offset };
	}
	return body.type === "tool-call.delta"
		? { type: "tool-call.delta", arguments_part: body.arguments_part, offset }
		: body;
}

/** Adds the event to the sequence. Returns the previous length of its text, or null if it does not belong to it. */
function extendRun(run: OpenRun, body: EventBody): number | null {
	if (body.type === "content.delta" && body.part.type === "text" && run.kind === "text") {
		return addPiece(run, body.part.text);
	}
	if (body.type === "content.delta" && body.part.type === "think" && run.kind === "think" && run.encrypted === null) {
		run.encrypted = body.part.encrypted;
		return addPiece(run, body.part.think);
	}
	if (body.type === "tool-call.delta" && (run.kind === "call" || run.kind === "fragment")) {
		return body.arguments_part === null ? run.length : addPiece(run, body.arguments_part);
	}
	return null;
}

function addPiece(run: { readonly pieces: string[]; length: number }, piece: string): number {
	const offset = run.length;
	run.pieces.push(piece);
	run.length += piece.length;
	return offset;
}

function openRun(body: EventBody): OpenRun | null {
	switch (body.type) {
		case "content.delta":
			return openContent(body.part);
		case "tool-call.started":
			return { kind: "call", started: body, pieces: [], length: body.call.function.arguments?.length ?? 0 };
		case "tool-call.delta": {
			const piece = body.arguments_part;
			return { kind: "fragment", pieces: piece === null ? [] : [piece], length: piece?.length ?? 0 };
		}
		default:
			return null;
	}
}

function openContent(part: ContentPart): OpenRun {
	switch (part.type) {
		case "text":
			return { kind: "text", pieces: [part.text], length: part.text.length };
		case "think":
			return { kind: "think", pieces: [part.think], length: part.think.length, encrypted: part.encrypted };
		default:
			return { kind: "media", body: { type: "content.completed", part } };
	}
}

function toCompleted(run: OpenRun): EventBody {
	switch (run.kind) {
		case "text":
			return { type: "content.completed", part: { type: "text", text: run.pieces.join("") } };
		case "think":
			return {
				type: "content.completed",
				part: { type: "think", think: run.pieces.join(""), encrypted: run.encrypted },
			};
		case "media":
			return run.body;
		case "call":
			return { type: "tool.requested", call: withArguments(run.started.call, run.pieces) };
		case "fragment":
			return { type: "tool-call.fragment", arguments_part: run.pieces.length === 0 ? null : run.pieces.join("") };
	}
}

type Call = Extract<EventBody, { type: "tool-call.started" }>["call"];

/** The call with argument pieces appended; arguments stay null if there was never any text. */
export function withArguments(call: Call, pieces: readonly string[]): Call {
	if (pieces.length === 0) return call;
	return { ...call, function: { ...call.function, arguments: (call.function.arguments ?? "") + pieces.join("") } };
}
