import { describe, expect, it } from "vitest";
import type { AgentEvent, EventBody } from "../../api/values/event.ts";
import { protocolVersion } from "../../formats/protocol-version.ts";
import { notificationLine } from "../../ports/rpc/envelope.ts";
import { noCompatibility } from "../shared/dialect.ts";
import { createDeltaLines } from "./delta-lines.ts";
import type { Audience } from "./older-clients.ts";
import { project } from "./projection.ts";

const today: Audience = { ...noCompatibility, declared: protocolVersion };
const audiences: readonly Audience[] = [
	today,
	{ ...today, declared: null },
	{ ...today, typedParts: true },
	{ ...today, formerNames: true },
	{ ...today, maxEvents: "1.0" },
];
const texts = [
	"",
	"plain",
	'a "quoted" \\ text',
	"\u2028\u2029",
	"\u001f text \u001f",
	"\ud800",
	"\u0000\n",
	"日本語 🦊",
];
const at = (body: EventBody): AgentEvent => ({ sessionId: "s", turnId: "t", agentPath: [], at: 0, body });
const deltas = (text: string): readonly EventBody[] => [
	{ type: "content.delta", part: { type: "text", text }, offset: 3 },
	{ type: "content.delta", part: { type: "think", think: text, encrypted: null } },
	{ type: "tool-call.delta", arguments_part: text },
];

describe("the lines of deltas", () => {
	it.each(audiences)("are those of the projection for %j", (audience) => {
		const toLine = createDeltaLines(audience);
		for (const body of texts.flatMap(deltas)) {
			const lines = project(at(body), audience).map((outgoing) =>
				outgoing.kind === "notification" ? notificationLine(outgoing.method, outgoing.params) : "",
			);
			expect(lines).toEqual([toLine(at(body))]);
		}
	});

	it("are left to the projection for what is long, signed, empty, of a subagent or no delta", () => {
		const toLine = createDeltaLines(today);
		const path = [{ parentToolCallId: "P", agentId: "a", subagentType: "coder" }];
		const [text] = deltas("text");
		if (text === undefined) throw new Error("no delta");
		const others: readonly AgentEvent[] = [
			at({ type: "content.delta", part: { type: "text", text: "x".repeat(70_000) } }),
			at({ type: "content.delta", part: { type: "think", think: "text", encrypted: "signature" } }),
			at({ type: "content.delta", part: { type: "image_url", image_url: { url: "u", id: null } } }),
			at({ type: "tool-call.delta", arguments_part: null }),
			{ ...at(text), agentPath: path },
			at({ type: "step.started", n: 1 }),
		];
		expect(others.map(toLine)).toEqual(others.map(() => null));
	});
});
