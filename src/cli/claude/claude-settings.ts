// Reads the files and JSON named on the client's command line: rules, settings, servers, prompts.

import { isRecord } from "../../base/json.ts";
import { convertClaudeRules } from "../../core/permissions/rules/claude-rules.ts";
import type { ClaudeOptions, SessionChoice } from "../../frontends/claude/options.ts";
import { toOwnName } from "../../frontends/claude/tool-names.ts";
import type { PermissionMode } from "../../frontends/claude/wire.ts";
import { type Place, toAbsolutePath } from "../../host/place.ts";
import type { Files } from "../../ports/files/port.ts";
import { parseMcpServers } from "../../settings/config/mcp-servers.ts";
import type { ClaudeFlags } from "../arguments/sdk/claude-options.ts";
import { UsageError } from "../arguments/usage-error.ts";

export async function readClaudeOptions(flags: ClaudeFlags, place: Place, files: Files): Promise<ClaudeOptions> {
	const settings = flags.settings === null ? {} : await readJson("--settings", flags.settings, place, files);
	refuseSettings(settings);
	const { rules, blockedTools } = toRules(flags, settings["permissions"], place.home);
	const { mcpServers, clientServers } = await readServers(flags, place, files);
	const prompt =
		flags.systemPromptFile === null ? flags.systemPrompt : await readText(flags.systemPromptFile, place, files);
	const appended =
		flags.appendedPromptFile === null ? flags.appendedPrompt : await readText(flags.appendedPromptFile, place, files);
	return {
		workDir: place.currentDir,
		session: toSession(flags),
		newId: flags.newId,
		additionalDirs: flags.additionalDirs.map((typed) => toAbsolutePath(typed, place)),
		rules,
		environment: toEnvironment(settings["env"]),
		maxSteps: flags.maxTurns,
		model: flags.model ?? (typeof settings["model"] === "string" ? settings["model"] : null),
		permissionMode: flags.permissionMode satisfies PermissionMode,
		asksClient: flags.asksClient,
		systemPrompt: prompt === "" ? null : prompt,
		instructions: appended === "" ? [] : [appended],
		tools: flags.tools?.map(toOwnName) ?? null,
		allowedTools: flags.allowedTools,
		blockedTools,
		maxBudgetDollars: flags.maxBudgetDollars,
		thinkingBudget: flags.thinkingBudget,
		answerSchema: flags.jsonSchema === null ? null : await readJson("--json-schema", flags.jsonSchema, place, files),
		mcpServers,
		isStrictMcp: flags.isStrictMcp,
		clientServers,
		wantsPartial: flags.wantsPartial,
		repeatsPrompts: flags.repeatsPrompts,
	};
}

function toSession({ resume, continues, forks }: ClaudeFlags): SessionChoice {
	if (resume !== null) return { kind: "stored", id: resume, isForked: forks };
	return continues ? { kind: "last", isForked: forks } : { kind: "new" };
}

const usedSettings: ReadonlySet<string> = new Set(["permissions", "model", "env"]);
/** Settings that do not affect permissions. */
const unusedSettings: ReadonlySet<string> = new Set([
	"$schema",
	"cleanupPeriodDays",
	"includeCoAuthoredBy",
	"outputStyle",
	"statusLine",
	"spinnerTipsEnabled",
	"alwaysThinkingEnabled",
]);

function refuseSettings(settings: Readonly<Record<string, unknown>>): void {
	const refused = Object.keys(settings).filter((key) => !usedSettings.has(key) && !unusedSettings.has(key));
	if (refused.length > 0) throw new UsageError(`--settings: agentwire cannot honor ${refused.join(", ")}.`);
}

/** A bare name removes the tool; everything else is a rule. */
function toRules(flags: ClaudeFlags, permissions: unknown, home: string) {
	const given = isRecord(permissions) ? permissions : {};
	const isName = (pattern: string) => /^\w+$/.test(pattern);
	const blockedTools = flags.disallowedTools.filter(isName).map(toOwnName);
	const listOf = (key: string) => (Array.isArray(given[key]) ? given[key] : []);
	// The client's process decides about its own tools when they are called.
	const isOwnTool = (pattern: string) => !pattern.startsWith("mcp__");
	const converted = convertClaudeRules(
		{
			permissions: {
				...given,
				allow: [...listOf("allow"), ...flags.allowedTools.filter(isOwnTool)],
				deny: [...listOf("deny"), ...flags.disallowedTools.filter((pattern) => !isName(pattern))],
			},
		},
		home,
	);
	if (!converted.ok) throw new UsageError(`--settings: ${converted.reason}.`);
	const lost = converted.leftOut.filter(({ decision }) => decision !== "allow");
	const others = [...lost.map(({ pattern, reason }) => `${pattern}: ${reason}`), ...converted.otherKeys];
	if (others.length > 0) throw new UsageError(`agentwire cannot honor these permissions: ${others.join("; ")}.`);
	return { rules: converted.rules, blockedTools };
}

async function readServers({ mcpConfigs }: ClaudeFlags, place: Place, files: Files) {
	const texts = await Promise.all(mcpConfigs.map((given) => readJson("--mcp-config", given, place, files)));
	const entries = texts.flatMap((text) => Object.entries(isRecord(text["mcpServers"]) ? text["mcpServers"] : text));
	const isClientServer = (entry: unknown) => isRecord(entry) && entry["type"] === "sdk";
	const others = Object.fromEntries(entries.filter(([, entry]) => !isClientServer(entry)));
	return {
		clientServers: entries.filter(([, entry]) => isClientServer(entry)).map(([name]) => name),
		mcpServers: parseMcpServers(JSON.stringify({ mcpServers: others }), "--mcp-config"),
	};
}

function toEnvironment(given: unknown): Readonly<Record<string, string>> {
	if (!isRecord(given)) return {};
	return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
}

/** Reads a JSON object from text or a file. */
async function readJson(flag: string, given: string, place: Place, files: Files): Promise<Record<string, unknown>> {
	const text = given.trimStart().startsWith("{") ? given : await readText(given, place, files);
	let value: unknown = null;
	try {
		value = JSON.parse(text);
	} catch {
		// Reported below.
	}
	if (isRecord(value)) return value;
	throw new UsageError(`${flag} needs a JSON object, or the path of a file with one.`);
}

async function readText(typed: string, place: Place, files: Files): Promise<string> {
	const bytes = await files.read(toAbsolutePath(typed, place));
	if (bytes === null) throw new UsageError(`There is no file ${typed}.`);
	return bytes.toString("utf8");
}
