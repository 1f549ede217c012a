// The calls that clients of Meerkat RPC live on, in both eras and under both names, read by a client that takes nothing
// amiss silently.
import { symlinkSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createDeferred } from "../../src/base/deferred.ts";
import { createStage, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";
import type { ClientEra } from "../support/meerkat/meerkat-shapes.ts";
import {
	AnsweredError,
	type ClientEvent,
	type ClientTool,
	MeerkatClient,
} from "../support/meerkat/strict-meerkat-client.ts";
import { createHeldStage } from "../support/models/held-provider.ts";

function named(stage: Stage, name: string): string {
	const executable = path.join(stage.shareDir, name);
	symlinkSync(executablePath, executable);
	return executable;
}

const paint: ClientTool = {
	name: "paint",
	description: "Paints.",
	input_schema: { type: "object", properties: { color: { type: "string" } } },
	run: ({ color }) => ({ content: `${color} and wet`, is_error: false }),
};

async function caught(work: Promise<unknown>): Promise<AnsweredError> {
	const thrown: unknown = await work.then(
		() => null,
		(reason: unknown) => reason,
	);
	if (thrown instanceof AnsweredError) return thrown;
	throw thrown;
}

const eras: readonly (readonly [ClientEra, string])[] = [
	["seed", "rkat"],
	["contract", "rkat"],
	["contract", "rkat-rpc"],
];

describe.each(eras)("a client of the %s era that starts %s", (era, name) => {
	const connect = (stage: Stage, tools: readonly ClientTool[] = []) =>
		MeerkatClient.connect(stage, { era, executable: named(stage, name), tools });
	const notFound = era === "seed" ? -32000 : -32001;
	const isIdle = era === "seed" ? { state: "idle" } : { is_active: false };

	it("finds every method it needs", async () => {
		const client = await connect(createStage());
		expect(client.methods).toEqual(
			expect.arrayContaining([
				"initialize",
				"session/create",
				"session/list",
				"session/read",
				"session/history",
				"session/archive",
				"turn/start",
				"turn/interrupt",
				"config/get",
				"config/set",
				"config/patch",
			]),
		);
		expect(await client.close()).toBe(0);
	});

	it("creates a session, sends a prompt, reads, lists, reads the history and archives", async () => {
		const scripts = [
			'text: Hello\u0020there\nusage: {"input_other": 9, "output": 2}',
			'think: Hm.\ntext: Again\nusage: {"input_other": 3, "output": 1, "input_cache_read": 5}',
		];
		const client = await connect(createStage({ scripts }));
		const first = await client.createSession("Hi", { enable_builtins: true });
		expect(first).toMatchObject({ text: "Hello there", turns: 1, tool_calls: 0 });
		const { session_id } = first;
		const second = await client.turn(session_id, "More\u2028please");
		expect(second).toMatchObject({ session_id, text: "Again", usage: { input_tokens: 17, output_tokens: 3 } });
		expect(client.events(session_id).filter(({ type }) => type === "run_completed")).toHaveLength(2);

		expect(await client.readSession(session_id)).toMatchObject({ session_id, ...isIdle });
		expect(await client.listSessions()).toEqual([expect.objectContaining({ session_id, ...isIdle })]);
		const history = await client.history(session_id);
		expect(history.messages.map(({ role }) => role)).toEqual([
			"system",
			"user",
			"block_assistant",
			"user",
			"block_assistant",
		]);
		expect(history.messages[3]).toMatchObject({ content: "More\u2028please" });
		expect(await client.history(session_id, { offset: 1, limit: 2 })).toMatchObject({
			message_count: 5,
			offset: 1,
			has_more: true,
			messages: history.messages.slice(1, 3),
		});

		await client.archive(session_id);
		expect(await client.listSessions()).toEqual([]);
		for (const work of [client.turn(session_id, "x"), client.readSession(session_id)]) {
			expect(await caught(work)).toMatchObject({ code: "SESSION_NOT_FOUND", number: notFound });
		}
		const afterwards = client.history(session_id);
		if (era === "contract") expect((await afterwards).messages).toEqual(history.messages);
		else expect(await caught(afterwards)).toMatchObject({ code: "SESSION_NOT_FOUND", number: notFound });
		expect(client.late).toBe(0);
		expect(await client.close()).toBe(0);
	});

	it("creates a session first and sends the prompt later, with tools of its own", async () => {
		const scripts = [toolCall("c1", "paint", { color: "red" }), "text: Painted."];
		const client = await connect(createStage({ scripts }), [paint]);
		const session_id = await client.createDeferredSession("first");
		expect(await client.history(session_id)).toMatchObject({ message_count: 0, messages: [] });
		const events: ClientEvent[] = [];
		const stream = client.stream(session_id, "go");
		for (;;) {
			const next = await stream.next();
			if (next.done === true) {
				expect(next.value).toMatchObject({ text: "Painted.", turns: 2, tool_calls: 1 });
				break;
			}
			events.push(next.value);
		}
		expect(events.map(({ type }) => type)).toEqual([
			"run_started",
			"turn_started",
			"tool_call_requested",
			"tool_execution_started",
			"tool_execution_completed",
			"tool_result_received",
			"turn_completed",
			"turn_started",
			"text_delta",
			"text_complete",
			"turn_completed",
			"run_completed",
		]);
		expect(events.find(({ type }) => type === "tool_execution_completed")).toMatchObject({ result: "red and wet" });
		const prompts = events.filter(({ type }) => type === "run_started").map((event) => event["prompt"]);
		// The prompt of a deferred session precedes that of its first turn.
		expect(prompts).toEqual(["first\n\ngo"]);
		expect(await client.close()).toBe(0);
	});

	it("finds in every event of a tool what the tool returned, also where it failed", async () => {
		const scripts = [
			`${toolCall("c1", "nothing", {})}\ntool_call: {"id":"c2","name":"paint","arguments":"[1]"}`,
			"text: Well.",
		];
		const client = await connect(createStage({ scripts }), [paint]);
		const { session_id } = await client.createSession("go");
		const of = (type: string) => client.events(session_id).filter((event) => event.type === type);
		expect(of("tool_execution_completed").map((event) => event["is_error"])).toEqual([true, true]);
		if (era === "contract") {
			const contents = of("tool_result_received").map((event) => event["content"]);
			expect(contents).toEqual(of("tool_execution_completed").map((event) => event["content"]));
			expect(of("tool_call_requested")[1]).toMatchObject({ args: { value: [1] } });
		}
		expect(await client.close()).toBe(0);
	});

	it("reads line separators in prompts and answers as they are", async () => {
		const { stage, nextRequest } = await createHeldStage();
		const client = await connect(stage);
		const running = client.createSession("a\u2028b\u2029c");
		const request = await nextRequest();
		expect(JSON.stringify(request.messages)).toContain("a\u2028b\u2029c");
		await request.say("d\u2028e\u2029f\u0085g");
		request.end();
		const { session_id, text } = await running;
		expect(text).toBe("d\u2028e\u2029f\u0085g");
		expect(client.events(session_id)[0]).toMatchObject({ prompt: "a\u2028b\u2029c" });
		expect(await client.close()).toBe(0);
	});

	it("interrupts, and goes on", async () => {
		const scripts = [Array.from({ length: 50_000 }, () => `text: ${"x".repeat(100)}`).join("\n"), "text: Back."];
		const client = await connect(createStage({ scripts }));
		const session_id = await client.createDeferredSession("");
		await client.interrupt(session_id);
		const stream = client.stream(session_id, "go");
		const types: string[] = [];
		const failure = caught(
			(async () => {
				for await (const { type } of stream) {
					if (type === "text_delta" && !types.includes(type)) void client.interrupt(session_id);
					types.push(type);
				}
			})(),
		);
		expect(await failure).toMatchObject({
			code: "REQUEST_CANCELLED",
			number: era === "seed" ? -32603 : -32005,
			data: { session_id },
		});
		expect(types.at(-1)).toBe("run_failed");
		expect(types).not.toContain("text_complete");
		expect(await client.turn(session_id, "again")).toMatchObject({ text: "Back." });
		expect(client.late).toBe(0);
		expect(await client.close()).toBe(0);
	});

	it("reads the error of a run, and has a session that is busy as its era has it", async () => {
		const scripts = ["error: 401 no key", toolCall("s", "Shell", { command: "sleep 30" }), "text: Two."];
		const stage = createStage({ scripts });
		const client = await connect(stage);
		const failure = await caught(client.createSession("go", { enable_builtins: true, enable_shell: true }));
		expect(failure).toMatchObject({ code: "PROVIDER_ERROR", number: era === "seed" ? -32002 : -32010 });
		const [session] = await client.listSessions();
		expect(failure.data).toMatchObject({ session_id: session?.session_id });
		const { session_id } = session ?? { session_id: "" };
		const begun = createDeferred<void>();
		const running = caught(
			(async () => {
				for await (const { type } of client.stream(session_id, "one")) {
					if (type === "tool_execution_started") begun.resolve();
				}
			})(),
		);
		await begun.promise;
		const second = client.turn(session_id, "two");
		if (era === "seed") expect(await caught(second)).toMatchObject({ code: "SESSION_BUSY", number: -32001 });
		await client.interrupt(session_id);
		expect(await running).toMatchObject({ code: "REQUEST_CANCELLED" });
		// A turn of the contract waits for the one before it, however that ends.
		if (era === "contract") expect(await second).toMatchObject({ text: "Two." });
		expect(await client.close()).toBe(0);
	});

	it("reads the configuration", async () => {
		const client = await connect(createStage());
		// Without a model of its own; the contract's server says so with an empty text.
		const model = era === "seed" ? null : "";
		const config = { agent: expect.objectContaining({ model }), max_tokens: 16_384 };
		expect(await client.getConfig()).toMatchObject(era === "seed" ? config : { config, generation: 0 });
		expect(await client.close()).toBe(0);
	});

	it("closes in the middle of a run, and the process ends well", async () => {
		const client = await connect(createStage({ scripts: [toolCall("c", "paint", {})] }), [
			{ ...paint, run: () => ({ content: "never", is_error: false }) },
		]);
		const session_id = await client.createDeferredSession("");
		const stream = client.stream(session_id, "go");
		expect((await stream.next()).value).toMatchObject({ type: "run_started" });
		const rest = caught(
			(async () => {
				for await (const _ of stream);
			})(),
		).catch(() => null);
		expect(await client.close()).toBe(0);
		await rest;
	});
});
