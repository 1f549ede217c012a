// The command `fake` as a test of a client starts it.
import { spawn } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { executablePath } from "../support/executable/executable.ts";

const approve = path.join(import.meta.dirname, "../transcripts/kimi/approve.txt");

/** Sends the lines at once, then the end, and returns what came of it. */
async function run(flags: readonly string[], lines: readonly object[]) {
	const child = spawn(executablePath, ["fake", ...flags], { stdio: "pipe" });
	let [output, complaints] = ["", ""];
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		output += text;
	});
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		complaints += text;
	});
	child.stdin.on("error", () => {});
	child.stdin.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
	const code = await new Promise((resolve) => child.on("close", resolve));
	return { code, complaints, messages: output.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)])) };
}

const prompt = (text: string) => ({ jsonrpc: "2.0", id: "1", method: "prompt", params: { user_input: text } });

describe("agentwire fake", () => {
	it("speaks as far as the client goes, and succeeds", async () => {
		const { code, messages } = await run(["--transcript", approve, "--dialect", "wire"], [prompt("anything")]);
		expect([code, messages.length, messages.at(-1).params.type]).toEqual([0, 5, "ApprovalRequest"]);
	});

	it("fails a client that sends something else, if it is strict", async () => {
		const { code, complaints } = await run(
			["--transcript", approve, "--dialect", "wire", "--strict"],
			[prompt("anything")],
		);
		expect(code).toBe(1);
		expect(complaints).toContain('line 21: /params/user_input: expected "list files", not "anything"\nexpected: {');
	});

	it.each([
		[["--dialect", "wire"], 2, "needs --transcript FILE"],
		[["--transcript", approve], 2, "needs --dialect, one of wire, legacy, meerkat, acp, codex"],
		[["--transcript", approve, "--dialect", "gateway"], 2, "'gateway' cannot be faked"],
		[["--transcript", approve, "--dialect", "wire", "--conversation", "2"], 1, "has no conversation 2"],
		[["--transcript", "/none.txt", "--dialect", "wire"], 1, "/none.txt cannot be used"],
		[["--transcript", approve.replace("approve", "edge-bytes"), "--dialect", "wire"], 1, "cannot be faked: line"],
	])("refuses %j", async (flags, exit, message) => {
		const { code, complaints } = await run(flags, []);
		expect(code).toBe(exit);
		expect(complaints).toContain(message);
	});
});
