import path from "node:path";
import { StringDecoder } from "node:string_decoder";
import * as v from "valibot";
import { type ToolReturn, toolError, toolSuccess } from "../../api/values/content.ts";
import { OnFirstUse } from "../../base/on-first-use.ts";
import { createPace } from "../../base/pace.ts";
import { sentences } from "../../base/text/sentence.ts";
import type { Files } from "../../ports/files/port.ts";
import type { RunOutcome, RunRequest } from "../../ports/processes/port.ts";
import { boolean, integer } from "./argument-schemas.ts";
import type { CommandRequest } from "./operations.ts";
import { outputLimit, shortenedSentence } from "./output-builder.ts";
import { createOutputView, type OutputView } from "./shell-output.ts";
import { noBackgroundWork, startedResult } from "./tasks/task-results.ts";
import { cutLine } from "./text-limits.ts";
import type { ApprovalNeed, Preparation, Tool, ToolEnvironment } from "./tool.ts";
import { cancelledResult, defineTool, settled } from "./tool-definition.ts";

const shellPaths = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
const lastShellPath = "/bin/sh";
const maximumTimeout = 300;
const maximumBackgroundTimeout = 86_400;
/** Maximum bytes in memory: the maximum answer in 4-byte UTF-8 characters. */
const memoryLimit = 4 * outputLimit;
/** Maximum bytes of the output file, so that an endless command does not fill the disk. */
const fileLimit = 256 * 1024 * 1024;
const briefLineLength = 200;
/** Maximum command length in bytes for a program argument; Linux allows 128 KiB. */
const argumentLimit = 100_000;

const description = `Run a command with bash in the working directory.

- Returns stdout and stderr together, line by line as they come. Of a long output you get the beginning and the end; all of it is then in a file whose path is given.
- Every call is a new shell: variables and \`cd\` do not last. Put what belongs together into one command with \`&&\`.
- There is no input and no terminal. Give options that keep programs from asking or paging.
- A command that takes longer than \`timeout\` seconds is ended, at most ${maximumTimeout}. Whatever it left running is ended with it.
- For what takes longer, such as a server, a watcher or a long build, set \`run_in_background\` with a \`description\` and a \`timeout\` of up to ${maximumBackgroundTimeout}. The call then returns at once with a task id, and you are notified when the command is over. Never use \`&\` or \`nohup\` for that.
- To read, search and change files, prefer the tools made for that.
- Quote paths that have spaces. Do not run what may harm the system or what the user has not asked for.`;

const schema = v.object({
	command: v.pipe(v.string(), v.description("The command, as for `bash -c`.")),
	timeout: v.optional(
		v.pipe(
			integer(),
			v.minValue(1),
			v.maxValue(maximumBackgroundTimeout),
			v.description(`Seconds after which the command is ended; more than ${maximumTimeout} only in the background.`),
		),
		60,
	),
	run_in_background: v.optional(v.pipe(boolean(), v.description("Whether to start it and go on without it.")), false),
	description: v.optional(
		v.pipe(v.string(), v.description("What the command does in a few words; needed in the background.")),
		"",
	),
});

const sandboxedSchema = v.object({
	...schema.entries,
	outside_sandbox: v.optional(
		v.pipe(boolean(), v.description("Run the command outside the sandbox. A person must approve each such call.")),
		false,
	),
});

const sandboxAdvice =
	"- Commands run in a sandbox: they may write only in the working directory and for temporary files, and may have no network. When one fails because of that and cannot be written otherwise, set `outside_sandbox`.";

function withNote(result: ToolReturn, note: string | null): ToolReturn {
	return note === null ? result : { ...result, message: `${result.message} ${note}` };
}

/** The shell for commands: bash if installed. */
export async function findShell(files: Files): Promise<string> {
	for (const shellPath of shellPaths) {
		if ((await files.status(shellPath))?.kind === "file") return shellPath;
	}
	return lastShellPath;
}

/** A command too long for an argument is passed on stdin, and its own stdin is empty as usual. */
export function shellInvocation(command: string): Pick<RunRequest, "arguments" | "input"> {
	if (Buffer.byteLength(command) <= argumentLimit) return { arguments: ["-c", command] };
	return { arguments: ["-c", 'eval "$(cat)" </dev/null'], input: command };
}

/** Password prompts must not block, and `git status` must not write the index, which would run a hook. */
export function commandEnvironment(
	environment: Readonly<Record<string, string>>,
	shellPath: string,
): Readonly<Record<string, string>> {
	return { GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", ...environment, SHELL: shellPath };
}

/** The first unused name. Tool call ids may repeat, and older output must stay readable. */
async function chooseOutputPath(
	toolCallId: string,
	taken: Set<string>,
	{ files, outputDir }: ToolEnvironment,
): Promise<string> {
	const name = `shell-${toolCallId.replace(/[^\w.-]+/g, "_").slice(0, 100)}`;
	for (let count = 1; ; count += 1) {
		const outputPath = path.join(outputDir, `${name}${count === 1 ? "" : `-${count}`}.log`);
		if (taken.has(outputPath) || (await files.status(outputPath)) !== null) continue;
		taken.add(outputPath);
		return outputPath;
	}
}

/** The whole output for the model, even over the memory limit. */
async function viewOutput(outcome: RunOutcome, { files }: ToolEnvironment): Promise<OutputView> {
	const view = createOutputView();
	if (outcome.spilledTo === null) {
		view.write(outcome.output);
		return view;
	}
	const decoder = new StringDecoder("utf8");
	const pace = createPace();
	for await (const piece of files.readPieces(outcome.spilledTo)) {
		view.write(decoder.write(piece));
		await pace.rest();
	}
	view.write(decoder.end());
	return view;
}

/** Names the file with the whole output, and writes it if only the answer's limit was exceeded. */
async function retainWholeOutput(outcome: RunOutcome, outputPath: string, { files }: ToolEnvironment): Promise<string> {
	const more = (file: string) => `All of the output is in \`${file}\`; ReadFile can show it.`;
	if (outcome.spilledTo !== null) {
		if (outcome.outputBytes <= fileLimit) return more(outcome.spilledTo);
		return `The first ${fileLimit} of ${outcome.outputBytes} bytes of output are in \`${outcome.spilledTo}\`; ReadFile can show them.`;
	}
	if (outcome.truncated) return `Of ${outcome.outputBytes} bytes of output the rest could not be stored.`;
	try {
		await files.makeDirectory(path.dirname(outputPath));
		await files.replace(outputPath, outcome.output);
		return more(outputPath);
	} catch {
		return "The rest of the output could not be stored.";
	}
}

async function toResult(
	outcome: RunOutcome,
	timeout: number,
	outputPath: string,
	environment: ToolEnvironment,
): Promise<ToolReturn> {
	const { ended } = outcome;
	if (ended.kind === "aborted") return cancelledResult();
	if (ended.kind === "not-started") {
		return toolError(`The command could not be started: ${ended.reason}.`, "Execution failed");
	}
	const hasSucceeded = ended.kind === "exited" && ended.exitCode === 0;
	const view = await viewOutput(outcome, environment);
	const { text: output, isShortened, lastLines } = view.finish(hasSucceeded ? 1 / 2 : 1 / 4);
	const isKept = isShortened || outcome.truncated;
	const rest = isKept ? await retainWholeOutput(outcome, outputPath, environment) : "";
	const explained = (message: string) => sentences(message, isShortened ? shortenedSentence : "", rest);

	const fail = (message: string, headline: string) => {
		const brief = [headline, ...lastLines.map((line) => cutLine(line, briefLineLength, "..."))].join("\n");
		return toolError(explained(message), brief, { output });
	};
	switch (ended.kind) {
		case "timed-out":
			return fail(`The command was killed by its timeout of ${timeout} s.`, `Killed by timeout (${timeout}s)`);
		case "signalled":
			return fail(`The command was ended by signal ${ended.signal}.`, `Ended by signal ${ended.signal}`);
		case "exited":
			if (hasSucceeded) return toolSuccess({ output, message: explained("Command executed successfully.") });
			return fail(`Command failed with exit code: ${ended.exitCode}.`, `Failed with exit code: ${ended.exitCode}`);
	}
}

/** The approval request for a command; a command outside of the sandbox is a separate kind of act. */
function needOf(
	verb: string,
	{ command, outsideSandbox }: Pick<CommandRequest, "command" | "outsideSandbox">,
	{ workDir, sandbox }: ToolEnvironment,
): ApprovalNeed {
	const missing = sandbox?.missing ?? null;
	const where = outsideSandbox
		? ` outside of the sandbox${missing === null ? "" : `, because there is none here: ${missing}`}`
		: "";
	return {
		byDefault: "ask",
		action: outsideSandbox ? `${verb} outside of the sandbox` : verb,
		subjects: [{ kind: "command", text: command, cwd: workDir, ...(outsideSandbox ? { outsideSandbox } : {}) }],
		description: `${capitalized(verb)} \`${command}\`${where}`,
		display: [{ type: "shell", language: "bash", command }],
	};
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function prepareBackground(
	request: Omit<CommandRequest, "shellPath">,
	toolCallId: string,
	environment: ToolEnvironment,
	shellPath: () => Promise<string>,
): Preparation {
	const { tasks } = environment;
	const { description: label } = request;
	if (label === "") {
		return settled(toolError("A background command needs a `description`.", "Invalid arguments"));
	}
	if (tasks === null) return settled(noBackgroundWork());
	return {
		kind: "ready",
		approval: needOf("run background command", request, environment),
		hasEffect: true,
		target: null,
		async execute() {
			const started = await tasks.startCommand({ ...request, shellPath: await shellPath() }, toolCallId);
			return started.ok ? startedResult(started.task) : started.result;
		},
	};
}

export function createShell(environment: ToolEnvironment): Tool {
	const { sandbox } = environment;
	const asksForSandbox = sandbox !== null && sandbox.missing === null;
	const takenPaths = new Set<string>();
	const shell = new OnFirstUse(() => findShell(environment.files));
	const shellPath = () => shell.get();

	return defineTool({
		name: "Shell",
		description: asksForSandbox ? `${description}\n${sandboxAdvice}` : description,
		schema: asksForSandbox ? sandboxedSchema : schema,
		failureBrief: "Execution failed",
		prepare(input, { toolCallId }) {
			const { command, timeout, run_in_background: inBackground, description: label } = input;
			const asksToLeave = "outside_sandbox" in input && input.outside_sandbox === true;
			const outsideSandbox = sandbox !== null && (!asksForSandbox || asksToLeave);
			if (command.trim() === "") return settled(toolError("The command is empty.", "Empty command"));
			if (inBackground) {
				const request = { command, timeout, description: label.trim(), outsideSandbox };
				return prepareBackground(request, toolCallId, environment, shellPath);
			}
			if (timeout > maximumTimeout) {
				const message = `A \`timeout\` of more than ${maximumTimeout} s needs \`run_in_background\`.`;
				return settled(toolError(message, "Invalid arguments"));
			}
			return {
				kind: "ready",
				approval: needOf("run command", { command, outsideSandbox }, environment),
				hasEffect: true,
				target: null,
				async execute(signal, progress) {
					const file = await shellPath();
					const outputPath = await chooseOutputPath(toolCallId, takenPaths, environment);
					const startedAt = environment.clock.monotonic();
					const outcome = await (outsideSandbox && sandbox !== null ? sandbox.outside : environment.processes).run(
						{
							file,
							...shellInvocation(command),
							workDir: environment.workDir,
							environment: commandEnvironment(environment.environment, file),
							timeout: timeout * 1000,
							outputLimit: memoryLimit,
							spillPath: outputPath,
							spillLimit: fileLimit,
							onOutput: (source, bytes) => progress?.(source === "output" ? "stdout" : "stderr", bytes),
						},
						signal,
					);
					const explained = outsideSandbox ? null : await sandbox?.explain(outcome, startedAt);
					const result = withNote(await toResult(outcome, timeout, outputPath, environment), explained ?? null);
					// From here on the file itself, if it exists, occupies the name.
					takenPaths.delete(outputPath);
					return result;
				},
			};
		},
	});
}
