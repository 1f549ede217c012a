// Merges consecutive deltas into their stored form (wire-protocol §8.2): text with text, reasoning with reasoning until
// it is signed, a tool call with the argument parts after it, stray argument parts with each other.
import type { EventBody } from "./event.ts";

export interface DeltaMerger {
	/** Adds the next event; returns the completed event when it ends a sequence of deltas. */
	push(body: EventBody): EventBody | null;
	/** Ends the open sequence. */
	flush(): EventBody | null;
}

type OpenRun =
	| { readonly kind: "text"; readonly pieces: string[] }
	| { readonly kind: "think"; readonly pieces: string[]; encrypted: string | null }
	| { readonly kind: "media"; readonly body: EventBody }
	| {
			readonly kind: "call";
			readonly started: Extract<EventBody, { type: "tool-call.started" }>;
			readonly pieces: string[];
	  }
	| { readonly kind: "fragment"; readonly pieces: string[] };

export function createDeltaMerger(): DeltaMerger {
	let run: OpenRun | null = null;

	const flush = (): EventBody | null => {
		const ended = run;
		run = null;
		return ended === null ? null : toCompleted(ended);
	};

	return {
		push(body) {
			// A warning may come at any moment; it does not end a sequence.
			if (body.type === "budget.warning") return null;
			if (run !== null && extendRun(run, body)) return null;
			const completed = flush();
			run = openRun(body);
			return completed;
		},
		flush,
	};
}

/** Adds the event to the sequence; false when it does not belong to it. */
function extendRun(run: OpenRun, body: EventBody): boolean {
	if (body.type === "content.delta" && body.part.type === "text" && run.kind === "text") {
		run.pieces.push(body.part.text);
		return true;
	}
	if (body.type === "content.delta" && body.part.type === "think" && run.kind === "think" && run.encrypted === null) {
		run.pieces.push(body.part.think);
		run.encrypted = body.part.encrypted;
		return true;
	}
	if (body.type === "tool-call.delta" && (run.kind === "call" || run.kind === "fragment")) {
		if (body.arguments_part !== null) run.pieces.push(body.arguments_part);
		return true;
	}
	return false;
}

function openRun(body: EventBody): OpenRun | null {
	switch (body.type) {
		case "content.delta":
			if (body.part.type === "text") return { kind: "text", pieces: [body.part.text] };
			if (body.part.type === "think")
				return { kind: "think", pieces: [body.part.think], encrypted: body.part.encrypted };
			return { kind: "media", body: { type: "content.completed", part: body.part } };
		case "tool-call.started":
			return { kind: "call", started: body, pieces: [] };
		case "tool-call.delta":
			return { kind: "fragment", pieces: body.arguments_part === null ? [] : [body.arguments_part] };
		default:
			return null;
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
			return { type: "tool-call.completed", call: withArguments(run.started.call, run.pieces) };
		case "fragment":
			return { type: "tool-call.fragment", arguments_part: run.pieces.length === 0 ? null : run.pieces.join("") };
	}
}

type Call = Extract<EventBody, { type: "tool-call.started" }>["call"];

/** The call with argument pieces appended; arguments stay null when there was never any text. */
export function withArguments(call: Call, pieces: readonly string[]): Call {
	if (pieces.length === 0) return call;
	return { ...call, function: { ...call.function, arguments: (call.function.arguments ?? "") + pieces.join("") } };
}
