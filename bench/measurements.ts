// The measurements, one function each. Every call is one run in fresh processes with a fresh session.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { startChild, type Target } from "./child.ts";
import { logSize, longLog, manyMessages } from "./long-session.ts";

/** Parts of the long turn and bytes of text in each. */
export const partCount = 20_000;
export const partSize = 70;

/** The files that all measured processes share. */
export interface BenchFiles {
	readonly workDir: string;
	readonly shortConfig: string;
	readonly longConfig: string;
}

export interface TurnMeasurement {
	/** Lines after the first event up to and with the response, per second. */
	readonly eventsPerSecond: number;
	/** Milliseconds between the first event and the response. */
	readonly duration: number;
	/** Bytes; null where the system does not report it. */
	readonly peakMemory: number | null;
}

/** Writes work dir, scripts and settings into `folder`. */
export function writeBenchFiles(folder: string): BenchFiles {
	const workDir = path.join(folder, "work");
	mkdirSync(workDir);
	const write = (name: string, answers: readonly string[]): string => {
		const scripts = path.join(folder, `${name}-scripts.json`);
		writeFileSync(scripts, JSON.stringify(answers));
		const config = path.join(folder, `${name}.json`);
		const provider = {
			type: "_scripted_echo",
			base_url: "",
			api_key: "",
			env: { KIMI_SCRIPTED_ECHO_SCRIPTS: scripts },
		};
		const model = { provider: "scripted", model: "scripted_echo", max_context_size: 1_000_000 };
		writeFileSync(
			config,
			JSON.stringify({ default_model: "scripted", models: { scripted: model }, providers: { scripted: provider } }),
		);
		return config;
	};
	const parts = Array.from({ length: partCount }, (_, index) => `text: ${`${index} `.padEnd(partSize, "x")}`);
	return {
		workDir,
		shortConfig: write("short", ["text: hello", "text: hello"]),
		longConfig: write("long", [["usage: input_other=10 output=20000", ...parts].join("\n")]),
	};
}

function wireArguments(files: BenchFiles, config: string): readonly string[] {
	return ["--wire", "--work-dir", files.workDir, "--config-file", config];
}

/** Milliseconds that Node takes to start, do nothing and end. */
export async function measureBareNode(environment: NodeJS.ProcessEnv): Promise<number> {
	const startedAt = performance.now();
	await once(spawn("node", ["-e", "0"], { env: environment, stdio: "ignore" }), "exit");
	return performance.now() - startedAt;
}

/** Milliseconds from the start of the process to its reply to `initialize`. */
export async function measureInitialize(target: Target, files: BenchFiles): Promise<number> {
	const child = startChild(target, wireArguments(files, files.shortConfig));
	child.send("initialize", "1", { protocol_version: "1.10" });
	const { line, at } = await child.firstLine();
	await child.finish();
	if (!line.includes('"result"')) throw new Error(`${target.name}: initialize failed: ${line}`);
	return at - child.startedAt;
}

/** Milliseconds from the start of the process to the first event of a prompt that was sent at once. */
export async function measureFirstEvent(target: Target, files: BenchFiles): Promise<number> {
	const child = startChild(target, wireArguments(files, files.shortConfig));
	child.send("prompt", "1", { user_input: "hello" });
	const { line, at } = await child.firstLine();
	await child.reply("1");
	await child.finish();
	if (!line.includes('"TurnBegin"')) throw new Error(`${target.name}: the first line is no TurnBegin: ${line}`);
	return at - child.startedAt;
}

/** Milliseconds from the start of the process to the end of a short turn in a session of many messages. */
export async function measureResume(target: Target, files: BenchFiles): Promise<number> {
	return await measureTurn(target, [...wireArguments(files, files.shortConfig), "--session", manyMessages]);
}

/** The same in a new session. */
export async function measureNewSession(target: Target, files: BenchFiles): Promise<number> {
	return await measureTurn(target, wireArguments(files, files.shortConfig));
}

/** The prompt is sent at once. */
async function measureTurn(target: Target, words: readonly string[]): Promise<number> {
	const child = startChild(target, words);
	child.send("prompt", "1", { user_input: "hello" });
	const { line, at } = await child.reply("1");
	await child.finish();
	if (!line.includes('"finished"')) throw new Error(`${target.name}: the turn failed: ${line}`);
	return at - child.startedAt;
}

export interface ReplayMeasurement {
	/** Of the log, per second. */
	readonly megabytesPerSecond: number;
	/** Bytes; null where the system does not report it. */
	readonly peakMemory: number | null;
}

/** The replay of a long log, from the start of the process to the response, with a reader that never pauses. */
export async function measureReplay(target: Target, files: BenchFiles): Promise<ReplayMeasurement> {
	const child = startChild(target, [...wireArguments(files, files.shortConfig), "--session", longLog]);
	child.send("replay", "1", {});
	const { line, at } = await child.reply("1");
	const peak = child.peakMemory();
	const peakAtEnd = await child.finish();
	if (!line.includes('"finished"')) throw new Error(`${target.name}: the replay failed: ${line}`);
	const seconds = (at - child.startedAt) / 1000;
	return { megabytesPerSecond: logSize / 1_000_000 / seconds, peakMemory: peak ?? peakAtEnd };
}

/** One turn of many parts, with a reader that never pauses. */
export async function measureLongTurn(target: Target, files: BenchFiles): Promise<TurnMeasurement> {
	const child = startChild(target, wireArguments(files, files.longConfig));
	child.send("prompt", "1", { user_input: "hello" });
	const replied = child.reply("1");
	const first = await child.firstLine();
	const { at, lines, line } = await replied;
	const peak = child.peakMemory();
	const peakAtEnd = await child.finish();
	if (!line.includes('"finished"') || lines < partCount) throw new Error(`${target.name}: the turn failed: ${line}`);
	const duration = at - first.at;
	return { eventsPerSecond: ((lines - 1) / duration) * 1000, duration, peakMemory: peak ?? peakAtEnd };
}
