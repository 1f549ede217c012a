// What a shell does with the program's output: stdout and stderr on one pipe, a pipe that other programs write to as
// well.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStage, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";

const steps = 30;
const scripts = [
	...Array.from({ length: steps }, (_, n) => {
		const texts = Array.from({ length: 20 }, () => `text: ${"w".repeat(997)}`);
		return [...texts, toolCall(`c${n}`, "Think", { thought: `${n}` })].join("\n");
	}),
	"text: done",
];

const prompt = { jsonrpc: "2.0", id: "p", method: "prompt", params: { user_input: "hi" } };

/** Something to do when this text is found in the output. */
type Cue = readonly [text: string, act?: () => void];

/**
 * Runs a shell script in the work dir with a prompt as its input, which ends after the last cue. Returns the output. The
 * program writes a line to stderr at each step.
 */
async function inShell(stage: Stage, script: string, ...cues: readonly Cue[]): Promise<string> {
	const child = spawn("/bin/sh", ["-c", script], {
		cwd: stage.workDir,
		env: { ...stage.environment, agentwire: executablePath, KIMI_SCRIPTED_ECHO_TRACE: "1" },
		stdio: ["pipe", "pipe", "ignore"],
	});
	onTestFinished(() => void child.kill("SIGKILL"));
	child.stdin.on("error", () => {});
	child.stdin.write(`${JSON.stringify(prompt)}\n`);
	let output = "";
	const left = [...cues];
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		output += text;
		const [next] = left;
		if (next === undefined || !output.includes(next[0])) return;
		left.shift();
		next[1]?.();
		if (left.length === 0) child.stdin.end();
	});
	await once(child, "close");
	return output;
}

function isJson(line: string): boolean {
	try {
		JSON.parse(line);
		return true;
	} catch {
		return false;
	}
}

const linesOf = (output: string) => output.split("\n").filter((line) => line !== "");
const notice = /^(SCRIPTED_ECHO TURN \d+: "|To resume this session: )/;
const ended = '"status":"finished"';

describe("stdout and stderr together", () => {
	it.each([
		["a pipe", "cat"],
		["a pipe that is read late", "{ sleep 1; cat; }"],
	])("on %s leave every line of the protocol whole", async (_name, reader) => {
		const stage = createStage({ scripts });
		const lines = linesOf(await inShell(stage, `"$agentwire" --wire --yolo 2>&1 | ${reader}`, [ended]));
		const texts = lines.filter((line) => !isJson(line));
		for (const line of texts) expect(line.slice(0, 60)).toMatch(notice);
		expect(texts).toHaveLength(steps + 2);
		expect(texts.at(-1)).toContain("To resume this session");
	});

	it.each([
		["a pipe", "2>&1 | cat"],
		["a file", ">out 2>&1; cat out"],
	])("on %s leave every message of a print run whole", async (_name, target) => {
		const script = `"$agentwire" --print --output-format stream-json --prompt hi ${target}`;
		const lines = linesOf(await inShell(createStage({ scripts }), script, ["To resume"]));
		const texts = lines.filter((line) => !isJson(line));
		for (const line of texts) expect(line.slice(0, 60)).toMatch(notice);
		expect(texts).toHaveLength(steps + 2);
		expect(lines.length).toBeGreaterThan(2 * steps);
	});
});

describe("a file that other programs write to as well", () => {
	it.each([
		["print mode", '"$agentwire" --print --prompt hi >answer', /^To resume/],
		["print mode that prints there too", '"$agentwire" --print --prompt hi', /^To resume/],
		["a command that cannot start", '"$agentwire" worker', /^Workers share a store/],
	])("has all that is reported by %s", async (_name, command, sign) => {
		const script = `{ echo before; ${command}; echo after; } >out 2>&1 </dev/null; cat out`;
		const lines = linesOf(await inShell(createStage(), script, ["after"]));
		expect(lines[0]).toBe("before");
		expect(lines.at(-1)).toBe("after");
		expect(lines.filter((line) => sign.test(line))).not.toEqual([]);
	});
});

describe.skipIf(process.platform !== "linux")("a pipe that other programs write to as well", () => {
	it.each([
		["stdout", "2>/dev/null", 1, ended],
		["stderr", ">/dev/null", 2, "SCRIPTED_ECHO TURN 1"],
	])("remains blocking for them as %s", async (_name, others, descriptor, sign) => {
		const stage = createStage();
		const go = path.join(stage.workDir, "go");
		execFileSync("mkfifo", [go]);
		// Octal 4000 is the flag for writes that do not block.
		const look = `if grep -q '^flags:.*[4-7]...$' /proc/self/fdinfo/${descriptor}; then echo not >answer; else echo blocking >answer; fi`;
		const script = `exec 3<&0; { "$agentwire" --wire ${others} <&3 & cat go; ${look}; echo looked; wait; } 2>&1 | cat`;
		await inShell(stage, script, [sign, () => writeFileSync(go, "")], ["looked"]);
		expect(readFileSync(path.join(stage.workDir, "answer"), "utf8")).toBe("blocking\n");
	});
});
