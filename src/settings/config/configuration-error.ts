// The error for invalid settings, as data and as text. Never quotes values: they may be secrets.
import type * as v from "valibot";
import { redactSecrets } from "../../base/redaction.ts";

/** `text`: settings given as text; `environment`: an overriding variable; `uneditable`: no edit in place. */
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
	/** A key path like `models.k2.max_context_size`, a variable name, or empty for the whole file. */
	readonly key: string;
	/** A clause without initial capital or full stop. */
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

const shownProblems = 50;

/** One line per problem. `source` is a file path, `--config`, `--mcp-config` or `environment`. */
export class ConfigurationError extends Error {
	override readonly name = "ConfigurationError";
	readonly category: ConfigurationErrorCategory;
	readonly source: string;
	readonly problems: readonly ConfigurationProblem[];

	constructor(category: ConfigurationErrorCategory, source: string, problems: readonly ConfigurationProblem[]) {
		// Redact each line separately: in the joined text, a key with a secret-like name would redact the sentence about it.
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

export function toKeyPath(keys: readonly unknown[]): string {
	return keys.reduce<string>((path, key) => {
		if (typeof key === "number") return `${path}[${key}]`;
		const name = String(key);
		const shown = /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
		return path === "" ? shown : `${path}.${shown}`;
	}, "");
}

export function toProblem(issue: v.BaseIssue<unknown>): ConfigurationProblem {
	const key = toKeyPath((issue.path ?? []).map((item) => item.key));
	return { key, reason: issue.input === undefined ? "is required" : issue.message };
}
