// Server settings from files and texts, merged by name. src/core/mcp/ opens the connections.
import * as v from "valibot";
import type { McpOAuthClient, McpServerSettings, RemoteMcpServer } from "../../api/mcp-servers.ts";
import { isRecord } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import { ConfigurationError, type ConfigurationProblem, toKeyPath } from "./configuration-error.ts";
import { anyTable, decimal, integer, mustBe, nullable, oneOf, table, tablesByName, text, texts } from "./schema.ts";
import { readText } from "./settings-text.ts";
import { parseJson } from "./syntax.ts";

type TextsByName = Readonly<Record<string, string>>;

export interface McpServerSources {
	/** Absolute paths, in order of precedence. */
	readonly files: readonly string[];
	readonly texts: readonly string[];
	/** Its `mcp.json` is read if there are no files. */
	readonly shareDir: string;
}

/** The reported source of problems in command-line text. */
const textSource = "--mcp-config";

/** In order of first occurrence; the later of two servers with one name wins. Throws ConfigurationError. */
export async function readMcpServers(
	{ files: paths, texts: given, shareDir }: McpServerSources,
	files: Files,
	log: Log,
): Promise<readonly McpServerSettings[]> {
	const servers = new Map<string, McpServerSettings>();
	const add = (source: string, json: string) => {
		for (const server of parseMcpServers(json, source)) {
			if (servers.has(server.name))
				log.info("An MCP server is replaced by a later one.", { server: server.name, source });
			servers.set(server.name, server);
		}
	};
	for (const path of paths.length > 0 ? paths : [`${shareDir}/mcp.json`]) {
		const json = await readText(files, path);
		if (json !== null) add(path, json);
		else if (paths.length > 0)
			throw new ConfigurationError("unreadable", path, [{ key: "", reason: "there is no such file" }]);
	}
	for (const json of given) add(textSource, json);
	return [...servers.values()];
}

/** Maximum servers per source: each may be a process. */
const maximumServers = 100;

/** `{"mcpServers": {name: entry}}`, or the names at the root. Ignores unknown keys. Throws ConfigurationError. */
export function parseMcpServers(json: string, source: string): McpServerSettings[] {
	const parsed = parseJson(json);
	if (!parsed.ok) throw new ConfigurationError("mcp-syntax", source, [{ key: "", reason: parsed.reason }]);
	const problems: ConfigurationProblem[] = [];
	const servers: McpServerSettings[] = [];
	for (const { keys, name, entry } of findEntries(parsed.value, problems)) {
		if (isDisabled(entry)) continue;
		const reading = readMcpEntry(name, entry, keys);
		if (reading.ok) servers.push(reading.server);
		else problems.push(...reading.problems);
	}
	if (problems.length > 0) throw new ConfigurationError("mcp-schema", source, problems);
	return servers;
}

export type McpEntryReading =
	| { readonly ok: true; readonly server: McpServerSettings }
	| { readonly ok: false; readonly problems: readonly ConfigurationProblem[] };

/** Parses one entry. `keys` is its path; problems name keys below it. */
export function readMcpEntry(name: string, entry: unknown, keys: readonly string[] = []): McpEntryReading {
	if (!isMcpEntry(entry)) {
		const reason = "needs a command to start, or the url of a server";
		return { ok: false, problems: [{ key: toKeyPath(keys), reason }] };
	}
	const result = isRemote(entry) ? v.safeParse(remoteEntry, entry) : v.safeParse(localEntry, entry);
	if (result.success) return { ok: true, server: { name, ...result.output } };
	return { ok: false, problems: result.issues.map((issue) => toProblem(keys, issue)) };
}

export function isMcpEntry(value: unknown): value is Readonly<Record<string, unknown>> {
	return isRecord(value) && ["command", "url"].some((key) => (value[key] ?? null) !== null);
}

/** Whether the entry is disabled: `"disabled": true`, or `"enabled": false`, as other programs write it. */
export function isDisabled(entry: unknown): boolean {
	return isRecord(entry) && (entry["disabled"] === true || entry["enabled"] === false);
}

interface FoundEntry {
	readonly keys: readonly string[];
	readonly name: string;
	readonly entry: unknown;
}

function findEntries(root: unknown, problems: ConfigurationProblem[]): FoundEntry[] {
	if (!isRecord(root)) {
		problems.push({ key: "", reason: "must be an object with the key mcpServers" });
		return [];
	}
	const isWrapped = Object.hasOwn(root, "mcpServers");
	const servers = isWrapped ? root["mcpServers"] : root;
	if (!isRecord(servers)) {
		problems.push({ key: "mcpServers", reason: "must be an object of servers by name" });
		return [];
	}
	const entries = Object.entries(servers).map(([name, entry]) => ({
		keys: isWrapped ? ["mcpServers", name] : [name],
		name,
		entry,
	}));
	// Without the wrapper, the root may also contain other keys.
	const found = isWrapped ? entries : entries.filter(({ entry }) => isMcpEntry(entry));
	if (found.length <= maximumServers) return found;
	const reason = `has ${found.length} servers; at most ${maximumServers} are started`;
	problems.push({ key: isWrapped ? "mcpServers" : "", reason });
	return [];
}

/** An entry with both a command and a URL is a program, unless it declares a network transport. */
function isRemote({ command, url, transport, type }: Readonly<Record<string, unknown>>): boolean {
	if ((url ?? null) === null) return false;
	const word = transport ?? type;
	return (command ?? null) === null || (typeof word === "string" && word !== "stdio");
}

function toProblem(keys: readonly string[], issue: v.BaseIssue<unknown>): ConfigurationProblem {
	const key = toKeyPath([...keys, ...(issue.path ?? []).map((item) => item.key)]);
	return { key, reason: issue.input === undefined ? "is required" : issue.message };
}

const nonEmptyText = v.pipe(text, v.minLength(1, "must not be empty"));

/** People write ports and switches without quotes. */
const textsByName = tablesByName(
	v.pipe(
		v.union([v.string(), v.number(), v.boolean()], mustBe("a string")),
		v.transform((value) => String(value)),
	),
);

const httpUrl = v.pipe(text, v.check(isHttpUrl, "must be an http or https URL"));

// Validated here, because a later error would quote the value.
function areHeaders(headers: TextsByName): boolean {
	return Object.entries(headers).every(([name, value]) => /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && isHeaderValue(value));
}

function isHeaderValue(value: string): boolean {
	return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

function isHttpUrl(value: string): boolean {
	return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

/** A list of names, or a table that disables tools. */
const toolChoice = v.union(
	[texts, tablesByName(v.union([v.boolean(), anyTable]))],
	mustBe("a list of names or a table"),
);

const shared = {
	timeout: nullable(v.pipe(decimal(0, Number.MAX_VALUE), v.gtValue(0, "must be more than 0"))),
	tools: nullable(toolChoice),
	include_tags: nullable(texts),
	exclude_tags: nullable(texts),
};

interface SharedEntry {
	readonly timeout: number | null;
	readonly tools: v.InferOutput<typeof toolChoice> | null;
	readonly include_tags: readonly string[] | null;
	readonly exclude_tags: readonly string[] | null;
}

function toShared({ timeout, tools, include_tags, exclude_tags }: SharedEntry) {
	const isListed = Array.isArray(tools);
	return {
		callTimeout: timeout,
		filter: {
			names: isListed ? tools : null,
			hidden: tools === null || isListed ? [] : Object.keys(tools).filter((name) => isSwitchedOff(tools[name])),
			includeTags: include_tags,
			excludeTags: exclude_tags ?? [],
		},
	};
}

function isSwitchedOff(tool: unknown): boolean {
	return tool === false || (isRecord(tool) && tool["enabled"] === false);
}

const localEntry = v.pipe(
	table({
		command: nonEmptyText,
		args: nullable(texts),
		env: nullable(textsByName),
		cwd: nullable(nonEmptyText),
		transport: nullable(oneOf(["stdio"])),
		...shared,
	}),
	v.transform((entry) => ({
		kind: "local" as const,
		command: entry.command,
		arguments: entry.args ?? [],
		environment: entry.env ?? {},
		workDir: entry.cwd,
		...toShared(entry),
	})),
);

const oauthClient = v.pipe(
	table({ id: nonEmptyText, secret: nullable(nonEmptyText), callback_port: nullable(integer(1, 65_535)) }),
	v.transform(({ id, secret, callback_port }): McpOAuthClient => ({ id, secret, callbackPort: callback_port })),
);

const remoteTransports = ["http", "streamable-http", "sse"] as const;

const remoteEntry = v.pipe(
	table({
		url: httpUrl,
		transport: nullable(oneOf(remoteTransports)),
		/** The transport's name in other programs; may have any value. */
		type: v.optional(v.unknown()),
		headers: nullable(v.pipe(textsByName, v.check(areHeaders, "has a name or a value that HTTP headers cannot have"))),
		auth: nullable(v.pipe(nonEmptyText, v.check(isHeaderValue, "has characters that HTTP headers cannot have"))),
		oauth_client: nullable(oauthClient),
		sse_read_timeout: nullable(v.pipe(decimal(0, Number.MAX_VALUE), v.gtValue(0, "must be more than 0"))),
		...shared,
	}),
	v.check(
		({ auth, oauth_client }) => oauth_client === null || auth === "oauth",
		'has an oauth_client, which is of use only with "auth": "oauth"',
	),
	v.transform((entry) => ({
		kind: "remote" as const,
		url: entry.url,
		transport: toTransport(entry),
		headers: entry.headers ?? {},
		authorization: toAuthorization(entry.auth, entry.oauth_client),
		readTimeout: entry.sse_read_timeout,
		...toShared(entry),
	})),
);

function toTransport(entry: {
	readonly url: string;
	readonly transport: string | null;
	readonly type?: unknown;
}): RemoteMcpServer["transport"] {
	const word = entry.transport ?? remoteTransports.find((name) => name === entry.type) ?? null;
	if (word !== null) return word === "sse" ? "sse" : "http";
	return new URL(entry.url).pathname.split("/").includes("sse") ? "sse" : "http";
}

function toAuthorization(auth: string | null, client: McpOAuthClient | null): RemoteMcpServer["authorization"] {
	if (auth === null) return { kind: "none" };
	return auth === "oauth" ? { kind: "oauth", client } : { kind: "bearer", token: auth };
}
