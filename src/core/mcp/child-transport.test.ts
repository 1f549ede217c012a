// What a program prints is read within bounds: however much of it there is, others have their turn.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import { createProgram } from "../../../test/support/mcp/mcp-program.ts";
import { createDeferred } from "../../base/deferred.ts";
import { silentLog } from "../../base/log.ts";
import { ChildTransport } from "./child-transport.ts";
import { createServerLog } from "./server-log.ts";

async function createSubject() {
	const program = createProgram({ handle: () => true });
	const clock = createFakeClock();
	const transport = new ChildTransport({
		request: { file: "server", arguments: [], workDir: "/", environment: {} },
		processes: program.processes,
		clock,
		log: createServerLog("s", clock, silentLog),
	});
	const heard: JSONRPCMessage[] = [];
	transport.onmessage = (message) => void heard.push(message);
	await transport.start();
	return { run: program.run(), transport, heard };
}

const ping = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;
const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;

describe("the output of a server's program", () => {
	it.each([
		["invalid messages", "x\n".repeat(500_000)],
		["nearly valid messages", "{x\n".repeat(200_000)],
		["messages", ping(1).repeat(200_000)],
	])("is read without blocking the event loop: %s", { timeout: 60_000 }, async (_, text) => {
		const pause = await shortestPause(async () => {
			const { run, transport } = await createSubject();
			const last = createDeferred<void>();
			transport.onmessage = (message) => {
				if ("id" in message && message.id === 2) last.resolve();
			};
			// A pipe gives no more at a time.
			for (let start = 0; start < text.length; start += 65_536) {
				run.print(text.slice(start, start + 65_536));
				await nextTurn();
			}
			run.print(ping(2));
			await last.promise;
		});
		expect(pause).toBeLessThan(longestPause);
	});

	it("is read in order, even though the reader yields", async () => {
		const { run, transport } = await createSubject();
		const ids: unknown[] = [];
		const last = createDeferred<void>();
		transport.onmessage = (message) => {
			if ("id" in message) ids.push(message.id);
			if ("id" in message && message.id === 50_002) last.resolve();
		};
		run.print(Array.from({ length: 50_000 }, (_, id) => ping(id)).join(""));
		run.print(ping(50_000));
		run.print(ping(50_001));
		run.print(ping(50_002));
		await last.promise;
		expect(ids).toEqual(Array.from({ length: 50_003 }, (_, id) => id));
	});

	it("becomes an error for an answer that nests too deeply", async () => {
		const { run, transport, heard } = await createSubject();
		await transport.send({ jsonrpc: "2.0", id: 7, method: "tools/list" });
		run.print(`{"jsonrpc":"2.0","id":7,"result":${deep}}\n`);
		expect(heard).toEqual([
			{ jsonrpc: "2.0", id: 7, error: { code: -32603, message: "its answer nests more than 200 levels deep" } },
		]);
	});

	it.each(["text", null, 5, [1], true])("becomes an error for an answer with the result %j", async (result) => {
		const { run, transport, heard } = await createSubject();
		await transport.send({ jsonrpc: "2.0", id: 7, method: "tools/list" });
		run.print(`${JSON.stringify({ jsonrpc: "2.0", id: 7, result })}\n`);
		expect(heard).toEqual([
			{ jsonrpc: "2.0", id: 7, error: { code: -32603, message: "the result in its answer is not an object" } },
		]);
	});

	it("is answered with an error for a request that nests too deeply or is too long", async () => {
		const { run, transport, heard } = await createSubject();
		const last = createDeferred<void>();
		transport.onmessage = (message) => {
			heard.push(message);
			last.resolve();
		};
		run.print(`{"jsonrpc":"2.0","id":"a","method":"elicitation/create","params":{"x":${deep}}}\n`);
		run.print(`{"jsonrpc":"2.0","id":"b","method":"elicitation/create","params":{"x":"${"y".repeat(70_000)}"}}\n`);
		run.print(`{"jsonrpc":"2.0","method":"notifications/message","params":{"x":${deep}}}\n`);
		run.print(`{"jsonrpc":"2.0","id":${deep},"result":{"x":${deep}}}\n`);
		run.print(ping(1));
		await last.promise;
		expect(heard).toEqual([{ jsonrpc: "2.0", id: 1, method: "ping" }]);
		expect(run.received).toEqual([
			{ jsonrpc: "2.0", id: "a", error: { code: -32600, message: "The request nests more than 200 levels deep." } },
			{ jsonrpc: "2.0", id: "b", error: { code: -32600, message: "The request has more than 65536 characters." } },
		]);
	});
});
