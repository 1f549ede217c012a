// Lines as they really arrive: pipelined, without their last newline, huge, or in pieces.
import { describe, expect, it } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { outline } from "../support/executable/running-server.ts";

const shellCall = (command: string) => toolCall("call-1", "Shell", { command });
describe("lines", () => {
	it("accepts a last line without newline", async () => {
		const server = createStage().serve("--wire");
		server.write('{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocol_version":"1.10"}}');
		server.endInput();
		expect(await server.readAll()).toEqual([expect.objectContaining({ id: "i", result: expect.anything() })]);
		expect(await server.exited).toBe(0);
	});

	it("answers everything that was sent ahead of the end of input", async () => {
		const server = createStage({ scripts: [`text: a\n${shellCall("sleep 1000")}`] }).serve("--wire", "--yolo");
		server.initialize();
		server.prompt("hi");
		server.request("cancel-nothing", "unheard-of");
		server.endInput();
		const lines = await server.readAll();
		expect(await server.exited).toBe(0);
		expect(outline(lines.filter(({ id }) => id !== undefined)).toSorted()).toEqual(["-32601", "cancelled", "result"]);
		const events = outline(lines.filter(({ method }) => method === "event"));
		expect([events[0], events.at(-1)]).toEqual(["TurnBegin", "TurnEnd"]);
		expect(lines.at(-1)).toEqual({ jsonrpc: "2.0", id: "prompt", result: { status: "cancelled" } });
	});

	it("accepts a line of 3 MB", async () => {
		const server = createStage().serve("--wire");
		const text = "ü".repeat(1_500_000);
		server.prompt(text);
		expect((await server.message("TurnBegin")).params?.payload).toEqual({ user_input: text });
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
	});

	it("refuses a line over 100 MiB and goes on", async () => {
		const server = createStage().serve("--wire");
		const megabyte = Buffer.alloc(1024 * 1024, "x");
		for (let n = 0; n < 100; n += 1) server.write(megabyte);
		server.write("x\n");
		server.initialize();
		expect(await server.read()).toEqual({
			jsonrpc: "2.0",
			id: null,
			error: { code: -32700, message: "Invalid JSON format", data: null },
		});
		expect(await server.read()).toMatchObject({ id: "initialize", result: { protocol_version: "1.10" } });
	});

	it("joins characters that arrive in pieces", async () => {
		const server = createStage().serve("--wire");
		const prompt = { jsonrpc: "2.0", id: "prompt", method: "prompt", params: { user_input: "€𝄞" } };
		const initialize = { jsonrpc: "2.0", id: "i", method: "initialize", params: { protocol_version: "1.10" } };
		const bytes = Buffer.from(`${JSON.stringify(prompt)}\n`);
		const inside = bytes.indexOf(0xe2) + 1;
		server.write(Buffer.concat([Buffer.from(`${JSON.stringify(initialize)}\n`), bytes.subarray(0, inside)]));
		// The answer shows that the first piece was read.
		await server.response("i");
		server.write(bytes.subarray(inside));
		expect((await server.message("TurnBegin")).params?.payload).toEqual({ user_input: "€𝄞" });
	});
});
