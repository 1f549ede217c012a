import { parseArgs } from "node:util";
import { chooseAction } from "../chosen-action.ts";
import { UsageError } from "../usage-error.ts";

export interface McpAddition {
	readonly name: "add";
	readonly server: string;
	readonly target: readonly string[];
	readonly transport: string;
	/** `KEY=VALUE` entries. */
	readonly environment: readonly string[];
	/** `KEY:VALUE` entries. */
	readonly headers: readonly string[];
	readonly auth: string | null;
}

const serverActions = ["remove", "auth", "reset-auth", "test"] as const;

export type McpAction =
	| McpAddition
	| { readonly name: "list" }
	| { readonly name: (typeof serverActions)[number]; readonly server: string };

const actions = ["add", "list", ...serverActions] as const;

export function toMcpAction([typed, ...words]: readonly string[]): McpAction | null {
	if (typed === "--help" || typed === "-h") return null;
	const name = chooseAction("mcp", actions, typed);
	if (name === "add") return toAddition(words);
	if (words.includes("--help") || words.includes("-h")) return null;
	const [word, other] = words.filter((each) => each !== "--");
	if (name === "list") {
		if (word !== undefined) throw new UsageError(`The command 'mcp list' does not know '${word}'.`);
		return { name };
	}
	if (word?.startsWith("-")) throw new UsageError(`The command 'mcp ${name}' does not know '${word}'.`);
	if (other !== undefined) throw new UsageError(`The command 'mcp ${name}' takes one NAME, found '${other}' too.`);
	return { name, server: checkName(name, word) };
}

function checkName(action: string, name: string | undefined): string {
	if (name === undefined || name.trim() === "") throw new UsageError(`The command 'mcp ${action}' needs NAME.`);
	return name;
}

/** Accepts flags anywhere before `--`; everything after it belongs to the server. */
function toAddition(words: readonly string[]): McpAddition | null {
	const { positionals, tokens } = parseArgs({
		args: [...words],
		options: {
			transport: { type: "string", short: "t" },
			env: { type: "string", short: "e" },
			header: { type: "string", short: "H" },
			auth: { type: "string", short: "a" },
			help: { type: "boolean", short: "h" },
		},
		strict: false,
		allowPositionals: true,
		tokens: true,
	});
	const given: Record<"transport" | "env" | "header" | "auth", string[]> = {
		transport: [],
		env: [],
		header: [],
		auth: [],
	};
	for (const token of tokens) {
		if (token.kind !== "option") continue;
		const { name, rawName, value = "", inlineValue = false } = token;
		if (name === "help") return null;
		if (name !== "transport" && name !== "env" && name !== "header" && name !== "auth") {
			throw new UsageError(
				`The command 'mcp add' does not know '${rawName}'. If it is for the server's program, put '--' before that.`,
			);
		}
		// `-t=http` means `-t http`, as for all other flags.
		const text = !rawName.startsWith("--") && inlineValue ? value.replace(/^=/, "") : value;
		if (text.trim() === "" || (!inlineValue && text.startsWith("-"))) throw new UsageError(`${rawName} needs a value.`);
		given[name].push(text);
	}
	const [server, ...target] = positionals;
	return {
		name: "add",
		server: checkName("add", server),
		target,
		transport: given.transport.at(-1) ?? "stdio",
		environment: given.env,
		headers: given.header,
		auth: given.auth.at(-1) ?? null,
	};
}
