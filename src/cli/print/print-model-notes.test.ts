import { describe, expect, it } from "vitest";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { modelNote } from "./print-model-notes.ts";

const toEvent = (body: EventBody): AgentEvent => ({ sessionId: "s", turnId: "t", agentPath: [], at: 0, body });
const retrying = toEvent({
	type: "step.retrying",
	n: 1,
	next_attempt: 2,
	max_attempts: 8,
	wait_s: 2,
	error_type: "APIStatusError",
	status_code: 529,
	reason: "HTTP 529: overloaded",
});
const notice = (category: string) =>
	toEvent({
		type: "notification.raised",
		id: "1",
		category,
		notification_type: "model.waiting",
		source_kind: "model",
		source_id: "",
		title: "Waiting for the model",
		body: "No data for 30 s.",
		severity: "warning",
		created_at: 0,
		payload: {},
	});

const text = { outputFormat: "text", lines: "kimi-cli", finalMessageOnly: false } as const;
const stream = { ...text, outputFormat: "stream-json" } as const;
const kimiCode = { ...stream, lines: "kimi-code" } as const;
const final = { ...text, finalMessageOnly: true } as const;
const retry = "Retrying in 2 s (attempt 2 of 8): HTTP 529: overloaded";
const waiting = "Waiting for the model: No data for 30 s.";

describe("notes about a model", () => {
	it.each([
		["text", text, null, null],
		["stream-json", stream, retry, null],
		["the stream of kimi-code", kimiCode, null, waiting],
		["the final message alone", final, retry, waiting],
	])("are on stderr where %s does not have them", (_name, options, ofRetry, ofWait) => {
		expect([modelNote(retrying, options), modelNote(notice("model"), options)]).toEqual([ofRetry, ofWait]);
		expect(modelNote(notice("task"), options)).toBeNull();
	});
});
