// What the client library does, whichever way it is connected.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { type Approval, cursorOf, type Kernel, PeerGone, type TurnEvent, tool } from "../../src/client/client.ts";
import { makeDirectory } from "../support/client/client-places.ts";

export interface ClientPlace {
	readonly kernel: Kernel;
	/** An empty directory. */
	readonly workDir: string;
}

export interface ClientSubject {
	/** A kernel whose model gives these answers in turn, in each session from the first on. */
	connect(scripts: readonly string[]): Promise<ClientPlace>;
}

const weatherCall = 'tool_call: {"id":"c1","name":"weather","arguments":"{\\"city\\":\\"Bern\\"}"}\n';
const shellCall = 'tool_call: {"id":"c2","name":"Shell","arguments":"{\\"command\\":\\"echo hi > made\\"}"}\n';

export function describeClient({ connect }: ClientSubject): void {
	const start = async (...scripts: string[]) => {
		const { kernel, workDir } = await connect(scripts);
		onTestFinished(() => kernel.close());
		return { kernel, workDir };
	};

	it("gives a turn's events to whoever iterates, and its result to whoever awaits, in any order and number", async () => {
		const { kernel, workDir } = await start("text: Hello\n");
		const session = await kernel.open({ workDir });
		const turn = session.prompt("Hi");
		const result = await turn;
		expect(result).toMatchObject({ outcome: "finished", text: "Hello", error: null });
		expect(result.turnId).toBe(turn.id);
		for (const _ of [1, 2]) {
			const events: TurnEvent[] = [];
			for await (const event of turn) events.push(event);
			expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["step", "text", "ended"]));
			expect(events.at(-1)).toMatchObject({ type: "ended", result });
			expect(events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("")).toBe("Hello");
		}
	});

	it("calls tools of this process and shows what they return to the model; a thrown error too", async () => {
		const { kernel, workDir } = await start(weatherCall, weatherCall.replace("c1", "c9"), "text: done\n");
		const cities: unknown[] = [];
		const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
		const weather = tool("weather", "The weather of a city", schema, (args) => {
			cities.push(args);
			if (cities.length > 1) throw new Error("no data");
			return { degrees: 20 };
		});
		const session = await kernel.open({ workDir, tools: [weather] });
		const turn = session.prompt("Weather?");
		await turn;
		const ended: unknown[] = [];
		for await (const event of turn) if (event.type === "call.ended") ended.push([event.isError, event.output]);
		expect(cities).toEqual([{ city: "Bern" }, { city: "Bern" }]);
		expect(ended).toEqual([
			[false, '{"degrees":20}'],
			[true, "weather failed: no data"],
		]);
	});

	it("asks the callback for approvals; one that throws rejects, with its message for the model", async () => {
		const { kernel, workDir } = await start(shellCall, shellCall.replace("c2", "c3"), "text: done\n");
		const asked: Approval[] = [];
		const session = await kernel.open({
			workDir,
			approve(ask) {
				asked.push(ask);
				if (asked.length > 1) throw new Error("not today");
				return ask.once();
			},
		});
		const turn = session.prompt("Make it");
		expect((await turn).outcome).toBe("finished");
		expect(asked.map((ask) => ask.tool)).toEqual(["Shell", "Shell"]);
		const outputs: string[] = [];
		for await (const event of turn) if (event.type === "call.ended") outputs.push(event.output);
		expect(outputs[1]).toContain("not today");
	});

	it("goes back to before a turn, with the files that it changed", async () => {
		const write = (id: string, command: string) =>
			`tool_call: {"id":"${id}","name":"Shell","arguments":${JSON.stringify(JSON.stringify({ command }))}}\n`;
		const { kernel, workDir } = await start(
			write("c1", "echo one > made; echo keep > kept"),
			"text: first\n",
			write("c2", "echo two > made; rm kept; echo new > new"),
			"text: second\n",
			"text: /rewind is no prompt\n",
		);
		const events: string[] = [];
		const session = await kernel.open({
			workDir,
			approve: (ask) => ask.once(),
			onEvent: ({ type }) => events.push(type),
		});
		const read = (name: string) => readFile(path.join(workDir, name), "utf8").catch(() => null);
		const first = await session.prompt("One");
		const second = await session.prompt("Two");
		expect((await session.changes()).map(({ id, complete, files }) => [id, complete, files.length])).toEqual([
			[first.turnId, true, 2],
			[second.turnId, true, 3],
		]);
		const before = second.turnId ?? "";
		const dry = await session.rewind({ before, dryRun: true });
		expect(dry).toMatchObject({ files: null, messages: null });
		expect(dry.plan?.files.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual([
			{ path: "kept", action: "create", lines: { added: 1, removed: 0 }, conflict: false },
			{ path: "made", action: "change", lines: { added: 1, removed: 1 }, conflict: false },
			{ path: "new", action: "delete", lines: { added: 0, removed: 1 }, conflict: false },
		]);
		expect(await read("made")).toBe("two\n");
		await writeFile(path.join(workDir, "new"), "mine");
		const stopped = await session.rewind({ before });
		expect(stopped).toMatchObject({ files: { id: null, restored: [] }, messages: null });
		const done = await session.rewind({ before, conflicts: "skip" });
		expect(done.files?.restored.toSorted()).toEqual(["kept", "made"]);
		expect(done.files?.left.map((each) => each.path)).toEqual(["new"]);
		expect([await read("made"), await read("kept"), await read("new")]).toEqual(["one\n", "keep\n", "mine"]);
		// The input, the call, its result and the answer.
		expect(done.messages).toBe(4);
		const undone = await session.rewind({ before: done.files?.id ?? "", conversation: false });
		expect(undone.files?.restored.toSorted()).toEqual(["kept", "made"]);
		expect(await read("made")).toBe("two\n");
		const listed = await session.prompt("/rewind");
		expect(listed.text).toContain("1. One (changed files)");
		expect(listed.text).not.toContain("2. Two");
		await expect(session.rewind({ before: "nothing" })).rejects.toMatchObject({ code: "invalid-input" });
		expect(events.filter((type) => type === "files.snapshot" || type === "session.rewound")).toEqual([
			"files.snapshot",
			"files.snapshot",
			"session.rewound",
		]);
	});

	it("forks with the files, and goes back in both", async () => {
		const write = (id: string, command: string) =>
			`tool_call: {"id":"${id}","name":"Shell","arguments":${JSON.stringify(JSON.stringify({ command }))}}\n`;
		const scripts = [write("c1", "echo one > made"), "text: first\n", write("c2", "echo two > made"), "text: second\n"];
		const { kernel, workDir } = await start(...scripts);
		const session = await kernel.open({ workDir, approve: (ask) => ask.once() });
		const first = (await session.prompt("One")).turnId ?? "";
		const second = (await session.prompt("Two")).turnId ?? "";
		const directory = path.join(await makeDirectory(), "forked");
		const read = (place: string) => readFile(path.join(place, "made"), "utf8").catch(() => null);
		const files = { directory };
		const fork = await kernel.open({ fork: session.id, before: second, files, approve: (ask) => ask.once() });
		expect(fork.workDir).toBe(directory);
		expect([await read(workDir), await read(directory)]).toEqual(["two\n", "one\n"]);
		await expect(kernel.open({ fork: session.id, files })).rejects.toThrow("exists and is not empty");
		const beside = await kernel.open({ fork: session.id });
		expect(await beside.rewind({ before: second, dryRun: true })).toMatchObject({
			plan: { files: [{ path: "made", action: "change" }] },
		});
		await fork.rewind({ before: first });
		expect([await read(workDir), await read(directory)]).toEqual(["two\n", null]);
		await session.rewind({ before: second });
		expect([await read(workDir), await read(directory)]).toEqual(["one\n", null]);
	});

	it("lists what waits without a callback, and settles it once", async () => {
		const { kernel, workDir } = await start(shellCall, "text: done\n");
		const session = await kernel.open({ workDir });
		const turn = session.prompt("Make it");
		for await (const event of turn) if (event.type === "approval") break;
		const [ask] = await session.waiting();
		if (ask?.kind !== "approval") throw new Error("nothing waits");
		expect(await ask.once()).toMatchObject({ settled: true });
		expect(await ask.reject()).toMatchObject({ settled: false });
		expect((await turn).outcome).toBe("finished");
	});

	it("cancels a turn, whose result says so, and resolves a cancel of one that is over", async () => {
		const { kernel, workDir } = await start(shellCall, "text: done\n");
		const session = await kernel.open({ workDir });
		const turn = session.prompt("Make it");
		for await (const event of turn) if (event.type === "approval") await turn.cancel();
		expect(await turn).toMatchObject({ outcome: "cancelled", error: null });
		await turn.cancel();
		expect(await session.cancel()).toBe(false);
	});

	it("reports a prompt that cannot start as a failed result", async () => {
		const { kernel, workDir } = await start(shellCall, "text: done\n");
		const session = await kernel.open({ workDir });
		const turn = session.prompt("Make it");
		for await (const event of turn) if (event.type === "approval") break;
		expect(await session.prompt("Now")).toMatchObject({ outcome: "failed", error: { code: "busy" } });
		await turn.cancel();
	});

	it("finds its sessions again, with what was said, and starts one prompt once under its key", async () => {
		const { kernel, workDir } = await start("text: first\n", "text: second\n");
		const session = await kernel.open({ workDir });
		const first = await session.prompt("One", { key: "job-1" });
		await session.close();
		const again = await kernel.open({ id: session.id });
		expect(again.workDir).toBe(workDir);
		const texts: unknown[] = [];
		for await (const event of again.history()) if (event.type === "content.completed") texts.push(event.part);
		expect(texts).toEqual([{ type: "text", text: "first" }]);
		const listed: string[] = [];
		for await (const { id } of kernel.sessions({ workDir })) listed.push(id);
		expect(listed).toContain(session.id);
		expect(first.text).toBe("first");
		expect((await again.prompt("Two")).text).toBe("second");
	});

	it("settles every promise when it is closed", async () => {
		const { kernel, workDir } = await start(shellCall);
		const session = await kernel.open({ workDir });
		const turn = session.prompt("Make it");
		for await (const event of turn) if (event.type === "approval") break;
		await kernel.close();
		await expect(turn.then((result) => result)).rejects.toBeInstanceOf(PeerGone);
		await expect(session.prompt("More").then((result) => result)).rejects.toBeInstanceOf(PeerGone);
	});

	it("answers questions through the callback, and dismisses them when it throws", async () => {
		const question = (id: string) => call(id, "AskUserQuestion", { questions: [{ ...colorQuestion }] });
		const { kernel, workDir } = await start(question("c1"), question("c2"), "text: done\n");
		let count = 0;
		const session = await kernel.open({
			workDir,
			question(ask) {
				count += 1;
				if (count > 1) throw new Error("nobody is here");
				return ask.answer({ [ask.questions[0]?.question ?? ""]: "Red" });
			},
		});
		const outputs = await callOutputs(session.prompt("Ask me"));
		expect(outputs[0]).toContain("Red");
		expect(outputs[1]).not.toContain("Red");
	});

	it("lets hooks of this process block a call with a reason for the model; one that throws blocks", async () => {
		const { kernel, workDir } = await start(shellCall, shellCall.replace("c2", "c3"), "text: done\n");
		const targets: string[] = [];
		const run = (_: unknown, target: string) => {
			targets.push(target);
			if (targets.length > 1) throw new Error("hook bug");
			return { block: "not on my watch" };
		};
		const session = await kernel.open({
			workDir,
			mode: "yolo",
			hooks: [{ event: "PreToolUse", matcher: "Shell", run }],
		});
		const outputs = await callOutputs(session.prompt("Make it"));
		expect(outputs[0]).toContain("not on my watch");
		expect(outputs[1]).toContain("hook bug");
		expect(targets).toEqual(["Shell", "Shell"]);
	});

	it("returns structured output, typed by a zod schema or as plain JSON Schema says", async () => {
		const { kernel, workDir } = await start('text: {"city":"Bern","degrees":20}', 'text: {"a":1}');
		const session = await kernel.open({ workDir });
		const Weather = z.object({ city: z.string(), degrees: z.number().transform((value) => `${value} C`) });
		const { output } = await session.prompt("Weather?", { output: Weather });
		expect(output?.degrees.endsWith("C")).toBe(true);
		expect(output).toEqual({ city: "Bern", degrees: "20 C" });
		const plain = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
		expect((await session.prompt("And?", { output: plain })).output).toEqual({ a: 1 });
	});

	it("fails a turn whose answer never fits the schema", async () => {
		const { kernel, workDir } = await start("text: no", "text: no", "text: no", 'text: {"a":1}');
		const session = await kernel.open({ workDir });
		const plain = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
		expect(await session.prompt("First", { output: plain, outputRetries: 1 })).toMatchObject({
			outcome: "failed",
			output: null,
			error: { code: "invalid-output" },
		});
		const refined = z.object({ a: z.number().refine((value) => value > 1, "too small") });
		expect(await session.prompt("Second", { output: refined })).toMatchObject({
			outcome: "failed",
			error: { code: "invalid-output", message: "The answer does not fit the schema: a: too small" },
		});
	});

	it("validates the arguments of a tool with its zod schema before it runs", async () => {
		const { kernel, workDir } = await start(weatherCall.replace("Bern", "X"), weatherCall, "text: done\n");
		const cities: string[] = [];
		const weather = tool(
			"weather",
			"The weather",
			z.object({ city: z.string().refine((city) => city !== "X", "unknown") }),
			({ city }) => {
				cities.push(city);
				return "sunny";
			},
		);
		const session = await kernel.open({ workDir, tools: [weather] });
		const outputs = await callOutputs(session.prompt("Weather?"));
		expect(cities).toEqual(["Bern"]);
		expect(outputs).toEqual(["weather failed: the arguments do not fit the schema: city: unknown", "sunny"]);
	});

	it("steers the running turn, and only that", async () => {
		const { kernel, workDir } = await start(shellCall, "text: done\n");
		const session = await kernel.open({ workDir });
		const turn = session.prompt("Make it");
		for await (const event of turn) {
			if (event.type !== "approval") continue;
			await turn.steer("also that");
			await event.ask.once();
		}
		await expect(turn.steer("too late")).rejects.toMatchObject({ code: "no-turn" });
		const steered: unknown[] = [];
		for await (const event of session.history()) if (event.type === "steer.consumed") steered.push(event.input);
		expect(steered).toEqual(["also that"]);
	});

	it("ends a turn whose budget is used up as a limit", async () => {
		const { kernel, workDir } = await start(shellCall, shellCall.replace("c2", "c3"), "text: done\n");
		const session = await kernel.open({ workDir, mode: "yolo", budgets: { turnToolCalls: 1 } });
		expect(await session.prompt("Make it")).toMatchObject({ outcome: "limit", error: { code: "budget-exhausted" } });
	});

	it("sends files with a prompt", async () => {
		const { kernel, workDir } = await start("text: seen\n");
		const session = await kernel.open({ workDir });
		const data = new TextEncoder().encode("a note");
		const files = [
			{ name: "note.txt", type: "text/plain", data },
			{ name: "dot.png", type: "image/png", data: onePixel },
		];
		expect((await session.prompt("Look", { files })).outcome).toBe("finished");
		const inputs: unknown[] = [];
		for await (const event of session.history()) if (event.type === "turn.started") inputs.push(event.input);
		expect(JSON.stringify(inputs)).toContain("a note");
		expect(JSON.stringify(inputs)).toContain(onePixel);
	});

	it("forks, archives and deletes sessions", async () => {
		const { kernel, workDir } = await start("text: done\n");
		const session = await kernel.open({ workDir });
		await session.prompt("One");
		const copy = await kernel.open({ fork: session.id });
		expect(copy.id).not.toBe(session.id);
		expect(copy.workDir).toBe(workDir);
		expect((await copy.prompt("Two")).text).toBe("done");
		await copy.close();
		await kernel.archive(copy.id);
		await session.close();
		await kernel.delete(session.id);
		await kernel.delete(session.id);
		await expect(kernel.open({ id: session.id })).rejects.toMatchObject({ code: "session-not-found" });
	});

	it("gives every event after a cursor, ends with the session, and survives an onEvent that throws", async () => {
		const error = vi.spyOn(console, "error").mockImplementation(() => {});
		onTestFinished(() => error.mockRestore());
		const { kernel, workDir } = await start("text: first\n", "text: second\n");
		const session = await kernel.open({
			workDir,
			onEvent() {
				throw new Error("a bug of the program");
			},
		});
		expect((await session.prompt("One")).text).toBe("first");
		expect(error).toHaveBeenCalled();
		const cursors = [];
		for await (const event of session.history()) if (event.type === "turn.ended") cursors.push(cursorOf(event));
		const [after] = cursors;
		if (after === undefined || after === null) throw new Error("no turn ended");
		await session.prompt("Two");
		const types: string[] = [];
		for await (const event of session.events({ after })) {
			if (cursorOf(event) !== null) types.push(event.type);
			if (event.type === "turn.ended") await session.close();
		}
		expect(types[0]).toBe("turn.started");
		expect(types.filter((type) => type === "turn.started")).toHaveLength(1);
	});

	it("gives a repeated prompt the turn that its key has started, running or over", async () => {
		const { kernel, workDir } = await start("text: before\n", shellCall, "text: once\n");
		const session = await kernel.open({ workDir });
		await session.prompt("Before");
		const first = session.prompt("Make it", { key: "job-1" });
		for await (const event of first) if (event.type === "approval") break;
		const other = await kernel.open({ id: session.id });
		const [here, there] = [session, other].map((each) => each.prompt("Make it", { key: "job-1" }));
		for await (const event of there ?? []) if (event.type === "approval") await event.ask.once();
		const result = await first;
		expect(result).toMatchObject({ outcome: "finished", text: "once" });
		expect(await here).toEqual(result);
		expect(await there).toEqual(result);
		expect(await other.prompt("Make it", { key: "job-1" })).toEqual(result);
	});

	it("cancels a turn that has not started yet, by its signal too", async () => {
		const { kernel, workDir } = await start(shellCall, shellCall.replace("c2", "c3"), "text: done\n");
		const session = await kernel.open({ workDir });
		const turn = session.prompt("Make it");
		await turn.cancel();
		expect((await turn).outcome).toBe("cancelled");
		expect((await session.prompt("Again", { signal: AbortSignal.abort() })).outcome).toBe("cancelled");
	});

	it("is released by await using", async () => {
		const { kernel: opened, workDir } = await start("text: done\n");
		let turn: PromiseLike<unknown> | undefined;
		{
			await using kernel = opened;
			await using session = await kernel.open({ workDir });
			turn = session.prompt("Hi");
		}
		await expect(Promise.resolve(turn)).rejects.toBeInstanceOf(PeerGone);
	});

	it("runs the approved command", async () => {
		const { kernel, workDir } = await start(shellCall, "text: done\n");
		const session = await kernel.open({ workDir, approve: (ask) => ask.once() });
		await session.prompt("Make it");
		expect(await readFile(path.join(workDir, "made"), "utf8")).toBe("hi\n");
	});
}

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const colorQuestion = {
	question: "Which color?",
	header: "Color",
	options: [
		{ label: "Red", description: "warm" },
		{ label: "Blue", description: "cold" },
	],
	multi_select: false,
};

function call(id: string, name: string, args: object): string {
	return `tool_call: ${JSON.stringify({ id, name, arguments: JSON.stringify(args) })}\n`;
}

async function callOutputs(turn: AsyncIterable<TurnEvent>): Promise<readonly string[]> {
	const outputs: string[] = [];
	for await (const event of turn) if (event.type === "call.ended") outputs.push(event.output);
	return outputs;
}
