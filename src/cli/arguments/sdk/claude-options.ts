// Parses the command line of Claude SDK programs. Rejects safety options that it cannot honor.
import { isUuid } from "../../../base/ids.ts";
import { UsageError } from "../usage-error.ts";

export const claudeOutputFormats = ["text", "json", "stream-json"] as const;
export type ClaudeOutputFormat = (typeof claudeOutputFormats)[number];
const permissionModes = ["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk"] as const;

export interface ClaudeFlags {
	readonly asksVersion: boolean;
	/** Whether frames arrive on stdin; otherwise there is a single prompt. */
	readonly readsFrames: boolean;
	readonly prompt: string | null;
	readonly output: ClaudeOutputFormat;
	readonly isDebug: boolean;
	readonly model: string | null;
	readonly maxTurns: number | null;
	readonly maxBudgetDollars: number | null;
	readonly thinkingBudget: number | null;
	readonly permissionMode: (typeof permissionModes)[number];
	readonly asksClient: boolean;
	/** Patterns and names, as written. */
	readonly allowedTools: readonly string[];
	readonly disallowedTools: readonly string[];
	/** Null means all. */
	readonly tools: readonly string[] | null;
	/** Empty texts keep the agent's own prompt. */
	readonly systemPrompt: string;
	readonly appendedPrompt: string;
	readonly systemPromptFile: string | null;
	readonly appendedPromptFile: string | null;
	readonly additionalDirs: readonly string[];
	readonly mcpConfigs: readonly string[];
	readonly isStrictMcp: boolean;
	readonly continues: boolean;
	readonly resume: string | null;
	readonly forks: boolean;
	/** The id of the new or copied session; null generates one. */
	readonly newId: string | null;
	readonly jsonSchema: string | null;
	/** A JSON text, or a file path. */
	readonly settings: string | null;
	readonly wantsPartial: boolean;
	readonly repeatsPrompts: boolean;
}

type Takes = "nothing" | "one" | "some";

const aliases: Readonly<Record<string, string>> = {
	"-p": "--print",
	"-v": "--version",
	"-c": "--continue",
	"-r": "--resume",
	"-d": "--debug",
	"--allowed-tools": "--allowedTools",
	"--disallowed-tools": "--disallowedTools",
};

const taken: Readonly<Record<string, Takes>> = {
	"--print": "nothing",
	"--version": "nothing",
	"--verbose": "nothing",
	"--debug": "nothing",
	"--input-format": "one",
	"--output-format": "one",
	"--model": "one",
	"--max-turns": "one",
	"--max-budget-usd": "one",
	"--max-thinking-tokens": "one",
	"--permission-mode": "one",
	"--permission-prompt-tool": "one",
	"--dangerously-skip-permissions": "nothing",
	"--allowedTools": "some",
	"--disallowedTools": "some",
	"--tools": "some",
	"--system-prompt": "one",
	"--system-prompt-file": "one",
	"--append-system-prompt": "one",
	"--append-system-prompt-file": "one",
	"--add-dir": "some",
	"--mcp-config": "some",
	"--strict-mcp-config": "nothing",
	"--continue": "nothing",
	"--resume": "one",
	"--fork-session": "nothing",
	"--session-id": "one",
	"--json-schema": "one",
	"--settings": "one",
	"--include-partial-messages": "nothing",
	"--replay-user-messages": "nothing",
};

/** Flags ignored here because they do not affect permissions. */
export const unusedClaudeFlags: Readonly<Record<string, Takes>> = {
	"--fallback-model": "one",
	"--betas": "some",
	"--setting-sources": "one",
	"--include-hook-events": "nothing",
	"--thinking": "one",
	"--thinking-display": "one",
	"--effort": "one",
	"--debug-to-stderr": "nothing",
	"--allow-dangerously-skip-permissions": "nothing",
};

export function parseClaudeFlags(words: readonly string[]): ClaudeFlags {
	const { values, rest } = split(words);
	const last = (name: string) => values.get(name)?.at(-1) ?? null;
	const has = (name: string) => values.has(name);
	const list = (name: string) => (values.get(name) ?? []).flatMap(splitList);
	const input = oneOf("--input-format", last("--input-format") ?? "text", ["text", "stream-json"] as const);
	const output = oneOf("--output-format", last("--output-format") ?? "text", claudeOutputFormats);
	const readsFrames = input === "stream-json";
	if (readsFrames && output !== "stream-json")
		throw new UsageError("--input-format stream-json needs --output-format stream-json.");
	const prompter = last("--permission-prompt-tool");
	if (prompter !== null && prompter !== "stdio")
		throw new UsageError(`--permission-prompt-tool ${prompter}: only 'stdio' is supported.`);
	if (prompter !== null && !readsFrames)
		throw new UsageError("--permission-prompt-tool stdio needs --input-format stream-json.");
	const newId = last("--session-id");
	if (newId !== null && !isUuid(newId)) throw new UsageError(`--session-id ${newId}: it must be a UUID.`);
	if (newId !== null && (has("--resume") || has("--continue")) && !has("--fork-session"))
		throw new UsageError("--session-id with --resume or --continue needs --fork-session.");
	const [prompt = null, other] = rest;
	if (other !== undefined)
		throw new UsageError(`Only one prompt is accepted, found '${other}' too. Put the prompt in quotes.`);
	const bypasses = has("--dangerously-skip-permissions");
	const mode = bypasses ? "bypassPermissions" : (last("--permission-mode") ?? "default");
	return {
		asksVersion: has("--version"),
		readsFrames,
		prompt,
		output,
		isDebug: has("--debug"),
		model: last("--model"),
		maxTurns: toNumber("--max-turns", last("--max-turns"), true),
		maxBudgetDollars: toNumber("--max-budget-usd", last("--max-budget-usd"), false),
		thinkingBudget: toNumber("--max-thinking-tokens", last("--max-thinking-tokens"), true),
		permissionMode: oneOf("--permission-mode", mode, permissionModes),
		asksClient: prompter !== null,
		allowedTools: list("--allowedTools"),
		disallowedTools: list("--disallowedTools"),
		tools: has("--tools") && last("--tools") !== "default" ? list("--tools") : null,
		systemPrompt: last("--system-prompt") ?? "",
		appendedPrompt: last("--append-system-prompt") ?? "",
		systemPromptFile: last("--system-prompt-file"),
		appendedPromptFile: last("--append-system-prompt-file"),
		additionalDirs: values.get("--add-dir") ?? [],
		mcpConfigs: values.get("--mcp-config") ?? [],
		isStrictMcp: has("--strict-mcp-config"),
		continues: has("--continue"),
		resume: last("--resume"),
		forks: has("--fork-session"),
		newId,
		jsonSchema: last("--json-schema"),
		settings: last("--settings"),
		wantsPartial: has("--include-partial-messages"),
		repeatsPrompts: has("--replay-user-messages"),
	};
}

function split(words: readonly string[]) {
	const values = new Map<string, string[]>();
	const rest: string[] = [];
	for (let position = 0; position < words.length; position += 1) {
		const word = words[position] ?? "";
		if (word === "--") {
			rest.push(...words.slice(position + 1));
			break;
		}
		if (!word.startsWith("-") || word === "-") {
			rest.push(word);
			continue;
		}
		const [, typed = word, attached = null] = /^(--[^=]+)=([\s\S]*)$/.exec(word) ?? [];
		const name = aliases[typed] ?? typed;
		const takes = taken[name] ?? unusedClaudeFlags[name];
		if (takes === undefined)
			throw new UsageError(`${typed}: agentwire cannot honor this flag. Leave it out, or the option that sets it.`);
		const given = values.get(name) ?? [];
		values.set(name, given);
		if (attached !== null) {
			if (takes === "nothing") throw new UsageError(`${name} takes no value.`);
			given.push(attached);
			continue;
		}
		if (takes === "nothing") continue;
		const first = words[position + 1];
		if (first === undefined) throw new UsageError(`${name} needs a value.`);
		given.push(first);
		position += 1;
		while (takes === "some" && isValue(words[position + 1])) {
			position += 1;
			given.push(words[position] ?? "");
		}
	}
	return { values, rest };
}

const isValue = (word: string | undefined) => word !== undefined && !word.startsWith("-");

function splitList(text: string): readonly string[] {
	const items: string[] = [];
	let item = "";
	let depth = 0;
	for (const character of text) {
		if (character === "(") depth += 1;
		if (character === ")") depth = Math.max(0, depth - 1);
		if (depth === 0 && /[\s,]/.test(character)) {
			items.push(item);
			item = "";
		} else item += character;
	}
	return [...items, item].filter((each) => each !== "");
}

function oneOf<W extends string>(name: string, value: string, words: readonly W[]): W {
	const word = words.find((each) => each === value);
	if (word === undefined) throw new UsageError(`${name} ${value}: not supported; it takes ${words.join(", ")}.`);
	return word;
}

function toNumber(name: string, value: string | null, isWhole: boolean): number | null {
	if (value === null) return null;
	const number = value.trim() === "" ? Number.NaN : Number(value);
	if (Number.isFinite(number) && number >= 0 && (!isWhole || Number.isSafeInteger(number))) return number;
	throw new UsageError(`${name} must be ${isWhole ? "a whole number" : "a number"} of at least 0.`);
}
