// A client that stops reading makes the model wait: memory does not grow, and `cancel` is still heard.
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { createStage } from "../support/executable/executable.ts";
import { isResponse, outline } from "../support/executable/running-server.ts";

const megabyte = 1024 * 1024;
const parts = 1_000_000;

/** Resident memory in bytes. */
function residentMemory(pid: number): number {
	const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
	return Number(kilobytes) * 1024;
}

/** Bytes the process has written so far. */
function writtenBytes(pid: number): number {
	return Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

/** Resolves once the process has written nothing for a while. */
async function settled(pid: number): Promise<void> {
	let last = -1;
	for (let quiet = 0; quiet < 4; ) {
		await wait(50);
		const written = writtenBytes(pid);
		quiet = written === last ? quiet + 1 : 0;
		last = written;
	}
}

it.skipIf(process.platform !== "linux")(
	"a reader that pauses costs no memory, and its requests are handled",
	async () => {
		const stage = createStage({ scripts: ["text: x\n".repeat(parts)] });
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi");
		await server.message("ContentPart");
		const atFirstPart = residentMemory(server.pid);
		server.pause();
		await settled(server.pid);
		const atPause = residentMemory(server.pid);
		const samples: number[] = [];
		for (let n = 0; n < 20; n += 1) {
			await wait(50);
			samples.push(residentMemory(server.pid));
		}
		expect(Math.max(...samples) - atPause).toBeLessThan(32 * megabyte);
		expect(Math.max(...samples) - atFirstPart).toBeLessThan(32 * megabyte);

		server.request("cancel", "cancel");
		await settled(server.pid);
		const resumed = performance.now();
		server.resume();
		expect(await server.response("cancel")).toMatchObject({ result: {} });
		expect(performance.now() - resumed).toBeLessThan(1000);
		const lines = await server.readUntil((line) => isResponse(line, "prompt"));
		expect(outline(lines).slice(-2)).toEqual(["TurnEnd", "cancelled"]);
		expect(stage.loggedTypes("s")).toEqual(["TurnBegin", "StepBegin", "ContentPart", "TurnEnd"]);
	},
);
