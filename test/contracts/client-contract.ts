// What the client library does, whichever way it is connected.
import { expect, it, onTestFinished } from "vitest";
import { type Approval, type Kernel, PeerGone, type TurnEvent, tool } from "../../src/client/client.ts";

export interface ClientSubject {
	/** A kernel whose model answers the prompts of all sessions with these scripts in turn. */
	connect(scripts: readonly string[]): Promise<{ readonly kernel: Kernel; readonly workDir: string }>;
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
}
