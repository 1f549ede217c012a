// What every dialect does with events, answers and errors, whatever its vocabulary, through the pump that carries them.
import { describe, expect, it, vi } from "vitest";
import type { Command } from "../../src/api/commands.ts";
import type { Attachment, SessionApi } from "../../src/api/kernel.ts";
import type { AgentPathEntry, EventBody, EventType } from "../../src/api/values/event.ts";
import type { Interaction } from "../../src/api/values/interaction.ts";
import { type KernelErrorCode, kernelErrorCodes } from "../../src/base/errors.ts";
import { isRecord } from "../../src/base/json.ts";
import type { Peer } from "../../src/ports/rpc/connection.ts";
import type { EnvelopeRules, RpcReply } from "../../src/ports/rpc/envelope.ts";
import { createLiveFeed } from "../support/protocol/live-feed.ts";
import { allSamples, sampleEvents, sampleInteractions } from "../support/protocol/sample-events.ts";
import { plainAttachment } from "../support/sessions/session-doubles.ts";
import { createSessionSubject } from "../support/sessions/session-subject.ts";
import type { Reach } from "./attachment-contract.ts";

/** What a dialect of one connection is tried with. */
export interface Line {
	readonly session: SessionApi;
	readonly peer: Peer;
	/** The events to carry. */
	readonly attachment: Attachment;
}

/**
 * What is delivered of a sample: the names of the messages, joined by ` + `; null when nothing is delivered of it, ever, and
 * `withheld` when it shows in what is delivered later.
 */
export type Delivered = string | null;
export const withheld = "(withheld)";

/** What is delivered of the samples of an event type: of each of them, or the same of all. */
export interface DeliveredOfType {
	readonly own: Delivered | readonly Delivered[];
	/** Of one step down. */
	readonly subagent: Delivered | readonly Delivered[];
}

export interface DialectSubject {
	/** Begins to carry the events of the attachment to the peer. */
	carry(line: Line): Promise<void> | void;
	/** Resolves once what was delivered to the attachment so far has reached the peer; absent where it does so at once. */
	settled?(attachment: Attachment): Promise<void>;
	/** The name of what is delivered, with those of what it wraps: `outer>inner`. */
	nameOf(method: string, params: unknown): string;
	readonly delivered: { readonly [T in EventType]: DeliveredOfType };
	readonly errorNumber: (code: KernelErrorCode) => number;
	readonly rules: Pick<EnvelopeRules, "toErrorObject">;
	/** The result that approves. */
	readonly goodApproval: object;
	/** The kinds of ask that reach the client. */
	readonly interactions: readonly Interaction["kind"][];
	/** The way to the session; absent for one in this process. */
	readonly reach?: Reach;
	/** What it does without, each with a sentence that its skipped cases show. */
	readonly lacks?: Readonly<Partial<Record<DialectLack, string>>>;
}

export type DialectLack =
	/** Requests that it takes back. */
	| "withdrawal"
	/** Answers that reach the kernel although they are none. */
	| "malformed-answers";

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
	{ decision: "maybe" },
	{ decision: null },
	{ request_id: "Q", answers: null },
	{ request_id: "Q", answers: { "Which DB?": ["pg"] } },
	{ request_id: "Q", answers: ["pg"] },
	{ tool_call_id: "c9" },
	{ tool_call_id: "c9", return_value: {} },
	{ tool_call_id: "c9", return_value: { is_error: "no", output: 5, message: null, display: {} } },
	{ tool_call_id: "c9", return_value: { is_error: false, output: [{ type: "file" }], message: "", display: [] } },
	{ tool_call_id: "c9", return_value: { is_error: false, output: "", message: "", display: [{ type: "brief" }] } },
	{ content: 5, is_error: false },
	{ content: "", is_error: "no" },
];

/** The id is all that an answer to a hook needs. */
const lacksRequestId = (result: unknown): boolean => !isRecord(result) || typeof result["request_id"] !== "string";

const path: readonly AgentPathEntry[] = [
	{ parentToolCallId: "P", agentId: "a1", subagentType: "coder" },
	{ parentToolCallId: null, agentId: null, subagentType: null },
];

const begun: readonly EventBody[] = [
	{ type: "turn.started", input: "go" },
	{ type: "step.started", n: 1 },
];
const answered = sampleEvents["status.changed"].slice(1, 2);
/** What stands before the samples: the end of a turn is delivered of one that was begun alone, some interactions after an answer. */
const opening: readonly EventBody[] = [...begun, ...answered];
/** A turn that says something, for what ignored events must not touch. */
const turn: readonly EventBody[] = [
	...begun,
	{ type: "content.delta", part: { type: "text", text: "Hello" } },
	{ type: "content.completed", part: { type: "text", text: "Hello" } },
	...answered,
	{ type: "turn.ended", outcome: { status: "finished" } },
];

interface Request {
	readonly id: unknown;
	readonly params: unknown;
	reply(reply: RpcReply): void;
}

/** A connection of the dialect to a peer that notes what it is sent. */
export async function connectDialect({
	carry,
	nameOf,
	settled,
	reach = async (session) => session,
}: Pick<DialectSubject, "carry" | "nameOf" | "reach" | "settled">) {
	const { session } = await createSessionSubject(null);
	const commands: unknown[] = [];
	const messages: { readonly name: string; readonly params: unknown }[] = [];
	const requests: Request[] = [];
	const withdrawn: unknown[] = [];
	const note = (method: string, params: unknown) => void messages.push({ name: nameOf(method, params), params });
	const peer: Peer = {
		notify: note,
		notifyLine(line) {
			const { method, params } = JSON.parse(line);
			note(method, params);
		},
		call(id, method, params, reply) {
			messages.push({ name: nameOf(method, params), params });
			requests.push({ id, params, reply });
		},
		callUnanswered: (_id, method, params) => void messages.push({ name: nameOf(method, params), params }),
		isWaiting: () => false,
		withdraw: (id) => void withdrawn.push(id),
		ready: async () => {},
		isFull: () => false,
	};
	const feed = createLiveFeed();
	const attachment: Attachment = {
		id: "a",
		snapshot: await session.snapshot(),
		tools: { accepted: [], rejected: [] },
		events: feed,
		drained: () => feed.drained(),
		close: () => feed.end(),
	};
	// No spies of the test runner: it holds what it spied on for good, and there are thousands of sessions.
	const own = session.send.bind(session);
	Object.assign(session, {
		attach: async () => attachment,
		async send(command: Command) {
			if (command.type === "session.describe") return await own(command);
			commands.push(command);
			return { settled: true, by: null };
		},
	});
	const reached = await reach(session);
	const attached = await reached.attach(plainAttachment);
	await carry({ session: reached, peer, attachment: attached });
	/** The messages that an event leads to. */
	const take = async (body: EventBody, agentPath: readonly AgentPathEntry[] = []) => {
		const before = messages.length;
		feed.push({ sessionId: "s", turnId: "t", agentPath, at: 0, body });
		await feed.drained();
		await settled?.(attached);
		return messages.slice(before);
	};
	const open = async () => {
		for (const body of opening) await take(body);
	};
	return { take, open, requests, withdrawn, commands };
}

export function describeDialectContract(name: string, subject: DialectSubject) {
	const { delivered, errorNumber, rules, goodApproval, interactions, lacks = {} } = subject;
	/** A title with the reason why its case is skipped, if it is. */
	const titled = (title: string, needed: DialectLack): string =>
		lacks[needed] === undefined ? title : `${title} (${lacks[needed]})`;
	const deliveredOf = (body: EventBody, whose: keyof DeliveredOfType): Delivered => {
		const entry = delivered[body.type][whose];
		const samples: readonly EventBody[] = sampleEvents[body.type];
		const one = typeof entry === "string" || entry === null ? entry : entry[samples.indexOf(body)];
		if (one === undefined) throw new Error(`nothing is said of this sample of ${body.type}`);
		return one;
	};
	/** As it is delivered; what is wrapped is wrapped at every step down. */
	const expected = (body: EventBody, depth: number): readonly string[] => {
		const one = deliveredOf(body, depth === 0 ? "own" : "subagent");
		if (one === null || one === withheld) return [];
		const wrapper = one.slice(0, one.indexOf(">") + 1);
		return one.split(" + ").map((each) => wrapper.repeat(Math.max(0, depth - 1)) + each);
	};

	describe(`the ${name} dialect`, () => {
		it("has a sample of every event type", () => {
			expect(Object.values(sampleEvents).filter((samples) => samples.length === 0)).toEqual([]);
		});

		it.each(allSamples.map((body) => [body.type, body] as const))(
			"delivers what it delivers of %s",
			async (_type, body) => {
				for (const depth of [0, 1, 2]) {
					const { take, open } = await connectDialect(subject);
					await open();
					const names = (await take(body, path.slice(0, depth))).map((message) => message.name);
					expect([depth, ...names]).toEqual([depth, ...expected(body, depth)]);
				}
			},
		);

		const ignored = [0, 1].flatMap((depth) =>
			allSamples
				.filter((body) => deliveredOf(body, depth === 0 ? "own" : "subagent") === null)
				.map((body) => [body.type, depth, body] as const),
		);
		it.each(ignored)("delivers a turn the same where %s is ignored, at depth %d", async (_type, depth, body) => {
			const plain = await connectDialect(subject);
			const whole: unknown[] = [];
			for (const each of turn) whole.push(await plain.take(each));
			expect(whole.flat()).not.toEqual([]);
			for (let position = 1; position < turn.length; position += 1) {
				const { take } = await connectDialect(subject);
				const rest: unknown[] = [];
				for (const [index, each] of turn.entries()) {
					if (index === position) expect(await take(body, path.slice(0, depth))).toEqual([]);
					rest.push(await take(each));
				}
				expect(rest).toEqual(whole);
			}
		});

		it("requests what reaches its clients, and nothing else", async () => {
			const { take, open, requests } = await connectDialect(subject);
			await open();
			for (const interaction of sampleInteractions) await take({ type: "interaction.requested", interaction });
			expect(requests.length).toBe(sampleInteractions.filter(({ kind }) => interactions.includes(kind)).length);
		});

		it.skipIf(lacks.withdrawal !== undefined)(
			titled("forgets a request as soon as it is settled", "withdrawal"),
			async () => {
				const { take, open, requests, withdrawn } = await connectDialect(subject);
				await open();
				for (const interaction of sampleInteractions) await take({ type: "interaction.requested", interaction });
				for (const body of sampleEvents["interaction.resolved"]) await take(body);
				expect(withdrawn).toEqual(requests.map(({ id }) => id));
			},
		);

		it("requests approvals and reads a good answer", async () => {
			const { take, open, requests, commands } = await connectDialect(subject);
			await open();
			const interaction = sampleInteractions.find(({ kind }) => kind === "approval");
			if (interaction === undefined) throw new Error("there is no sample of an approval");
			await take({ type: "interaction.requested", interaction });
			requests[0]?.reply({ kind: "result", result: goodApproval });
			expect(JSON.stringify(requests[0]?.params)).toContain(`"${interaction.id}"`);
			const respond = {
				type: "interaction.respond",
				interactionId: interaction.id,
				clientId: "a",
				answer: { kind: "approval", decision: "approve", feedback: "" },
			};
			await vi.waitFor(() => expect(commands).toEqual([respond]), { interval: 1 });
		});

		describe
			.skipIf(lacks["malformed-answers"] !== undefined)
			.each(
				sampleInteractions.filter(({ kind }) => interactions.includes(kind)).map((one) => [one.kind, one] as const),
			)(titled("every malformed answer to %s", "malformed-answers"), (kind, interaction) => {
			it("is reported as malformed, without throwing", async () => {
				const results = kind === "hook" ? malformed.filter(lacksRequestId) : malformed;
				for (const result of results) {
					const { take, open, requests, commands } = await connectDialect(subject);
					await open();
					await take({ type: "interaction.requested", interaction });
					requests[0]?.reply({ kind: "result", result });
					const answered = { interactionId: interaction.id, clientId: "a", answer: { kind: "malformed" } };
					const respond = { type: "interaction.respond", ...answered };
					await vi.waitFor(() => expect([result, commands]).toEqual([result, [respond]]), { interval: 1 });
				}
			});
		});

		it("has a number for every kernel error", () => {
			expect(kernelErrorCodes.filter((code) => !Number.isInteger(errorNumber(code)))).toEqual([]);
		});

		it("answers anything thrown with an error object", () => {
			for (const thrown of [new Error("secret"), "secret", null, undefined, { message: "secret" }]) {
				const error = rules.toErrorObject(thrown);
				expect(error.message).not.toContain("secret");
				expect(error.code).toBe(errorNumber("internal"));
			}
		});
	});
}
