import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { describeTransportContract, type TransportSubject } from "../../../test/contracts/transport-contract.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createLineSplitter } from "../../base/text/lines.ts";
import { lineLimit } from "./stdio.ts";

const childFile = fileURLToPath(new URL("../../../test/support/executable/stdio-child.ts", import.meta.url));
const children = new Set<ChildProcess>();
afterAll(() => {
	for (const child of children) child.kill("SIGKILL");
});

function startChild() {
	const child = spawn(process.execPath, ["--import", "tsx", childFile], { stdio: ["pipe", "pipe", "inherit", "ipc"] });
	children.add(child);
	const exited = once(child, "exit").then(([code]: unknown[]) => {
		children.delete(child);
		return code;
	});
	const { stdin, stdout } = child;
	if (stdin === null || stdout === null) throw new Error("the child has no pipes");
	/** What the child says of itself, asked over IPC. */
	const ask = async (): Promise<{ flooded: number; gone: boolean }> => {
		const answer = once(child, "message");
		child.send("how far?");
		const [value] = await answer;
		return value;
	};
	return { child, stdin, stdout, exited, ask };
}

async function createSubject(): Promise<TransportSubject> {
	const { child, stdin, stdout, exited, ask } = startChild();
	const splitter = createLineSplitter(Number.MAX_SAFE_INTEGER);
	const lines: string[] = [];
	let isOver = false;
	let news = createDeferred<void>();
	stdout.on("data", (bytes: Buffer) => {
		for (const line of splitter.push(bytes)) if (line.kind === "line") lines.push(line.text);
		news.resolve();
		news = createDeferred();
	});
	stdout.on("end", () => {
		isOver = true;
		news.resolve();
	});
	return {
		lineLimit,
		write: (bytes) => void stdin.write(bytes),
		end: () => void stdin.end(),
		async read() {
			while (lines.length === 0 && !isOver) await news.promise;
			return lines.shift() ?? null;
		},
		pause: () => void stdout.pause(),
		resume: () => void stdout.resume(),
		flood: (count) => void stdin.write(`FLOOD ${count}\n`),
		flooded: async () => (await ask()).flooded,
		async cleanUp() {
			child.kill("SIGKILL");
			await exited;
		},
	};
}

describeTransportContract("stdio", createSubject);

describe("createStdioTransport", () => {
	it("reads and runs its event loop while nobody reads its output", async () => {
		const { stdin, stdout, ask, exited } = startChild();
		stdin.write("FLOOD 100000\n");
		await once(stdout, "readable");
		let last = -1;
		for (let flooded = (await ask()).flooded; flooded !== last || flooded === 0; flooded = (await ask()).flooded) {
			last = flooded;
		}
		stdin.write("still there?\n");
		expect((await ask()).gone).toBe(false);
		stdout.destroy();
		stdin.write("more\n".repeat(1000));
		while (!(await ask()).gone) await new Promise((resolve) => setTimeout(resolve, 5));
		stdin.end();
		expect(await exited).toBe(0);
	});
});
