// A prompt of 64 megabytes: it is persisted, delivered, replayed and resumed without many copies of it in memory at once.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createStage, type Stage } from "../support/executable/executable.ts";
import type { Server } from "../support/executable/running-server.ts";

const megabyte = 1024 * 1024;
const memoryLimit = 600 * megabyte;
const length = 64_000_000;

const texts = {
	"plain text": "abcdefghij klmno".repeat(length / 16),
	"text that is escaped": 'a\n"b'.repeat(length / 4),
	"text beyond Latin": "häßlich – ".repeat(length / 14),
};

/** The most bytes of memory that the server has had so far. */
function peakOf({ pid }: Server): number {
	const [, kilobytes = ""] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
	return Number(kilobytes) * 1024;
}

function createRoomyStage(): Stage {
	return createStage({ scripts: ["text: done", "text: again"], modelSettings: { max_context_size: 1_000_000_000 } });
}

async function measure(server: Server, id: string): Promise<number> {
	const { result, error } = await server.response(id);
	expect({ result, error }).toEqual({ result: expect.anything(), error: undefined });
	const peak = peakOf(server);
	server.endInput();
	expect(await server.exited).toBe(0);
	return peak;
}

describe.runIf(process.platform === "linux")("a prompt of 64 megabytes", () => {
	it.each(Object.entries(texts))(
		"takes less than 600 megabytes of memory in Kimi Wire: %s",
		{ timeout: 120_000 },
		async (_, text) => {
			const stage = createRoomyStage();
			const server = stage.serve("--wire");
			server.initialize();
			server.prompt(text);
			expect(await measure(server, "prompt")).toBeLessThan(memoryLimit);

			const replaying = stage.serve("--wire", "--continue");
			replaying.initialize();
			replaying.request("replay", "replay");
			expect(await measure(replaying, "replay")).toBeLessThan(memoryLimit);

			const resumed = stage.serve("--wire", "--continue");
			resumed.initialize();
			resumed.prompt("again");
			expect(await measure(resumed, "prompt")).toBeLessThan(memoryLimit);
		},
	);

	it("takes less than 600 megabytes of memory in Meerkat", { timeout: 120_000 }, async () => {
		const server = createRoomyStage().serve("rpc");
		server.request("create", "session/create", { prompt: texts["plain text"] });
		expect(await measure(server, "create")).toBeLessThan(memoryLimit);
	});
});
