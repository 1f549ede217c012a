// What every dialect does with events, answers and errors, whatever its vocabulary.
import { describe, expect, it } from "vitest";
import { kernelErrorCodes } from "../../src/base/errors.ts";
import { isRecord } from "../../src/base/json.ts";
import type { ErrorNumbers } from "../../src/dialects/error-numbers.ts";
import type { Outgoing, Project } from "../../src/dialects/event-pump.ts";
import { type AgentPathEntry, type EventBody, eventDeclarations } from "../../src/events/event.ts";
import type { EnvelopeRules } from "../../src/rpc/envelope.ts";
import { allSamples, sampleEvents, sampleInteractions } from "../support/sample-events.ts";

export interface DialectSubject {
	readonly project: Project;
	readonly errorNumbers: ErrorNumbers;
	readonly rules: EnvelopeRules;
	/** A good result for an approval. */
	readonly goodApproval: object;
}

const malformed: readonly unknown[] = [
	undefined,
	null,
	"approve",
	5,
	true,
	[],
	{},
	{ request_id: "U" },
	{ response: "maybe" },
	{ response: 5, request_id: "U" },
	{ response: null, request_id: "U" },
	{ request_id: "U", response: "approved" },
	{ request_id: "Q", answers: null },
	{ request_id: "Q", answers: { "Which DB?": ["pg"] } },
	{ request_id: "Q", answers: ["pg"] },
	{ tool_call_id: "c9" },
	{ tool_call_id: "c9", return_value: {} },
	{ tool_call_id: "c9", return_value: { is_error: "no", output: 5, message: null, display: {} } },
	{ tool_call_id: "c9", return_value: { is_error: false, output: [{ type: "file" }], message: "", display: [] } },
	{ tool_call_id: "c9", return_value: { is_error: false, output: "", message: "", display: [{ type: "brief" }] } },
];

/** The id is all that an answer to a hook needs. */
const lacksRequestId = (result: unknown): boolean => !isRecord(result) || typeof result["request_id"] !== "string";

export function describeDialectContract(name: string, { project, errorNumbers, rules, goodApproval }: DialectSubject) {
	const at = (body: EventBody, agentPath: readonly AgentPathEntry[] = []) => ({
		sessionId: "s",
		turnId: "t",
		agentPath,
		at: 0,
		body,
	});
	const path: readonly AgentPathEntry[] = [
		{ parentToolCallId: "P", agentId: "a1", subagentType: "coder" },
		{ parentToolCallId: null, agentId: null, subagentType: null },
	];
	const asked = (body: EventBody): Extract<Outgoing, { kind: "interaction" }>[] =>
		project(at(body)).flatMap((outgoing) => (outgoing.kind === "interaction" ? [outgoing] : []));

	describe(`the ${name} dialect`, () => {
		it("has samples of every event type to try", () => {
			expect(Object.keys(sampleEvents).sort()).toEqual(Object.keys(eventDeclarations).sort());
			expect(Object.values(sampleEvents).filter((samples) => samples.length === 0)).toEqual([]);
		});

		it.each(allSamples.map((body) => [body.type, body] as const))("projects %s, of a subagent too", (_type, body) => {
			for (const agentPath of [[], path.slice(0, 1), path]) {
				for (const outgoing of project(at(body, agentPath))) {
					if (outgoing.kind === "notification")
						expect(JSON.parse(JSON.stringify(outgoing.params))).toBeTypeOf("object");
				}
			}
		});

		it("forgets every ask that is settled", () => {
			for (const body of sampleEvents["interaction.resolved"]) {
				expect(project(at(body))).toContainEqual({ kind: "settled", interactionId: body.interactionId });
			}
		});

		it("asks for approvals and reads a good answer", () => {
			const [interaction] = sampleEvents["interaction.requested"].flatMap(asked);
			expect(interaction?.readResult(goodApproval)).toEqual({
				kind: "approval",
				decision: "approve",
				feedback: "",
			});
			expect(interaction?.params("other")).toMatchObject({ payload: { id: "other" } });
		});

		it("takes every malformed answer for malformed, without throwing", () => {
			for (const body of sampleEvents["interaction.requested"]) {
				for (const interaction of asked(body)) {
					for (const result of body.interaction.kind === "hook" ? malformed.filter(lacksRequestId) : malformed) {
						expect([result, interaction.readResult(result)]).toEqual([result, null]);
					}
				}
			}
			expect(sampleInteractions.length).toBeGreaterThan(0);
		});

		it("has a number for every kernel error and no other", () => {
			expect(Object.keys(errorNumbers).sort()).toEqual([...kernelErrorCodes].sort());
			for (const { code } of Object.values(errorNumbers)) expect(Number.isInteger(code)).toBe(true);
		});

		it("answers anything thrown with an error object", () => {
			for (const thrown of [new Error("secret"), "secret", null, undefined, { message: "secret" }]) {
				const error = rules.toErrorObject(thrown);
				expect(error.message).not.toContain("secret");
				expect(Number.isInteger(error.code)).toBe(true);
			}
		});
	});
}
