// Sends no prompt and changes nothing.
import path from "node:path";
import { toJsonLine } from "../../base/json.ts";
import type { Installation } from "../../host/installation.ts";
import type { Place } from "../../host/place.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { ProgramOptions } from "../arguments/command-line.ts";
import { createCommandFetch, createCommandProcesses } from "../command-services.ts";
import { describeRuntime } from "../installation/runtime.ts";
import { checkFile, checkWorkDir, currentDirectory, homeDirectory, shareDirectory } from "../paths.ts";
import { withEscapes } from "../printable-text.ts";
import { environmentVariables } from "../process/environment.ts";
import { whileShown } from "../process/waiting-line.ts";
import { toSource } from "../program/source.ts";
import { type CheckPlace, checks, type Finding } from "./checks.ts";

export interface NamedFinding extends Finding {
	readonly name: string;
}

/** Prints the findings; returns 1 if something must be fixed before the program works. */
export async function runDoctor(
	json: boolean,
	options: ProgramOptions,
	{ findRipgrep }: Installation,
): Promise<number> {
	const here: Place = { currentDir: currentDirectory(), home: homeDirectory() };
	const environment = environmentVariables();
	const shareDir = shareDirectory(environment, here);
	// Without share directory protection: report permissions, do not fix them.
	const files = createDiskFiles();
	const place: Place = { ...here, currentDir: await checkWorkDir(options.workDir, here, files) };
	const source = await toSource(options, here, shareDir, files);
	const settings =
		source.kind === "text" ? source : source.kind === "file" ? source.path : path.join(shareDir, "config.toml");
	const processes = createCommandProcesses(files, shareDir);
	const given: CheckPlace = {
		place,
		environment,
		shareDir,
		files,
		processes,
		fetch: createCommandFetch({ environment, files, shareDir, place }),
		runtime: describeRuntime(),
		findRipgrep,
		settings,
		model: options.model,
		mcpFiles: await Promise.all(
			options.mcpConfigFiles.map((file) => checkFile("--mcp-config-file", file, here, files)),
		),
		mcpTexts: options.mcpConfigs,
	};
	const findings: NamedFinding[] = [];
	for (const { name, check } of checks) {
		const finding = { name, ...(await whileShown(`Checking ${name}`, () => check(given))) };
		findings.push(finding);
		// Print each finding immediately: an unresponsive model takes seconds.
		if (!json) process.stdout.write(findingText(finding));
	}
	await processes.endAll();
	const isUsable = findings.every(({ status }) => status !== "failed");
	if (json) process.stdout.write(`${toJsonLine({ ok: isUsable, checks: findings })}\n`);
	return isUsable ? 0 : 1;
}

const words: Readonly<Record<Finding["status"], string>> = { ok: "ok", warning: "warning", failed: "FAILED" };

function findingText({ name, status, found, advice }: NamedFinding): string {
	const lines = [`${words[status].padEnd(8)} ${name.padEnd(14)} ${withEscapes(found)}`];
	if (advice !== null) lines.push(`${" ".repeat(24)}-> ${withEscapes(advice)}`);
	return `${lines.join("\n")}\n`;
}
