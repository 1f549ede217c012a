import type { JsonSchema } from "../../api/session-options.ts";
import { type ToolReturn, toolError } from "../../api/values/content.ts";
import type { RunOutcome } from "../../ports/processes/port.ts";
import { type CompileJsonSchema, compileJsonSchema } from "./json-schema.ts";
import { createOutputBuilder } from "./output-builder.ts";
import { cutLine } from "./text-limits.ts";
import type { Tool, ToolEnvironment } from "./tool.ts";
import { cancelledResult } from "./tool-definition.ts";

export interface PluginToolDeclaration {
	readonly name: string;
	readonly description: string;
	readonly command: readonly [string, ...string[]];
	readonly parameters: JsonSchema;
}

/** The user's secrets as environment variables for the program, fetched for each call. */
export type InjectValues = () => Promise<Readonly<Record<string, string>>>;

export type MadePluginTool =
	| { readonly ok: true; readonly tool: Tool }
	| { readonly ok: false; readonly reason: string };

/** Seconds. */
const timeout = 120;
/** Maximum bytes to read from both streams together. */
const memoryLimit = 1024 * 1024;
const briefLineLength = 200;
const hidden = "[hidden]";

export async function createPluginTool(
	directory: string,
	declaration: PluginToolDeclaration,
	environment: Pick<ToolEnvironment, "environment" | "processes">,
	inject: InjectValues,
	compile: CompileJsonSchema = compileJsonSchema,
): Promise<MadePluginTool> {
	const { name, description } = declaration;
	// Providers reject a whole request if one function's arguments are not an object.
	const parameters: JsonSchema = { type: "object", ...declaration.parameters };
	if (parameters["type"] !== "object") return { ok: false, reason: 'the type of its parameters is not "object"' };
	const compiled = await compile(parameters);
	if (!compiled.ok) return { ok: false, reason: `the schema of its parameters cannot be used: ${compiled.reason}` };

	const run = async (value: unknown, signal: AbortSignal): Promise<ToolReturn> => {
		const [file, ...rest] = declaration.command;
		const injected = await inject();
		const outcome = await environment.processes.run(
			{
				file,
				arguments: rest,
				workDir: directory,
				environment: { ...environment.environment, ...injected },
				input: JSON.stringify(value),
				timeout: timeout * 1000,
				outputLimit: memoryLimit,
				separateStderr: true,
			},
			signal,
		);
		return toResult(outcome, (text) => hideValues(text, Object.values(injected)));
	};

	return {
		ok: true,
		tool: {
			name,
			description: description === "" ? "No description provided." : description,
			parameters: async () => parameters,
			async open(value) {
				const issue = await compiled.check(value);
				if (issue !== null) return { ok: false, issue };
				return {
					ok: true,
					preparation: {
						kind: "ready",
						approval: {
							byDefault: "ask",
							action: `plugin:${name}`,
							subjects: [{ kind: "plugin-tool", name, directory, arguments: value }],
							description: `Call plugin tool \`${name}\`.`,
							display: [],
						},
						hasEffect: true,
						target: null,
						execute: (signal) => run(value, signal),
					},
				};
			},
		},
	};
}

function hideValues(text: string, values: readonly string[]): string {
	// Longest first, because one value may contain another.
	const longestFirst = values.filter((value) => value !== "").sort((one, other) => other.length - one.length);
	return longestFirst.reduce((result, value) => result.replaceAll(value, hidden), text);
}

function toResult(outcome: RunOutcome, hide: (text: string) => string): ToolReturn {
	const { ended } = outcome;
	switch (ended.kind) {
		case "aborted":
			return cancelledResult();
		case "not-started":
			return toolError(hide(`The plugin's program could not be started: ${ended.reason}.`), "Execution failed");
		case "timed-out":
			return toFailure(outcome, `The plugin's program was ended after ${timeout} s.`, `Timed out (${timeout}s)`, hide);
		case "signalled":
			return toFailure(
				outcome,
				`The plugin's program was ended by signal ${ended.signal}.`,
				`Ended by signal ${ended.signal}`,
				hide,
			);
		case "exited": {
			if (ended.exitCode === 0) return toSuccess(outcome);
			const { exitCode } = ended;
			const message = `The plugin's program failed with exit code: ${exitCode}.`;
			return toFailure(outcome, message, `Failed with exit code: ${exitCode}`, hide);
		}
	}
}

/** The unchanged program output. Injected values are only removed from errors; in a result they may be intended. */
function toSuccess(outcome: RunOutcome): ToolReturn {
	const builder = createOutputBuilder();
	builder.write(outcome.output);
	const isIncomplete = outcome.truncated && !builder.isTruncated();
	return builder.success(isIncomplete ? "The program wrote too much; not all of its output could be stored." : "");
}

/** An error with the program's message from stderr, else from stdout. */
function toFailure(outcome: RunOutcome, message: string, brief: string, hide: (text: string) => string): ToolReturn {
	const said = hide(outcome.errorOutput.trim() === "" ? outcome.output : outcome.errorOutput);
	const builder = createOutputBuilder();
	builder.write(said);
	const lastLine = said.trimEnd().split("\n").at(-1)?.trim() ?? "";
	const lines = lastLine === "" ? [brief] : [brief, cutLine(lastLine, briefLineLength, "...")];
	return builder.failure(message, lines.join("\n"));
}
