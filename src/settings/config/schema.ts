// The settings file's keys, types, bounds and all defaults. configuration.ts renames the keys.
import { isIP } from "node:net";
import * as v from "valibot";
import { contractForm, parseContractVersion } from "../../base/contract-version.ts";
import { isRecord } from "../../base/json.ts";
import { beginning } from "../../base/text/well-formed.ts";

export const modelCapabilities = ["image_in", "video_in", "thinking", "always_thinking"] as const;
export type ModelCapability = (typeof modelCapabilities)[number];

export const providerTypes = [
	"kimi",
	"openai_legacy",
	"openai_responses",
	"anthropic",
	"google_genai",
	"gemini",
	"vertexai",
	"_echo",
	"_scripted_echo",
	"_chaos",
] as const;
export type ProviderType = (typeof providerTypes)[number];

export const hookEvents = [
	"SessionStart",
	"SessionEnd",
	"UserPromptSubmit",
	"PreToolUse",
	"PostToolUse",
	"PostToolUseFailure",
	"Stop",
	"StopFailure",
	"SubagentStart",
	"SubagentStop",
	"PreCompact",
	"PostCompact",
	"Notification",
] as const;

function found(input: unknown): string {
	if (input === null) return "null";
	if (typeof input === "object") return Array.isArray(input) ? "a list" : input instanceof Date ? "a date" : "a table";
	return `a ${typeof input}`;
}

// Report a wrong value by its type and never quote it: it may be a key on the wrong line, or without quotes.
export const mustBe = (expected: string) => (issue: v.BaseIssue<unknown>) =>
	`must be ${expected}, found ${found(issue.input)}`;

/** A value intended as a number is not a secret. */
const mustBeNumber =
	(expected: string) =>
	({ input }: v.BaseIssue<unknown>) =>
		`must be ${expected}, found ${typeof input === "number" ? input : found(input)}`;

export const text = v.string(mustBe("a string"));
const flag = v.boolean(mustBe("true or false"));

export function oneOf<const Words extends readonly string[]>(words: Words) {
	const expected = `one of ${words.map((word) => `"${word}"`).join(", ")}`;
	return v.picklist(words, ({ input }) => {
		const shown = typeof input === "string" && input.length <= 40 ? JSON.stringify(input) : found(input);
		return `must be ${expected}, found ${shown}`;
	});
}

export function integer(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER) {
	const bounds = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
	const message = mustBeNumber(`an integer ${bounds}`);
	return v.pipe(v.number(message), v.safeInteger(message), v.minValue(minimum, message), v.maxValue(maximum, message));
}

export function decimal(minimum: number, maximum: number) {
	const bounds = maximum === Number.MAX_VALUE ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
	const message = mustBeNumber(`a number ${bounds}`);
	return v.pipe(v.number(message), v.minValue(minimum, message), v.maxValue(maximum, message));
}

/** A key that may be missing or null; both become null. */
export const nullable = <Schema extends v.GenericSchema>(schema: Schema) => v.optional(v.nullable(schema), null);

// The library accepts lists as objects; a settings table is never a list.
export const anyTable = v.custom<Record<string, unknown>>(
	(input) => isRecord(input) && !(input instanceof Date),
	mustBe("a table"),
);
export const table = <Entries extends v.ObjectEntries>(entries: Entries) => v.pipe(anyTable, v.object(entries));
/** A table that rejects unknown keys, because ignoring a misspelled key could allow something. */
const exactTable = <Entries extends v.ObjectEntries>(entries: Entries) =>
	v.pipe(
		anyTable,
		v.strictObject(entries, ({ expected }) =>
			expected === "never" ? `is not a key of this table, which has ${Object.keys(entries).join(", ")}` : "is required",
		),
	);
export const tablesByName = <Schema extends v.GenericSchema>(schema: Schema) =>
	v.pipe(anyTable, v.record(v.string(), schema));

const textsByName = tablesByName(text);
export const texts = v.array(text, mustBe("a list of strings"));

const isCapability = (word: string): word is ModelCapability => modelCapabilities.some((known) => known === word);

// The Go client writes an object: keys with value true count.
const capabilityList = v.pipe(
	v.unknown(),
	v.transform((input) => (isRecord(input) ? Object.keys(input).filter((key) => input[key] === true) : input)),
	v.array(text, mustBe("a list of capabilities")),
	v.check(
		(words) => words.every(isCapability),
		({ input }) => {
			const unknown = input.filter((word) => !isCapability(word)).map((word) => JSON.stringify(beginning(word, 40)));
			return `has unknown names: ${unknown.join(", ")}; known are ${modelCapabilities.join(", ")}`;
		},
	),
	v.transform((words) => modelCapabilities.filter((known) => words.includes(known))),
);

const oauthTable = table({ storage: v.optional(oneOf(["file", "keyring"]), "file"), key: text });

const tokenPrice = decimal(0, Number.MAX_VALUE);

/** Per million tokens. Cache prices default to the input price. */
const priceTable = v.pipe(
	table({
		currency: v.optional(text, "USD"),
		input: tokenPrice,
		output: tokenPrice,
		cache_read: nullable(tokenPrice),
		cache_creation: nullable(tokenPrice),
	}),
	v.transform(({ cache_read, cache_creation, ...price }) => ({
		...price,
		cache_read: cache_read ?? price.input,
		cache_creation: cache_creation ?? price.input,
	})),
);

const modelTable = table({
	provider: text,
	model: text,
	max_context_size: integer(1),
	capabilities: nullable(capabilityList),
	display_name: nullable(text),
	price: nullable(priceTable),
});

const providerTable = table({
	type: oneOf(providerTypes),
	base_url: text,
	api_key: text,
	env: nullable(textsByName),
	custom_headers: nullable(textsByName),
	reasoning_key: nullable(text),
	oauth: nullable(oauthTable),
});

const loopControlTable = v.pipe(
	table({
		max_steps_per_turn: nullable(integer(1)),
		/** The old name; the new one overrides it. */
		max_steps_per_run: nullable(integer(1)),
		max_retries_per_step: v.optional(integer(1), 8),
		max_ralph_iterations: v.optional(integer(-1), 0),
		reserved_context_size: v.optional(integer(1000), 50_000),
		compaction_trigger_ratio: v.optional(decimal(0.5, 0.99), 0.85),
	}),
	v.transform(({ max_steps_per_turn, max_steps_per_run, ...others }) => ({
		max_steps_per_turn: max_steps_per_turn ?? max_steps_per_run ?? 1000,
		...others,
	})),
);

const backgroundTable = table({
	max_running_tasks: v.optional(integer(1), 4),
	read_max_bytes: v.optional(integer(1024), 30_000),
	notification_tail_lines: v.optional(integer(1), 20),
	notification_tail_chars: v.optional(integer(256), 3000),
	wait_poll_interval_ms: v.optional(integer(50), 500),
	worker_heartbeat_interval_ms: v.optional(integer(100), 5000),
	worker_stale_after_ms: v.optional(integer(1000), 15_000),
	kill_grace_period_ms: v.optional(integer(100), 2000),
	keep_alive_on_exit: v.optional(flag, false),
	agent_task_timeout_s: v.optional(integer(60), 900),
	print_wait_ceiling_s: v.optional(integer(1), 3600),
});

const serviceTable = table({
	base_url: text,
	api_key: text,
	custom_headers: nullable(textsByName),
	oauth: nullable(oauthTable),
});

const hookTable = table({
	event: oneOf(hookEvents),
	command: text,
	matcher: v.optional(text, ""),
	timeout: v.optional(integer(1, 600), 30),
	fail_closed: v.optional(flag, false),
});

/** Budgets (null for none) and concurrency limits. Times in seconds. */
const limitsTable = table({
	session_tokens: nullable(integer(1)),
	session_seconds: nullable(decimal(0.001, Number.MAX_VALUE)),
	session_tool_calls: nullable(integer(1)),
	turn_tokens: nullable(integer(1)),
	turn_seconds: nullable(decimal(0.001, Number.MAX_VALUE)),
	turn_tool_calls: nullable(integer(1)),
	warning_ratio: v.optional(decimal(0, 1), 0.8),
	loaded_sessions: v.optional(integer(1), 1024),
	running_turns: v.optional(integer(1), 64),
	/** 0 for never. */
	unload_after: v.optional(decimal(0, Number.MAX_VALUE), 300),
	requests_in_flight: v.optional(integer(1), 256),
	outbox_bytes: v.optional(integer(4096), 262_144),
});

/** File history; sizes in bytes. */
const rewindTable = table({
	enabled: v.optional(flag, true),
	max_files: v.optional(integer(1), 200_000),
	max_file_bytes: v.optional(integer(1), 64 * 1024 * 1024),
	max_store_bytes: v.optional(integer(1), 1024 * 1024 * 1024),
	max_total_bytes: v.optional(integer(1), 10 * 1024 * 1024 * 1024),
	/** Per session, in PostgreSQL. */
	max_database_bytes: v.optional(integer(1), 64 * 1024 * 1024),
	turns: v.optional(integer(1), 100),
	/** Seconds that a command waits for the directory scan. */
	patience: v.optional(decimal(0.001, 600), 2),
});

const caFile = v.pipe(
	text,
	v.check((path) => path === "" || path.startsWith("/") || path.startsWith("~/"), "must be absolute or begin with ~/"),
);

/** A host, `*.` followed by a domain, or an address with an optional prefix length. */
function isHostOrRange(entry: string): boolean {
	const [address = "", length, ...rest] = entry.split("/");
	const longest = { 0: null, 4: 32, 6: 128 }[isIP(address)] ?? null;
	if (longest === null) return /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?$/i.test(entry) && !/^[\d.]+$/.test(entry);
	return length === undefined || (rest.length === 0 && /^\d{1,3}$/.test(length) && Number(length) <= longest);
}

const hostsAndRanges = v.array(
	v.pipe(text, v.check(isHostOrRange, "must be a host, an address, or a range such as 10.0.0.0/8")),
	mustBe("a list of strings"),
);

/** Seconds; 0 means no deadline. */
const deadline = decimal(0, Number.MAX_VALUE);

/** Recorded exchanges with model providers. A misspelled mode would contact them. */
const cassetteTable = exactTable({
	file: v.pipe(text, v.minLength(1, "must not be empty")),
	mode: v.optional(oneOf(["record", "replay", "replay-or-record", "passthrough"]), "replay"),
	time_scale: v.optional(decimal(0, 1_000_000), 1),
	faults: v.optional(
		v.array(
			v.pipe(
				text,
				v.regex(/^(?:(?:cut|stall|429|5\d\d)(?:=\d{1,9})?|split)(?:@[1-9]\d{0,8})?$/, "must be a fault such as 429@1"),
			),
			mustBe("a list of strings"),
		),
		[],
	),
	replace: v.optional(textsByName, {}),
});

const agentwireTable = table({
	sync: v.optional(oneOf(["commit", "off"]), "commit"),
	approval_timeout: v.optional(deadline, 0),
	question_timeout: v.optional(deadline, 0),
	client_tool_timeout: v.optional(deadline, 600),
	contain: v.optional(oneOf(["auto", "off"]), "auto"),
	mcp_start_timeout: v.optional(deadline, 30),
	parallel_subagents: v.optional(integer(1, 64), 4),
	oauth_host: v.optional(text, ""),
	oauth_client_id: v.optional(text, ""),
	max_events: v.optional(text, ""),
	typed_parts: v.optional(flag, false),
	former_names: v.optional(flag, false),
	exact_approvals: v.optional(flag, false),
	titles: v.optional(oneOf(["prompt", "model"]), "prompt"),
	limits: v.optional(limitsTable, {}),
	cassette: nullable(cassetteTable),
	rewind: v.optional(rewindTable, {}),
	ca_file: v.optional(caFile, ""),
	fetch_allow: v.optional(hostsAndRanges, []),
	unattended: v.exactOptional(oneOf(["approve", "reject", "wait"])),
	contract: v.optional(
		v.pipe(
			text,
			v.check((version) => parseContractVersion(version) !== null, `must be ${contractForm}`),
		),
		"0.9",
	),
});

const ruleTable = exactTable({
	decision: oneOf(["allow", "ask", "deny"]),
	pattern: text,
	reason: v.optional(text, ""),
	match: v.optional(texts, []),
	not_match: v.optional(texts, []),
});

const mostRules = 2000;

const permissionTable = exactTable({
	rules: v.optional(
		v.pipe(
			v.array(ruleTable, mustBe("a list of tables")),
			v.maxLength(mostRules, `must have at most ${mostRules} rules`),
		),
		[],
	),
	allow_read_only: v.optional(v.nullable(flag), null),
	forbid_modes: v.optional(v.array(oneOf(["auto", "yolo"]), mustBe("a list of strings")), []),
});

/** A permission file of a project or the machine administrator. */
export const permissionFileSchema = exactTable({ permission: v.optional(permissionTable, {}) });

/** Absolute or below the home directory: sandbox protection must not depend on the session's work directory. */
const placedPath = v.pipe(
	text,
	v.check((path) => /^(?:\/|~(?:\/|$))/.test(path) && !path.includes("\0"), "must be absolute or begin with ~/"),
);
const placedPaths = v.array(placedPath, mustBe("a list of strings"));

const environmentNames = v.array(
	v.pipe(text, v.regex(/^[^=\0]+$/, "must be the name of a variable")),
	mustBe("a list of strings"),
);

/** Rejects unknown keys: ignoring a misspelled key could give commands more access than intended. */
const sandboxTable = exactTable({
	mode: v.optional(oneOf(["off", "workspace-write", "read-only"]), "off"),
	writable: v.optional(placedPaths, []),
	hidden: v.optional(placedPaths, []),
	read_only: v.optional(placedPaths, []),
	network: v.optional(oneOf(["host", "none", "proxy"]), "none"),
	allowed_domains: v.optional(hostsAndRanges, []),
	auto_allow: v.optional(flag, false),
	mcp_servers: v.optional(flag, false),
	creators: v.optional(flag, true),
	env: v.optional(
		exactTable({
			pass: v.optional(environmentNames, []),
			set: v.optional(textsByName, {}),
			drop: v.optional(environmentNames, []),
		}),
		{},
	),
});

/** Session storage. Rejects unknown keys: a misspelled key would store sessions elsewhere. */
const storeKeys = exactTable({
	type: v.exactOptional(oneOf(["disk", "postgres"])),
	url: v.optional(text, ""),
	schema: v.optional(
		v.pipe(
			text,
			v.regex(
				/^[a-z_][a-z0-9_]{0,39}$/,
				"must be a name of at most 40 lower-case letters, digits and underscores, without a digit at its beginning",
			),
		),
		"agentwire",
	),
	password_file: v.optional(caFile, ""),
	tls: v.optional(
		exactTable({
			mode: v.exactOptional(oneOf(["disable", "require", "verify-ca", "verify-full"])),
			ca_file: v.optional(caFile, ""),
		}),
		{},
	),
	pool_size: v.optional(integer(1, 1000), 10),
	owner: v.optional(text, ""),
	needs: v.optional(texts, []),
});

/** Reject a URL without a type: sessions would be stored on disk although a database is named. */
const storeTable = v.pipe(
	storeKeys,
	v.forward(
		v.check(
			({ type, url }) => type !== undefined || url === "",
			'is not used without a type: add type = "postgres" to store sessions in this database, or type = "disk" to leave them where they are',
		),
		["url"],
	),
	v.transform(({ type = "disk", ...others }) => ({ ...others, type })),
);

/** The whole file. Drops unknown keys at every level except in exact tables; `{}` yields the defaults. */
export const configurationFileSchema = table({
	default_model: v.optional(text, ""),
	default_thinking: v.optional(flag, false),
	default_yolo: v.optional(flag, false),
	skip_afk_prompt_injection: v.optional(flag, false),
	default_plan_mode: v.optional(flag, false),
	default_editor: v.optional(text, ""),
	theme: v.optional(oneOf(["dark", "light"]), "dark"),
	show_thinking_stream: v.optional(flag, true),
	merge_all_available_skills: v.optional(flag, true),
	extra_skill_dirs: v.optional(texts, []),
	telemetry: v.optional(flag, true),
	models: v.optional(tablesByName(modelTable), {}),
	providers: v.optional(tablesByName(providerTable), {}),
	loop_control: v.optional(loopControlTable, {}),
	background: v.optional(backgroundTable, {}),
	notifications: v.optional(table({ claim_stale_after_ms: v.optional(integer(1000), 15_000) }), {}),
	services: v.optional(table({ moonshot_search: nullable(serviceTable), moonshot_fetch: nullable(serviceTable) }), {}),
	mcp: v.optional(
		table({ client: v.optional(table({ tool_call_timeout_ms: v.optional(integer(1), 60_000) }), {}) }),
		{},
	),
	hooks: v.optional(v.array(hookTable, mustBe("a list of tables")), []),
	permission: v.optional(permissionTable, {}),
	agentwire: v.optional(agentwireTable, {}),
	sandbox: v.optional(sandboxTable, {}),
	store: v.optional(storeTable, {}),
});

export type ConfigurationFile = v.InferOutput<typeof configurationFileSchema>;
