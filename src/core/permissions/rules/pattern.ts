// Parses rule patterns. Tool names are this program's; `Bash`, `Edit`, `WebFetch` and `WebSearch` are aliases.
import { normalizeHost } from "../../../ports/network/host-name.ts";
import { type CommandPattern, parseCommandPattern } from "../shell/command-pattern.ts";
import { type PathPattern, parsePathPattern } from "./path-pattern.ts";

export type RulePattern =
	| { readonly kind: "command"; readonly command: CommandPattern }
	/** Null matches every file. */
	| { readonly kind: "file"; readonly access: FileAccess; readonly path: PathPattern | null }
	/** Null matches every host. */
	| { readonly kind: "network"; readonly host: HostPattern | null }
	| { readonly kind: "web-search" }
	/** Null matches every server, or every tool of the server. */
	| { readonly kind: "mcp"; readonly name: string | null }
	/** Null matches all. */
	| { readonly kind: "plugin-tool" | "client-tool"; readonly name: string | null }
	| { readonly kind: "task" };

export type FileAccess = "read" | "write";

/** A lowercase host name; `below` matches its subdomains, not the name itself. */
export interface HostPattern {
	readonly name: string;
	readonly below: boolean;
}

export type RulePatternResult =
	| { readonly ok: true; readonly pattern: RulePattern }
	/** Says what to write instead; a clause without a full stop. */
	| { readonly ok: false; readonly reason: string };

const longestPattern = 2000;

type ReadContent = (content: string | null, home: string) => RulePatternResult;

const found = (pattern: RulePattern): RulePatternResult => ({ ok: true, pattern });
const refused = (reason: string): RulePatternResult => ({ ok: false, reason });

const readCommand: ReadContent = (content) => {
	const parsed = parseCommandPattern(content ?? "*");
	return parsed.ok ? found({ kind: "command", command: parsed.pattern }) : refused(parsed.reason.replace(/\.$/, ""));
};

const readFile =
	(access: FileAccess): ReadContent =>
	(content, home) => {
		if (content === null) return found({ kind: "file", access, path: null });
		const parsed = parsePathPattern(content, home);
		return parsed.ok ? found({ kind: "file", access, path: parsed.pattern }) : refused(parsed.reason);
	};

const readHost: ReadContent = (content) => {
	if (content === null) return found({ kind: "network", host: null });
	const written = /^domain:(?<host>.+)$/.exec(content)?.groups?.["host"];
	if (written === undefined) return refused("write `domain:` and a host name, such as `WebFetch(domain:example.com)`");
	const below = written.startsWith("*.");
	const name = normalizeHost(below ? written.slice(2) : written);
	if (name === null || name.includes("*")) {
		return refused("the host must be a name such as `example.com`, or `*.example.com` for all names below it");
	}
	return found({ kind: "network", host: { name, below } });
};

const readName =
	(kind: "plugin-tool" | "client-tool"): ReadContent =>
	(content) =>
		content?.includes("*") === true
			? refused("a name has no `*`; leave the parentheses out for all tools of this kind")
			: found({ kind, name: content?.trim() ?? null });

const withoutContent =
	(pattern: RulePattern): ReadContent =>
	(content) =>
		content === null ? found(pattern) : refused("nothing can be in parentheses here");

const readers: Readonly<Record<string, ReadContent>> = {
	Shell: readCommand,
	Bash: readCommand,
	Read: readFile("read"),
	ReadFile: readFile("read"),
	Write: readFile("write"),
	Edit: readFile("write"),
	WriteFile: readFile("write"),
	StrReplaceFile: readFile("write"),
	FetchURL: readHost,
	WebFetch: readHost,
	SearchWeb: withoutContent({ kind: "web-search" }),
	WebSearch: withoutContent({ kind: "web-search" }),
	Plugin: readName("plugin-tool"),
	ClientTool: readName("client-tool"),
	TaskStop: withoutContent({ kind: "task" }),
};

const knownNames = "Shell, Read, Write, WebFetch, WebSearch, Plugin, ClientTool, TaskStop and mcp__SERVER__TOOL";

/** Parses a pattern such as `Shell(git diff:*)`, `Write(src/**)` or `mcp__files__read`. `home` expands `~/`. */
export function parseRulePattern(text: string, home: string): RulePatternResult {
	if (text.length > longestPattern) return refused(`it is longer than ${longestPattern} characters`);
	if (text.startsWith("mcp__")) return readMcp(text);
	const { name = "", content } = /^(?<name>\w+)(?:\((?<content>[\s\S]*)\))?$/.exec(text)?.groups ?? {};
	const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
	if (read === undefined) return refused(`it must begin with one of ${knownNames}`);
	if (content?.trim() === "")
		return refused(`there is nothing between the parentheses; write \`${name}\` alone for every call`);
	return read(content ?? null, home);
}

function readMcp(text: string): RulePatternResult {
	const name = text.slice("mcp__".length).replace(/__\*$/, "");
	if (name === "*") return found({ kind: "mcp", name: null });
	if (name === "" || name.includes("*") || name.startsWith("__") || name.endsWith("__")) {
		return refused("write `mcp__SERVER__TOOL`, `mcp__SERVER` for all tools of a server, or `mcp__*` for all servers");
	}
	return found({ kind: "mcp", name });
}
