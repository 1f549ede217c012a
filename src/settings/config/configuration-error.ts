// The error for invalid settings, as data and as a text for people. Values are never quoted: they may be secrets.
import type * as v from "valibot";
import { redactSecrets } from "../../base/redaction.ts";

/**
 * `unreadable`: the file cannot be read; `syntax`: the file is not TOML or JSON; `schema`: a file's values do not fit;
 * `text`: anything wrong with settings given as text; `environment`: a variable that overrides a setting does not fit;
 * `uneditable`: the file is in a form that the program cannot change.
 * `mcp-syntax`: a list of MCP servers, wherever it is from, is not JSON; `mcp-schema`: its values do not fit.
 */
export type ConfigurationErrorCategory =
	| "unreadable"
	| "syntax"
	| "schema"
	| "text"
	| "environment"
	| "uneditable"
	| "mcp-syntax"
	| "mcp-schema";

export interface ConfigurationProblem {
	/** Key path like `models.k2.max_context_size`, a variable's name, or empty for the whole. */
	readonly key: string;
	/** A clause without capital and full stop. */
	readonly reason: string;
}

const headings: Record<ConfigurationErrorCategory, (source: string) => string> = {
	unreadable: (source) => `Cannot read configuration file ${source}`,
	syntax: (source) => `Invalid ${/\.json$/i.test(source) ? "JSON" : "TOML"} in configuration file ${source}`,
	schema: (source) => `Invalid configuration file ${source}`,
	text: (source) => `Invalid configuration text (${source})`,
	environment: () => "Invalid environment variables",
	uneditable: (source) => `Cannot edit configuration file ${source} in place`,
	"mcp-syntax": (source) => `Invalid JSON in MCP configuration ${source}`,
	"mcp-schema": (source) => `Invalid MCP configuration ${source}`,
};

/** The most problems that a message lists. */
const shownProblems = 50;

/** Its message may be shown as it is. `source` is a file path, `--config`, `--mcp-config` or `environment`. The message has one line per problem. */
export class ConfigurationError extends Error {
	override readonly name = "ConfigurationError";
	readonly category: ConfigurationErrorCategory;
	readonly source: string;
	readonly problems: readonly ConfigurationProblem[];

	constructor(category: ConfigurationErrorCategory, source: string, problems: readonly ConfigurationProblem[]) {
		// Redacted one by one: in the joined text, a key with a secret's name would redact the sentence about it.
		const lines = problems
			.slice(0, shownProblems)
			.map(({ key, reason }) => (key === "" ? "" : `${redactSecrets(key)}: `) + redactSecrets(reason));
		if (problems.length > shownProblems) lines.push(`and ${problems.length - shownProblems} more`);
		super([`${headings[category](source)}:`, ...lines.map((line) => `  ${line}`)].join("\n"));
		this.category = category;
		this.source = source;
		this.problems = problems;
	}
}

/** `["models", "a/b", "provider"]` as `models."a/b".provider`, list positions in brackets from 0. */
export function toKeyPath(keys: readonly unknown[]): string {
	return keys.reduce<string>((path, key) => {
		if (typeof key === "number") return `${path}[${key}]`;
		const name = String(key);
		const shown = /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
		return path === "" ? shown : `${path}.${shown}`;
	}, "");
}

/** What is wrong with a value, from the schema's words for it. */
export function toProblem(issue: v.BaseIssue<unknown>): ConfigurationProblem {
	const key = toKeyPath((issue.path ?? []).map((item) => item.key));
	return { key, reason: issue.input === undefined ? "is required" : issue.message };
}
