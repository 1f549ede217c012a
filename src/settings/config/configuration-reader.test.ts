// Settings from texts and files to the configuration, or to every problem in them at once. One file: the settings exclude
// each other, so a case needs all of them around it.
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse } from "smol-toml";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { configurationFailure } from "../../../test/support/host/configuration-failure.ts";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { Configuration } from "./configuration.ts";
import type { ConfigurationProblem } from "./configuration-error.ts";
import { readConfiguration } from "./configuration-reader.ts";
import { hookEvents } from "./schema.ts";

const files = createDiskFiles();
let folder: string;

beforeEach(async () => {
	folder = await mkdtemp(path.join(tmpdir(), "agentwire-config-"));
});
afterEach(async () => {
	await rm(folder, { recursive: true, force: true });
});

async function readText(text: string): Promise<Configuration> {
	return (await readConfiguration({ kind: "text", text }, files, silentLog)).configuration;
}

async function problemsOf(settings: unknown): Promise<readonly ConfigurationProblem[]> {
	return (await configurationFailure(readText(JSON.stringify(settings)))).problems;
}

const defaults: Configuration = {
	defaultModel: "",
	defaultThinking: false,
	defaultYolo: false,
	skipAfkPromptInjection: false,
	defaultPlanMode: false,
	defaultEditor: "",
	theme: "dark",
	showThinkingStream: true,
	mergeAllAvailableSkills: true,
	extraSkillDirs: [],
	telemetry: true,
	models: {},
	providers: {},
	loopControl: {
		maxStepsPerTurn: 1000,
		maxRetriesPerStep: 8,
		maxRalphIterations: 0,
		reservedContextSize: 50000,
		compactionTriggerRatio: 0.85,
	},
	background: {
		maxRunningTasks: 4,
		readMaxBytes: 30000,
		notificationTailLines: 20,
		notificationTailChars: 3000,
		waitPollIntervalMs: 500,
		workerHeartbeatIntervalMs: 5000,
		workerStaleAfterMs: 15000,
		killGracePeriodMs: 2000,
		keepAliveOnExit: false,
		agentTaskTimeoutS: 900,
		printWaitCeilingS: 3600,
	},
	notifications: { claimStaleAfterMs: 15000 },
	services: { moonshotSearch: null, moonshotFetch: null },
	mcp: { client: { toolCallTimeoutMs: 60000 } },
	hooks: [],
	permission: { rules: [], allowReadOnly: null, forbidModes: [] },
	agentwire: {
		sync: "commit",
		approvalTimeout: null,
		questionTimeout: null,
		clientToolTimeout: 600,
		contain: "auto",
		mcpStartTimeout: 30,
		parallelSubagents: 4,
		oauthHost: "",
		oauthClientId: "",
		maxEvents: "",
		typedParts: false,
		formerNames: false,
		exactApprovals: false,
		titles: "prompt",
		limits: {
			sessionTokens: null,
			sessionSeconds: null,
			sessionToolCalls: null,
			turnTokens: null,
			turnSeconds: null,
			turnToolCalls: null,
			warningRatio: 0.8,
			loadedSessions: 1024,
			runningTurns: 64,
			unloadAfter: 300,
			requestsInFlight: 256,
			outboxBytes: 262_144,
		},
		rewind: {
			enabled: true,
			maxFiles: 200_000,
			maxFileBytes: 67_108_864,
			maxStoreBytes: 1_073_741_824,
			maxTotalBytes: 10_737_418_240,
			maxDatabaseBytes: 67_108_864,
			turns: 100,
			patience: 2,
		},
		cassette: null,
		caFile: null,
		fetchAllow: [],
		unattended: null,
		contract: { major: 0, minor: 9, patch: 8 },
	},
	store: {
		type: "disk",
		url: null,
		schema: "agentwire",
		passwordFile: null,
		tls: { mode: null, caFile: null },
		poolSize: 10,
		owner: "",
		needs: [],
	},
	sandbox: {
		mode: "off",
		writable: [],
		hidden: [],
		readOnly: [],
		network: "none",
		allowedDomains: [],
		autoAllow: false,
		mcpServers: false,
		creators: true,
		environment: { pass: [], set: {}, drop: [] },
	},
};

const fullToml = `
default_model = "kimi-code/k2"
default_thinking = true
default_yolo = true
default_editor = "vim"
theme = "light"
extra_skill_dirs = ["~/skills"]
unknown_key = 1

[models."kimi-code/k2"]
provider = "managed:kimi-code"
model = "kimi-for-coding"
max_context_size = 262144
capabilities = ["thinking", "image_in"]
display_name = "K2"
price = { currency = "CNY", input = 4, output = 16.5, cache_read = 1 }
later = true

[providers."managed:kimi-code"]
type = "kimi"
base_url = "https://api.example.com/v1"
api_key = ""
env = { ZONE = "eu" }
custom_headers = { "X-Team" = "core" }
reasoning_key = ""
oauth = { key = "oauth/kimi-code" }

[loop_control]
max_steps_per_turn = 7
max_retries_per_step = 2
max_ralph_iterations = -1
reserved_context_size = 1000
compaction_trigger_ratio = 0.5

[background]
keep_alive_on_exit = true

[notifications]
claim_stale_after_ms = 1000

[services.moonshot_search]
base_url = "https://search.example.com"
api_key = "k"

[mcp.client]
tool_call_timeout_ms = 5

[[hooks]]
event = "PreToolUse"
command = "check"
matcher = "Shell"
timeout = 600
fail_closed = true

[[hooks]]
event = "Stop"
command = "bell"

[sandbox]
mode = "workspace-write"
writable = ["~/builds", "/srv/cache"]
hidden = ["~/notes"]
read_only = ["/srv/cache/keys"]
network = "proxy"
allowed_domains = ["registry.npmjs.org", "*.example.com", "10.0.0.0/8"]
auto_allow = true
mcp_servers = true
creators = false

[sandbox.env]
pass = ["OPENAI_API_KEY"]
set = { CI = "1" }
drop = ["AWS_*"]

[agentwire]
unattended = "reject"
sync = "off"
approval_timeout = 1.5
question_timeout = 60
client_tool_timeout = 0
contain = "off"
oauth_host = "https://sign-in.example.com"
oauth_client_id = "program-7"
max_events = "1.2"
typed_parts = true
titles = "model"
former_names = true
mcp_start_timeout = 0
ca_file = "~/ca.pem"
fetch_allow = ["wiki.corp", "*.example", "10.0.0.0/8", "::1"]

[agentwire.cassette]
file = "a.jsonl"
mode = "replay-or-record"
time_scale = 0.5
faults = ["429=1@2", "split"]
replace = { "/srv/app" = "<app>" }

[agentwire.limits]
session_tokens = 1_000_000
session_seconds = 3600
session_tool_calls = 500
turn_tokens = 100_000
turn_seconds = 0.5
warning_ratio = 1
`;

const full: Configuration = {
	...defaults,
	defaultModel: "kimi-code/k2",
	defaultThinking: true,
	defaultYolo: true,
	defaultEditor: "vim",
	theme: "light",
	extraSkillDirs: ["~/skills"],
	models: {
		"kimi-code/k2": {
			provider: "managed:kimi-code",
			model: "kimi-for-coding",
			maxContextSize: 262144,
			capabilities: ["image_in", "thinking"],
			displayName: "K2",
			price: { currency: "CNY", input: 4, output: 16.5, cacheRead: 1, cacheCreation: 4 },
		},
	},
	providers: {
		"managed:kimi-code": {
			type: "kimi",
			baseUrl: "https://api.example.com/v1",
			apiKey: "",
			env: { ZONE: "eu" },
			customHeaders: { "X-Team": "core" },
			reasoningKey: "",
			oauth: { storage: "file", key: "oauth/kimi-code" },
		},
	},
	loopControl: {
		maxStepsPerTurn: 7,
		maxRetriesPerStep: 2,
		maxRalphIterations: -1,
		reservedContextSize: 1000,
		compactionTriggerRatio: 0.5,
	},
	background: { ...defaults.background, keepAliveOnExit: true },
	notifications: { claimStaleAfterMs: 1000 },
	services: {
		moonshotSearch: { baseUrl: "https://search.example.com", apiKey: "k", customHeaders: {}, oauth: null },
		moonshotFetch: null,
	},
	mcp: { client: { toolCallTimeoutMs: 5 } },
	hooks: [
		{ event: "PreToolUse", command: "check", matcher: "Shell", timeout: 600, failClosed: true },
		{ event: "Stop", command: "bell", matcher: "", timeout: 30, failClosed: false },
	],
	agentwire: {
		sync: "off",
		approvalTimeout: 1.5,
		questionTimeout: 60,
		clientToolTimeout: null,
		contain: "off",
		mcpStartTimeout: null,
		parallelSubagents: 4,
		oauthHost: "https://sign-in.example.com",
		oauthClientId: "program-7",
		maxEvents: "1.2",
		typedParts: true,
		formerNames: true,
		exactApprovals: false,
		titles: "model",
		limits: {
			sessionTokens: 1_000_000,
			sessionSeconds: 3600,
			sessionToolCalls: 500,
			turnTokens: 100_000,
			turnSeconds: 0.5,
			turnToolCalls: null,
			warningRatio: 1,
			loadedSessions: 1024,
			runningTurns: 64,
			unloadAfter: 300,
			requestsInFlight: 256,
			outboxBytes: 262_144,
		},
		rewind: {
			enabled: true,
			maxFiles: 200_000,
			maxFileBytes: 67_108_864,
			maxStoreBytes: 1_073_741_824,
			maxTotalBytes: 10_737_418_240,
			maxDatabaseBytes: 67_108_864,
			turns: 100,
			patience: 2,
		},
		cassette: {
			file: "a.jsonl",
			mode: "replay-or-record",
			timeScale: 0.5,
			faults: ["429=1@2", "split"],
			replace: { "/srv/app": "<app>" },
		},
		caFile: "~/ca.pem",
		fetchAllow: ["wiki.corp", "*.example", "10.0.0.0/8", "::1"],
		unattended: "reject",
		contract: { major: 0, minor: 9, patch: 8 },
	},
	sandbox: {
		mode: "workspace-write",
		writable: ["~/builds", "/srv/cache"],
		hidden: ["~/notes"],
		readOnly: ["/srv/cache/keys"],
		network: "proxy",
		allowedDomains: ["registry.npmjs.org", "*.example.com", "10.0.0.0/8"],
		autoAllow: true,
		mcpServers: true,
		creators: false,
		environment: { pass: ["OPENAI_API_KEY"], set: { CI: "1" }, drop: ["AWS_*"] },
	},
};

describe("settings as text", () => {
	it("have the defaults for an empty table", async () => {
		expect(await readConfiguration({ kind: "text", text: "{}" }, files, silentLog)).toEqual({
			configuration: defaults,
			path: null,
		});
	});

	it("are read completely from TOML, with the same result from JSON", async () => {
		expect(await readText(fullToml)).toEqual(full);
		expect(await readText(JSON.stringify(parse(fullToml)))).toEqual(full);
	});

	it("have the settings of the scripted model as tests pass them", async () => {
		const text =
			'{"default_model":"m","models":{"m":{"provider":"p","model":"scripted_echo","max_context_size":100000}},' +
			'"providers":{"p":{"type":"_scripted_echo","base_url":"","api_key":"","env":{"KIMI_SCRIPTED_ECHO_SCRIPTS":"/s.json"}}}}';
		const { models, providers } = await readText(text);
		expect(models["m"]).toEqual({
			provider: "p",
			model: "scripted_echo",
			maxContextSize: 100000,
			capabilities: [],
			displayName: null,
			price: null,
		});
		expect(providers["p"]?.env).toEqual({ KIMI_SCRIPTED_ECHO_SCRIPTS: "/s.json" });
	});

	it("may have the old name of the step limit, which the new one overrides", async () => {
		expect((await readText('{"loop_control":{"max_steps_per_run":5}}')).loopControl.maxStepsPerTurn).toBe(5);
		expect(
			(await readText('{"loop_control":{"max_steps_per_run":5,"max_steps_per_turn":6}}')).loopControl.maxStepsPerTurn,
		).toBe(6);
		expect(await problemsOf({ loop_control: { max_steps_per_run: 0 } })).toEqual([
			{ key: "loop_control.max_steps_per_run", reason: "must be an integer of at least 1, found 0" },
		]);
	});

	it("may have capabilities as an object: the keys that are true", async () => {
		const settings = (capabilities: unknown) => ({
			models: { m: { provider: "p", model: "x", max_context_size: 1, capabilities } },
			providers: { p: { type: "kimi", base_url: "", api_key: "" } },
		});
		const read = await readText(
			JSON.stringify(settings({ thinking: true, image_in: false, video_in: true, smell: false })),
		);
		expect(read.models["m"]?.capabilities).toEqual(["video_in", "thinking"]);
		const problems = [
			{
				key: "models.m.capabilities",
				reason: 'has unknown names: "smell"; known are image_in, video_in, thinking, always_thinking',
			},
		];
		expect(await problemsOf(settings({ smell: true, thinking: true }))).toEqual(problems);
		expect(await problemsOf(settings(["thinking", "smell"]))).toEqual(problems);
		expect(await problemsOf(settings("thinking"))).toEqual([
			{ key: "models.m.capabilities", reason: "must be a list of capabilities, found a string" },
		]);
	});

	it("treat null as absent for optional keys", async () => {
		const provider = { type: "kimi", base_url: "", api_key: "", env: null, custom_headers: null, oauth: null };
		const read = await readText(JSON.stringify({ providers: { p: provider }, services: { moonshot_search: null } }));
		expect(read.providers["p"]).toEqual({
			type: "kimi",
			baseUrl: "",
			apiKey: "",
			env: {},
			customHeaders: {},
			reasoningKey: null,
			oauth: null,
		});
	});

	it("may have thirteen hook events", async () => {
		expect(hookEvents).toHaveLength(13);
		const hooks = hookEvents.map((event) => ({ event, command: "true" }));
		expect((await readText(JSON.stringify({ hooks }))).hooks.map(({ event }) => event)).toEqual(hookEvents);
	});

	it("are refused with both reasons when they are neither JSON nor TOML, without quotation", async () => {
		const error = await configurationFailure(readText('{"api_key":sk-secret-secret-secret'));
		expect(error).toMatchObject({
			category: "text",
			source: "--config",
			problems: [
				{ key: "", reason: expect.stringMatching(/^not JSON.*: \S/) },
				{ key: "", reason: expect.stringMatching(/^not TOML at line 1, column \d+: /) },
			],
		});
		expect(error.message).not.toContain("secret");
		expect((await configurationFailure(readText('{"a": 1,\n"b" 2}'))).problems[0]?.reason).toMatch(
			/^not JSON at line 2, column 5: \S/,
		);
		expect((await configurationFailure(readText('{"a":'))).problems[0]?.reason).toMatch(/^not JSON.*: \S/);
	});

	it("are refused when they are empty or no table", async () => {
		expect((await configurationFailure(readText(" \n"))).message).toBe(
			"Invalid configuration text (--config):\n  is empty",
		);
		expect((await configurationFailure(readText("[1]"))).problems).toEqual([
			{ key: "", reason: "must be a table, found a list" },
		]);
	});
});

describe("problems", () => {
	const model = { provider: "p", model: "x", max_context_size: 1 };
	const provider = { type: "kimi", base_url: "", api_key: "" };
	const withModel = (change: object) => ({ models: { m: { ...model, ...change } }, providers: { p: provider } });
	const withProvider = (change: object) => ({ providers: { p: { ...provider, ...change } } });
	const background = (key: string, value: unknown) => ({ background: { [key]: value } });
	const atLeast = (minimum: number, found: string) => `must be an integer of at least ${minimum}, found ${found}`;
	const types =
		'"kimi", "openai_legacy", "openai_responses", "anthropic", "google_genai", "gemini", "vertexai", "_echo", "_scripted_echo", "_chaos"';

	const cases: readonly [settings: unknown, key: string, reason: string][] = [
		[{ default_model: 1 }, "default_model", "must be a string, found a number"],
		[{ default_model: null }, "default_model", "must be a string, found null"],
		[{ default_model: "x" }, "default_model", 'names "x", which is not in models'],
		[{ permissions: { rules: [] } }, "permissions", "is not a settings key; rules are in `permission`"],
		[
			{ permission: { rule: [] } },
			"permission.rule",
			"is not a key of this table, which has rules, allow_read_only, forbid_modes",
		],
		[{ default_model: "toString", models: {} }, "default_model", 'names "toString", which is not in models'],
		[{ default_thinking: "yes" }, "default_thinking", "must be true or false, found a string"],
		[{ default_yolo: 1 }, "default_yolo", "must be true or false, found a number"],
		[{ skip_afk_prompt_injection: 0 }, "skip_afk_prompt_injection", "must be true or false, found a number"],
		[{ default_plan_mode: [] }, "default_plan_mode", "must be true or false, found a list"],
		[{ default_editor: true }, "default_editor", "must be a string, found a boolean"],
		[{ theme: "blue" }, "theme", 'must be one of "dark", "light", found "blue"'],
		[{ show_thinking_stream: {} }, "show_thinking_stream", "must be true or false, found a table"],
		[{ merge_all_available_skills: "" }, "merge_all_available_skills", "must be true or false, found a string"],
		[{ extra_skill_dirs: "a" }, "extra_skill_dirs", "must be a list of strings, found a string"],
		[{ extra_skill_dirs: ["a", 2] }, "extra_skill_dirs[1]", "must be a string, found a number"],
		[{ telemetry: "no" }, "telemetry", "must be true or false, found a string"],
		[{ models: [] }, "models", "must be a table, found a list"],
		[{ models: { m: 5 } }, "models.m", "must be a table, found a number"],
		[withModel({ provider: undefined }), "models.m.provider", "is required"],
		[withModel({ provider: "q" }), "models.m.provider", 'names "q", which is not in providers'],
		[withModel({ model: undefined }), "models.m.model", "is required"],
		[withModel({ max_context_size: undefined }), "models.m.max_context_size", "is required"],
		[withModel({ max_context_size: "big" }), "models.m.max_context_size", atLeast(1, "a string")],
		[withModel({ max_context_size: 1.5 }), "models.m.max_context_size", atLeast(1, "1.5")],
		[withModel({ max_context_size: 0 }), "models.m.max_context_size", atLeast(1, "0")],
		[withModel({ price: 5 }), "models.m.price", "must be a table, found a number"],
		[withModel({ price: { input: 1 } }), "models.m.price.output", "is required"],
		[
			withModel({ price: { input: -1, output: 1 } }),
			"models.m.price.input",
			"must be a number of at least 0, found -1",
		],
		[withModel({ display_name: 1 }), "models.m.display_name", "must be a string, found a number"],
		[{ providers: { "a b": {} } }, 'providers."a b".type', "is required"],
		[withProvider({ type: "kimmi" }), "providers.p.type", `must be one of ${types}, found "kimmi"`],
		[withProvider({ base_url: undefined }), "providers.p.base_url", "is required"],
		[withProvider({ api_key: 5 }), "providers.p.api_key", "must be a string, found a number"],
		[withProvider({ env: { A: 1 } }), "providers.p.env.A", "must be a string, found a number"],
		[withProvider({ env: ["A"] }), "providers.p.env", "must be a table, found a list"],
		[withProvider({ custom_headers: { H: {} } }), "providers.p.custom_headers.H", "must be a string, found a table"],
		[withProvider({ reasoning_key: 1 }), "providers.p.reasoning_key", "must be a string, found a number"],
		[withProvider({ oauth: {} }), "providers.p.oauth.key", "is required"],
		[
			withProvider({ oauth: { key: "k", storage: "disk" } }),
			"providers.p.oauth.storage",
			'must be one of "file", "keyring", found "disk"',
		],
		[{ loop_control: [] }, "loop_control", "must be a table, found a list"],
		[{ loop_control: { max_steps_per_turn: 0 } }, "loop_control.max_steps_per_turn", atLeast(1, "0")],
		[{ loop_control: { max_retries_per_step: 0 } }, "loop_control.max_retries_per_step", atLeast(1, "0")],
		[{ loop_control: { max_ralph_iterations: -2 } }, "loop_control.max_ralph_iterations", atLeast(-1, "-2")],
		[{ loop_control: { reserved_context_size: 999 } }, "loop_control.reserved_context_size", atLeast(1000, "999")],
		[
			{ loop_control: { compaction_trigger_ratio: 1 } },
			"loop_control.compaction_trigger_ratio",
			"must be a number from 0.5 to 0.99, found 1",
		],
		[background("max_running_tasks", 0), "background.max_running_tasks", atLeast(1, "0")],
		[background("read_max_bytes", 1023), "background.read_max_bytes", atLeast(1024, "1023")],
		[background("notification_tail_lines", 0), "background.notification_tail_lines", atLeast(1, "0")],
		[background("notification_tail_chars", 255), "background.notification_tail_chars", atLeast(256, "255")],
		[background("wait_poll_interval_ms", 49), "background.wait_poll_interval_ms", atLeast(50, "49")],
		[background("worker_heartbeat_interval_ms", 99), "background.worker_heartbeat_interval_ms", atLeast(100, "99")],
		[background("worker_stale_after_ms", 999), "background.worker_stale_after_ms", atLeast(1000, "999")],
		[background("kill_grace_period_ms", 99), "background.kill_grace_period_ms", atLeast(100, "99")],
		[background("keep_alive_on_exit", "y"), "background.keep_alive_on_exit", "must be true or false, found a string"],
		[background("agent_task_timeout_s", 59), "background.agent_task_timeout_s", atLeast(60, "59")],
		[background("print_wait_ceiling_s", 0), "background.print_wait_ceiling_s", atLeast(1, "0")],
		[{ notifications: { claim_stale_after_ms: 1 } }, "notifications.claim_stale_after_ms", atLeast(1000, "1")],
		[{ services: { moonshot_search: { api_key: "" } } }, "services.moonshot_search.base_url", "is required"],
		[{ services: { moonshot_fetch: { base_url: "" } } }, "services.moonshot_fetch.api_key", "is required"],
		[{ mcp: { client: { tool_call_timeout_ms: "1" } } }, "mcp.client.tool_call_timeout_ms", atLeast(1, "a string")],
		[{ hooks: {} }, "hooks", "must be a list of tables, found a table"],
		[{ hooks: [{ event: "Stop" }] }, "hooks[0].command", "is required"],
		[
			{ hooks: [{ event: "Stop", command: "x", timeout: 601 }] },
			"hooks[0].timeout",
			"must be an integer from 1 to 600, found 601",
		],
		[
			{ hooks: [{ event: "Stop", command: "x", fail_closed: 1 }] },
			"hooks[0].fail_closed",
			"must be true or false, found a number",
		],
		[{ agentwire: { sync: "always" } }, "agentwire.sync", 'must be one of "commit", "off", found "always"'],
		[{ agentwire: { contain: "on" } }, "agentwire.contain", 'must be one of "auto", "off", found "on"'],
		[{ sandbox: { mode: "on" } }, "sandbox.mode", 'must be one of "off", "workspace-write", "read-only", found "on"'],
		[{ sandbox: { network: true } }, "sandbox.network", 'must be one of "host", "none", "proxy", found a boolean'],
		[{ sandbox: { writable: ["builds"] } }, "sandbox.writable[0]", "must be absolute or begin with ~/"],
		[{ sandbox: { hidden: ["~other/x"] } }, "sandbox.hidden[0]", "must be absolute or begin with ~/"],
		[{ sandbox: { read_only: "x" } }, "sandbox.read_only", "must be a list of strings, found a string"],
		[
			{ sandbox: { allowed_domains: ["https://a.example"] } },
			"sandbox.allowed_domains[0]",
			"must be a host, an address, or a range such as 10.0.0.0/8",
		],
		[
			{ sandbox: { mod: "read-only" } },
			"sandbox.mod",
			"is not a key of this table, which has mode, writable, hidden, read_only, network, allowed_domains, auto_allow, mcp_servers, creators, env",
		],
		[
			{ sandbox: { env: { dorp: ["A"] } } },
			"sandbox.env.dorp",
			"is not a key of this table, which has pass, set, drop",
		],
		[{ sandbox: { env: { pass: ["A=B"] } } }, "sandbox.env.pass[0]", "must be the name of a variable"],
		[{ agentwire: { approval_timeout: -1 } }, "agentwire.approval_timeout", "must be a number of at least 0, found -1"],
		[
			{ agentwire: { question_timeout: "1" } },
			"agentwire.question_timeout",
			"must be a number of at least 0, found a string",
		],
		[
			{ agentwire: { client_tool_timeout: null } },
			"agentwire.client_tool_timeout",
			"must be a number of at least 0, found null",
		],
		[{ agentwire: { limits: 5 } }, "agentwire.limits", "must be a table, found a number"],
		[{ agentwire: { limits: { session_tokens: 0 } } }, "agentwire.limits.session_tokens", atLeast(1, "0")],
		[{ agentwire: { limits: { turn_tool_calls: 1.5 } } }, "agentwire.limits.turn_tool_calls", atLeast(1, "1.5")],
		[
			{ agentwire: { limits: { turn_seconds: 0 } } },
			"agentwire.limits.turn_seconds",
			"must be a number of at least 0.001, found 0",
		],
		[
			{ agentwire: { limits: { warning_ratio: 80 } } },
			"agentwire.limits.warning_ratio",
			"must be a number from 0 to 1, found 80",
		],
		[{ agentwire: { ca_file: "ca.pem" } }, "agentwire.ca_file", "must be absolute or begin with ~/"],
		[{ agentwire: { fetch_allow: "a" } }, "agentwire.fetch_allow", "must be a list of strings, found a string"],
		...["10.0.0.0/33", "::1/129", "10.0.0.0/", "10.0.0.0/8/8", "10.0", "http://a", "a/b", "a b", "*", "", "[::1]"].map(
			(entry): [settings: unknown, key: string, reason: string] => [
				{ agentwire: { fetch_allow: ["wiki.corp", entry] } },
				"agentwire.fetch_allow[1]",
				"must be a host, an address, or a range such as 10.0.0.0/8",
			],
		),
	];

	it.each(cases)("%j: %s", async (settings, key, reason) => {
		const problems = await problemsOf(settings);
		expect(problems).toContainEqual({ key, reason });
	});

	it("name unknown hook events", async () => {
		const [problem] = await problemsOf({ hooks: [{ event: "Nap", command: "x" }] });
		expect(problem).toMatchObject({ key: "hooks[0].event", reason: expect.stringMatching(/found "Nap"$/) });
	});

	it("are listed up to a limit", async () => {
		const models = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`m${index}`, 1]));
		const error = await configurationFailure(readText(JSON.stringify({ models })));
		const lines = error.message.split("\n");
		expect(lines).toHaveLength(52);
		expect(lines.at(-1)).toBe("  and 30 more");
	});

	it.each([
		["TOML", "theme = 1\n#".padEnd(300_000, "x"), "not read as TOML: it has more than 262144 characters"],
		["JSON", `{"theme":1}${" ".repeat(300_000)}`, "not read as JSON: it has more than 262144 characters"],
		["keys", `${"a.".repeat(120_000)}b = 1`, "not settings: they nest more than 100 levels deep"],
		[
			"lists",
			`{"hooks":${"[".repeat(120_000)}${"]".repeat(120_000)}}`,
			"not settings: they nest more than 100 levels deep",
		],
	])("are reported for text that is too long or too deep: %s", async (_name, text, reason) => {
		expect((await configurationFailure(readText(text))).message).toContain(reason);
		expect(await shortestPause(() => configurationFailure(readText(text)))).toBeLessThan(longestPause);
	});

	it("are listed all at once, inconsistencies between tables included", async () => {
		const text = 'default_model = "x"\ntheme = 1\n[models."a/b"]\nprovider = "q"\nmodel = "m"\n';
		const error = await configurationFailure(readText(text));
		expect(error.message).toBe(
			[
				"Invalid configuration text (--config):",
				'  theme: must be one of "dark", "light", found a number',
				'  models."a/b".max_context_size: is required',
				'  default_model: names "x", which is not in models',
				'  models."a/b".provider: names "q", which is not in providers',
			].join("\n"),
		);
	});
});

describe("a settings file", () => {
	const readFileAt = (name: string) =>
		readConfiguration({ kind: "file", path: path.join(folder, name) }, files, silentLog);

	it("is JSON or TOML according to its extension", async () => {
		await writeFile(path.join(folder, "a.JSON"), '\ufeff{"theme":"light"}');
		await writeFile(path.join(folder, "b.conf"), 'theme = "light"\n');
		const light = { ...defaults, theme: "light" };
		expect(await readFileAt("a.JSON")).toEqual({ configuration: light, path: path.join(folder, "a.JSON") });
		expect(await readFileAt("b.conf")).toEqual({ configuration: light, path: path.join(folder, "b.conf") });
	});

	it("that is invalid is named", async () => {
		await writeFile(path.join(folder, "a.json"), "theme = 1");
		await writeFile(path.join(folder, "b.toml"), 'a = 1\napi_key = sk-secret"');
		await writeFile(path.join(folder, "c.toml"), "theme = 1");
		const json = await configurationFailure(readFileAt("a.json"));
		const toml = await configurationFailure(readFileAt("b.toml"));
		const schema = await configurationFailure(readFileAt("c.toml"));
		expect([json.category, toml.category, schema.category]).toEqual(["syntax", "syntax", "schema"]);
		expect(json.message).toContain(`Invalid JSON in configuration file ${folder}/a.json:\n  not JSON`);
		expect(toml.message).toContain(`Invalid TOML in configuration file ${folder}/b.toml:\n  not TOML at line 2`);
		expect(toml.message).not.toContain("secret");
		expect(schema.message).toContain(`Invalid configuration file ${folder}/c.toml:\n  theme: must`);
	});

	it("must exist and be a file", async () => {
		await mkdir(path.join(folder, "d.toml"));
		expect(await configurationFailure(readFileAt("none.toml"))).toMatchObject({
			category: "unreadable",
			problems: [{ key: "", reason: "there is no such file" }],
		});
		expect((await configurationFailure(readFileAt("d.toml"))).category).toBe("unreadable");
	});
});

describe("the store", () => {
	const url = "postgresql://me@db/agentwire";

	it("refuses the address of a database that nothing would use", async () => {
		expect(await problemsOf({ store: { url } })).toEqual([
			{
				key: "store.url",
				reason:
					'is not used without a type: add type = "postgres" to store sessions in this database, or type = "disk" to leave them where they are',
			},
		]);
	});

	it.each<[object, string]>([
		[{ store: { type: "postgres", url } }, "postgres"],
		[{ store: { type: "disk", url } }, "disk"],
		[{ store: { url: "" } }, "disk"],
		[{ store: { password_file: "/run/secret" } }, "disk"],
		[{}, "disk"],
	])("of %j is that of its type", async (settings, type) => {
		expect((await readText(JSON.stringify(settings))).store.type).toBe(type);
	});
});

describe("the default file", () => {
	const readDefault = (log: Log = silentLog) =>
		readConfiguration({ kind: "default", shareDir: path.join(folder, "share") }, files, log);
	const shared = (name: string) => path.join(folder, "share", name);

	it("is created with all defaults, the default model and thinking as top-level lines", async () => {
		expect(await readDefault()).toEqual({ configuration: defaults, path: shared("config.toml") });
		const text = await readFile(shared("config.toml"), "utf8");
		expect(text.startsWith('default_model = ""\ndefault_thinking = false\n')).toBe(true);
		expect(text).not.toContain("agentwire");
		expect(text).toContain("\n[mcp.client]\ntool_call_timeout_ms = 60000\n");
		expect(await readConfiguration({ kind: "text", text }, files, silentLog)).toEqual({
			configuration: defaults,
			path: null,
		});
		expect(await readDefault()).toEqual({ configuration: defaults, path: shared("config.toml") });
	});

	it("is read when it exists, and config.json is left alone", async () => {
		await mkdir(shared(""));
		await writeFile(shared("config.toml"), 'theme = "light"');
		await writeFile(shared("config.json"), "{}");
		expect((await readDefault()).configuration.theme).toBe("light");
		expect((await readdir(shared(""))).sort()).toEqual(["config.json", "config.toml"]);
	});

	it("is converted from an old config.json, which is renamed to config.json.bak", async () => {
		await mkdir(shared(""));
		const old = JSON.stringify(parse(fullToml));
		await writeFile(shared("config.json"), old);
		expect((await readDefault()).configuration).toEqual(full);
		expect((await readdir(shared(""))).sort()).toEqual(["config.json.bak", "config.toml"]);
		expect(await readFile(shared("config.json.bak"), "utf8")).toBe(old);
		expect((await stat(shared("config.toml"))).mode & 0o777).toBe(0o600);
		expect((await readDefault()).configuration).toEqual(full);
	});

	it("is not converted from an invalid old config.json", async () => {
		await mkdir(shared(""));
		await writeFile(shared("config.json"), '{"theme":1}');
		expect(await configurationFailure(readDefault())).toMatchObject({
			category: "schema",
			source: shared("config.json"),
		});
		expect(await readdir(shared(""))).toEqual(["config.json"]);
	});

	it("is optional when it cannot be created: the defaults hold, and a line is logged", async () => {
		await writeFile(path.join(folder, "share"), "a file where the directory should be");
		const warnings: unknown[] = [];
		const log: Log = { ...silentLog, warn: (message, fields) => warnings.push([message, fields]) };
		expect((await readDefault(log)).configuration).toEqual(defaults);
		expect(warnings).toEqual([["The settings file could not be created", { reason: expect.any(String) }]]);
	});
});
