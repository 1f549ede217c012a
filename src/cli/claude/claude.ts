import { isatty } from "node:tty";
import type { ClaudeOptions } from "../../frontends/claude/options.ts";
import type { Result } from "../../frontends/claude/results.ts";
import { runClaudePrompt, serveClaude } from "../../frontends/claude/serve.ts";
import { claudeVersionText } from "../../frontends/claude/version.ts";
import type { HostApi } from "../../frontends/shared/dialect.ts";
import type { Installation } from "../../host/installation.ts";
import { productName, productVersion } from "../../host/product.ts";
import { nobody } from "../../kernel/session/fault-owner.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { LineTransport } from "../../ports/rpc/transport.ts";
import {
	createStdioTransport,
	createTextOutput,
	openLineOutput,
	openStdin,
	readInput,
} from "../../ports/transports/stdio.ts";
import type { ProgramOptions } from "../arguments/command-line.ts";
import type { ClaudeFlags } from "../arguments/sdk/claude-options.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { writeNotice } from "../process/standard-error.ts";
import { takeStoppableProcess } from "../process/stoppable-process.ts";
import { endProgram, startHost } from "../program/program.ts";
import { readClaudeOptions } from "./claude-settings.ts";

export async function runClaude(
	executable: string,
	options: ProgramOptions,
	flags: ClaudeFlags,
	installation: Installation,
): Promise<number> {
	if (flags.asksVersion) return await printText(`${claudeVersionText}\n`);
	const { taken, stopping, setFaultOwner } = takeStoppableProcess(options, installation);
	const claudeOptions = await readClaudeOptions(flags, taken.place, createDiskFiles());
	const started = await startHost(
		executable,
		options,
		{ ...taken, environment: { ...taken.environment, ...claudeOptions.environment } },
		stopping.signal,
	);
	if (started === null) return 0;
	if ("exitCode" in started) return started.exitCode;
	const host = await started.openHost(null, null);
	setFaultOwner(() => host.faultOwner() ?? nobody);
	const hostApi: HostApi = { ...host, server: { name: productName, version: productVersion }, log: started.log };
	if (!flags.readsFrames) {
		const code = await runPrompt(hostApi, claudeOptions, flags);
		return await endProgram(
			executable,
			{ ...started, session: null },
			{ finish: async () => {}, exitCode: () => code },
		);
	}
	const { outboxBytes } = started.configuration.agentwire.limits;
	const transport = createStdioTransport({ input: openStdin(), outbox: openLineOutput(outboxBytes) });
	const serving = serveClaude(transport, hostApi, claudeOptions, stopping.signal);
	const problem = await serving.ended;
	if (problem !== null) writeNotice(`Error: ${problem}\n`);
	return await endProgram(
		executable,
		{ ...started, session: null },
		{
			finish: () => serving.finish(),
			exitCode: () => (process.exitCode === 1 || problem !== null || transport.gone.aborted ? 1 : 0),
		},
	);
}

async function runPrompt(host: HostApi, options: ClaudeOptions, flags: ClaudeFlags): Promise<number> {
	if (flags.prompt === null && isatty(0)) throw new UsageError('A prompt is needed: claude -p "prompt".');
	const prompt = flags.prompt ?? (await readInput());
	if (prompt.trim() === "") throw new UsageError("The prompt is empty.");
	const isStream = flags.output === "stream-json";
	const lines = isStream ? createStdioTransport({ input: openStdin(), outbox: openLineOutput(262_144) }) : silent;
	const result = await runClaudePrompt(lines, host, options, prompt);
	if (!isStream && result !== null) await printText(toOutput(result, flags));
	return result === null || result.is_error ? 1 : 0;
}

function toOutput(result: Result, { output }: ClaudeFlags): string {
	if (output === "json") return `${JSON.stringify(result)}\n`;
	return `${"result" in result ? result.result : result.errors.join("\n")}\n`;
}

const silent: LineTransport = {
	receive() {},
	send() {},
	ready: async () => {},
	isFull: () => false,
	flush: async () => {},
	gone: new AbortController().signal,
	close() {},
};

async function printText(text: string): Promise<number> {
	const output = createTextOutput();
	output.send(text);
	await output.flush();
	return 0;
}
