// Other agents have the same tools with different names and arguments.
import { isRecord } from "../../../base/json.ts";
import type { Call } from "./model-shapes.ts";

const otherNames: Readonly<Record<string, readonly string[]>> = {
	Agent: [],
	Shell: ["Bash", "bash", "shell", "exec_command", "shell_command", "run_shell_command"],
	WriteFile: ["Write", "write", "write_file"],
	ReadFile: ["Read", "read", "read_file"],
	StrReplaceFile: ["Edit", "edit", "edit_file", "replace"],
};

const otherArguments: Readonly<Record<string, readonly string[]>> = {
	command: ["cmd"],
	path: ["file_path", "filePath", "absolute_path"],
	content: ["contents", "text"],
};

/** Stands in for arguments that only this agent requires. */
const fillers: Readonly<Record<string, unknown>> = { string: "scenario", boolean: false, number: 1, integer: 1 };

/** `offered` are the tools of a request to the model, in any shape. */
export function createToolNames(offered: unknown): { rename(call: Call): Call; missingTool(): string | null } {
	const tools = new Map((Array.isArray(offered) ? offered : []).flatMap(toTool));
	let missing: string | null = null;
	return {
		missingTool: () => missing,
		rename(call) {
			const known = otherNames[call.name];
			if (known === undefined || tools.has(call.name)) return call;
			const name = known.find((each) => tools.has(each));
			if (name === undefined) {
				missing ??= call.name;
				return call;
			}
			return { ...call, name, arguments: renameArguments(call.arguments, tools.get(name) ?? {}) };
		},
	};
}

type Schema = Readonly<Record<string, unknown>>;

function toTool(tool: unknown): readonly (readonly [string, Schema])[] {
	if (!isRecord(tool)) return [];
	const { name, parameters, input_schema: input } = isRecord(tool["function"]) ? tool["function"] : tool;
	const schema = isRecord(parameters) ? parameters : isRecord(input) ? input : {};
	return typeof name === "string" ? [[name, schema]] : [];
}

/** Text that is not JSON is unchanged. */
function renameArguments(text: string, schema: Schema): string {
	let given: unknown;
	try {
		given = JSON.parse(text);
	} catch {
		return text;
	}
	if (!isRecord(given)) return text;
	const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
	const renamed = new Map(
		Object.entries(given).map(([key, value]) => {
			const other = otherArguments[key]?.find((name) => Object.hasOwn(properties, name));
			return [Object.hasOwn(properties, key) ? key : (other ?? key), value];
		}),
	);
	const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
	for (const key of required.filter((name) => !renamed.has(name))) {
		const property = properties[key];
		renamed.set(key, isRecord(property) ? fillers[String(property["type"])] : undefined);
	}
	return JSON.stringify(Object.fromEntries(renamed));
}
