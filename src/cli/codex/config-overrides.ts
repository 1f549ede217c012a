// Interprets the `--config KEY=VALUE` overrides of the Codex command line, and rejects some.
import { isRecord } from "../../base/json.ts";
import { parseToml } from "../../settings/config/syntax.ts";
import { type CodexSandbox, toSandbox } from "../arguments/options/codex-options.ts";
import { UsageError } from "../arguments/usage-error.ts";

export interface ConfigOverrides {
	readonly model: string | null;
	readonly thinking: boolean | null;
	readonly sandbox: CodexSandbox | null;
	/** Whether sandboxed commands may use the network; null means the configured value. */
	readonly network: boolean | null;
	readonly writable: readonly string[];
	readonly searchesWeb: boolean;
	readonly instructions: readonly string[];
	/** In the format of mcp.json. */
	readonly mcpServers: Readonly<Record<string, unknown>>;
	readonly ignored: readonly string[];
}

type Draft = { -readonly [K in keyof ConfigOverrides]: ConfigOverrides[K] };

type Reader = (draft: Draft, value: unknown, key: string) => void;

const text = (value: unknown, key: string): string => {
	if (typeof value === "string") return value;
	throw new UsageError(`--config ${key} must be a string.`);
};
const flag = (value: unknown, key: string): boolean => {
	if (typeof value === "boolean") return value;
	throw new UsageError(`--config ${key} must be true or false.`);
};
const texts = (value: unknown, key: string): string[] => {
	if (Array.isArray(value)) return value.map((one) => text(one, key));
	throw new UsageError(`--config ${key} must be a list of strings.`);
};

const readers: Readonly<Record<string, Reader>> = {
	model: (draft, value, key) => {
		draft.model = text(value, key);
	},
	model_reasoning_effort: (draft, value, key) => {
		draft.thinking = !["none", "minimal"].includes(text(value, key));
	},
	sandbox_mode: (draft, value, key) => {
		draft.sandbox = toSandbox(text(value, key), `--config ${key}`);
	},
	"sandbox_workspace_write.network_access": (draft, value, key) => {
		draft.network = flag(value, key);
	},
	"sandbox_workspace_write.writable_roots": (draft, value, key) => {
		draft.writable = texts(value, key);
	},
	web_search: (draft, value, key) => {
		draft.searchesWeb = text(value, key) !== "disabled";
	},
	"tools.web_search": (draft, value, key) => {
		draft.searchesWeb = flag(value, key);
	},
	developer_instructions: (draft, value, key) => {
		draft.instructions = [text(value, key)];
	},
	// Codex exec never asks for approval.
	approval_policy: (_draft, value, key) => {
		text(value, key);
	},
};

/** Keys that affect permissions, data destinations or programs: they must not be ignored silently. */
const refused: readonly string[] = [
	"openai_base_url",
	"chatgpt_base_url",
	"model_provider",
	"model_providers",
	"model_instructions_file",
	"base_instructions",
	"profile",
	"profiles",
	"sandbox_workspace_write",
	"sandbox_permissions",
	"permissions",
	"default_permissions",
	"approvals_reviewer",
	"shell_environment_policy",
	"mcp_servers",
];

const serverKeys: Readonly<Record<string, string>> = {
	command: "command",
	args: "args",
	env: "env",
	cwd: "cwd",
	url: "url",
	http_headers: "headers",
	enabled: "enabled",
};

export async function readConfigOverrides(given: readonly string[]): Promise<ConfigOverrides> {
	const draft: Draft = {
		model: null,
		thinking: null,
		sandbox: null,
		network: null,
		writable: [],
		searchesWeb: true,
		instructions: [],
		mcpServers: {},
		ignored: [],
	};
	for (const one of given) {
		for (const [path, value] of await toLeaves(one)) take(draft, path, value);
	}
	return draft;
}

function take(draft: Draft, path: readonly string[], value: unknown): void {
	const key = path.join(".");
	const [table, server, member, ...deeper] = path;
	if (table === "mcp_servers" && server !== undefined && member !== undefined) {
		const name = Object.hasOwn(serverKeys, member) ? serverKeys[member] : undefined;
		if (name === undefined) {
			throw new UsageError(`--config ${key} is not supported; a server takes ${Object.keys(serverKeys).join(", ")}.`);
		}
		draft.mcpServers = withValue(draft.mcpServers, [server, name, ...deeper], value);
		return;
	}
	const reader = Object.hasOwn(readers, key) ? readers[key] : undefined;
	if (reader !== undefined) reader(draft, value, key);
	else if (!refused.includes(table ?? "")) draft.ignored = [...draft.ignored, key];
	else {
		throw new UsageError(
			`--config ${key} is not supported. Models, permissions and the sandbox are set in config.toml (see: agentwire docs guides/codex-sdk).`,
		);
	}
}

/** Flattens tables into keys with values. A value that is not valid TOML is a string, as in Codex. */
async function toLeaves(given: string): Promise<[readonly string[], unknown][]> {
	const equals = given.indexOf("=");
	if (equals < 1) throw new UsageError(`--config takes KEY=VALUE; found '${given}'.`);
	const key = given.slice(0, equals).trim();
	const value = given.slice(equals + 1).trim();
	const read = await parseToml(`${key} = ${value}`);
	const result = read.ok ? read : await parseToml(`${key} = ${JSON.stringify(value)}`);
	if (!result.ok) throw new UsageError(`--config ${key}: ${result.reason}`);
	return leaves(result.value, []);
}

function leaves(value: unknown, path: readonly string[]): [readonly string[], unknown][] {
	if (!isRecord(value)) return [[path, value]];
	return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

function withValue(
	table: Readonly<Record<string, unknown>>,
	[key = "", ...rest]: readonly string[],
	value: unknown,
): Record<string, unknown> {
	const inner = Object.hasOwn(table, key) ? table[key] : undefined;
	return { ...table, [key]: rest.length === 0 ? value : withValue(isRecord(inner) ? inner : {}, rest, value) };
}
