import { type ToolReturn, toolError } from "../../api/values/content.ts";
import { isRecord } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import { type CompiledSchema, compileJsonSchema } from "../tools/json-schema.ts";
import type { QuestionOperations } from "../tools/operations.ts";
import type { Tool } from "../tools/tool.ts";
import { cancelledResult } from "../tools/tool-definition.ts";
import type { CallOutcome, ServerConnection } from "./connection.ts";
import { toToolReturn } from "./result.ts";
import type { ListedTool } from "./tool-list.ts";

export interface ServerToolSettings {
	readonly connection: Pick<ServerConnection, "name" | "call">;
	readonly callTimeout: number;
	/** Asks the user when the server requests input during a call. */
	readonly questions: QuestionOperations;
	readonly log: Log;
}

export function createServerTool(
	listed: ListedTool,
	{ connection, callTimeout, questions, log }: ServerToolSettings,
): Tool {
	const { name, description, parameters } = listed;
	// Compiled lazily: few of a hundred tools are called.
	let compiled: Promise<CompiledSchema> | null = null;
	const check = async (value: unknown): Promise<string | null> => {
		compiled ??= compileJsonSchema(parameters);
		const schema = await compiled;
		if (schema.ok) return await schema.check(value);
		log.warn("The arguments of an MCP tool are not checked: the schema of its parameters cannot be used.", {
			server: connection.name,
			tool: name,
			reason: schema.reason,
		});
		return null;
	};
	const { $schema: _, ...shownParameters } = parameters;
	return {
		name,
		description: `A tool of the MCP server ${connection.name}.\n\n${description === "" ? "No description provided." : description}`,
		parameters: async () => shownParameters,
		async open(value, { toolCallId }) {
			if (!isRecord(value)) return { ok: false, issue: "the arguments must be an object" };
			const issue = await check(value);
			if (issue !== null) return { ok: false, issue };
			const asker = { questions, toolCallId };
			return {
				ok: true,
				preparation: {
					kind: "ready",
					approval: {
						byDefault: "ask",
						action: `mcp:${name}`,
						subjects: [{ kind: "mcp", server: connection.name, tool: name, arguments: value }],
						description: `Call MCP tool \`${name}\`.`,
						display: [],
					},
					// A server's own claims about its tools are unreliable.
					hasEffect: true,
					target: null,
					async execute(signal, report) {
						const progressed = (progress: string) => report?.("message", `${progress}\n`);
						const call = { tool: listed, arguments: value, timeout: callTimeout, asker, progressed };
						return toReturn(await connection.call(call, signal), connection.name, callTimeout);
					},
				},
			};
		},
	};
}

function toReturn(outcome: CallOutcome, server: string, callTimeout: number): ToolReturn {
	switch (outcome.kind) {
		case "answered":
			return toToolReturn(outcome.result);
		case "aborted":
			return cancelledResult();
		case "timed-out": {
			const progress = outcome.progress === "" ? "" : ` The last progress it reported was ${outcome.progress}.`;
			return toolError(
				`The MCP server ${server} did not answer within ${callTimeout / 1000} s, and the call was cancelled.${progress}`,
				"Timeout",
			);
		}
		case "failed": {
			const doubt = outcome.isUncertain ? " The call may have had an effect." : "";
			return toolError(`Error running tool: MCP server ${server}: ${outcome.reason}.${doubt}`, "Tool runtime error");
		}
	}
}
