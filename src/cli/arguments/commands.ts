// command-line.ts handles the program without a command; help.ts prints this table.

import type { Flag, Offers } from "./flags.ts";
import { findFirstWord } from "./given-flags.ts";
import { type ChatFlags, chatFlags, splitChatFlags } from "./options/chat-options.ts";
import { type CodexAction, codexFlags, codexUsage, toCodexAction } from "./options/codex-options.ts";
import {
	type ConformanceCall,
	conformanceDialects,
	suiteNames,
	toConformanceCall,
} from "./options/conformance-options.ts";
import { type ExportOptions, toExportOptions, toReplaySubject } from "./options/export-options.ts";
import { type FakeCall, toFakeCall, transcriptDialects } from "./options/fake-options.ts";
import { type GatewayFlags, gatewayFlags, pageFlags, splitGatewayFlags } from "./options/gateway-options.ts";
import { type McpAction, toMcpAction } from "./options/mcp-options.ts";
import { type PermissionsAction, toPermissionsAction } from "./options/permissions-options.ts";
import { type PluginAction, toPluginAction } from "./options/plugin-options.ts";
import { type SessionsAction, toSessionsAction } from "./options/sessions-options.ts";
import { type StoreAction, toStoreAction } from "./options/store-options.ts";
import { splitWorkerFlags, type WorkerFlags, workerFlags } from "./options/worker-options.ts";
import { type ClaudeFlags, parseClaudeFlags } from "./sdk/claude-options.ts";
import { UsageError } from "./usage-error.ts";

export type CommandCall =
	| { readonly kind: "info"; readonly json: boolean }
	| { readonly kind: "setup" }
	| { readonly kind: "completion"; readonly shell: Shell | null }
	| { readonly kind: "export"; readonly options: ExportOptions }
	| { readonly kind: "replay"; readonly subject: string }
	| { readonly kind: "doctor"; readonly json: boolean; readonly words: readonly string[] }
	/** Null lists all pages. */
	| { readonly kind: "docs"; readonly page: string | null }
	| { readonly kind: "sessions"; readonly action: SessionsAction }
	| { readonly kind: "store"; readonly action: StoreAction }
	| { readonly kind: "plugin"; readonly action: PluginAction }
	| { readonly kind: "mcp"; readonly action: McpAction }
	| { readonly kind: "permissions"; readonly action: PermissionsAction }
	| { readonly kind: "conformance"; readonly call: ConformanceCall }
	| { readonly kind: "fake"; readonly call: FakeCall }
	| { readonly kind: "codex"; readonly action: CodexAction }
	| { readonly kind: "login" | "logout"; readonly json: boolean }
	| { readonly kind: "record"; readonly typed: readonly string[] }
	/** The program flags after the command name. */
	| { readonly kind: "rpc" | "acp" | "stdio"; readonly words: readonly string[] }
	| { readonly kind: "claude"; readonly words: readonly string[]; readonly flags: ClaudeFlags }
	| { readonly kind: "gateway"; readonly words: readonly string[]; readonly flags: GatewayFlags }
	| { readonly kind: "chat"; readonly words: readonly string[]; readonly flags: ChatFlags }
	| { readonly kind: "worker"; readonly words: readonly string[]; readonly flags: WorkerFlags };

export interface Form {
	readonly words: string;
	readonly about?: string;
	readonly offers?: Offers;
}

export type CommandFlag = Omit<Flag, "key" | "exists">;

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

export interface Command {
	readonly about: string;
	readonly purpose: string;
	readonly forms: readonly Form[];
	readonly flags: readonly CommandFlag[];
	parse(words: readonly string[]): CommandCall | null;
}

export const commandNames = [
	"setup",
	"info",
	"doctor",
	"docs",
	"export",
	"replay",
	"sessions",
	"store",
	"plugin",
	"mcp",
	"permissions",
	"fake",
	"conformance",
	"login",
	"logout",
	"record",
	"rpc",
	"acp",
	"codex",
	"claude",
	"serve",
	"web",
	"chat",
	"worker",
] as const;
export type CommandName = (typeof commandNames)[number];

const eventLines = { names: ["--json"], value: null, about: "One line of JSON per event." } as const;

const stdioFlag = "--stdio";

export const commands: Readonly<Record<CommandName, Command>> = {
	setup: {
		about: "Choose a provider and a model, on a terminal.",
		purpose: `Ask for a provider, its API key and a model, and write them to config.toml. The key is tested by listing
the provider's models. Only you can read the file.`,
		forms: [{ words: "" }],
		flags: [],
		parse(words) {
			if (asksForHelp(words)) return null;
			const [word] = words;
			if (word !== undefined) throw new UsageError(`The command 'setup' takes no arguments, found '${word}'.`);
			return { kind: "setup" };
		},
	},
	info: {
		about: "Show versions; 'info --json' for programs.",
		purpose: `Show the versions of program, agent files and protocol, or print a shell completion script.
For bash and zsh: eval "$(… info --show-completion bash)"; for fish: … info --show-completion fish | source`,
		forms: [{ words: "[--json]" }, { words: "--show-completion [SHELL]" }],
		flags: [
			{ names: ["--json"], value: null, about: "One line of JSON." },
			{
				names: ["--show-completion"],
				value: "SHELL",
				valueIsOptional: true,
				offers: shells,
				about: "Completion script for bash, zsh or fish. Default: the shell in $SHELL.",
			},
		],
		parse: (words) => (asksForHelp(words) ? null : toInfoCall(words)),
	},
	doctor: {
		about: "Check the setup of this machine.",
		purpose: `Check Node, settings, MCP servers, rules, model, sandbox, ripgrep, the session directory and its permissions,
and say how to fix problems. No prompt is sent and nothing is changed. The exit code is 1 when the program cannot work.
Takes the flags of a run, such as --config-file, --model and --work-dir, and checks what that run would use.`,
		forms: [{ words: "[--json] [flags]" }],
		flags: [{ names: ["--json"], value: null, about: "One line of JSON." }],
		parse: (words) =>
			asksForHelp(words)
				? null
				: { kind: "doctor", json: words.includes("--json"), words: words.filter((word) => word !== "--json") },
	},
	docs: {
		about: "Show the documentation.",
		purpose: `Show a page of the documentation as Markdown. Without a name, list the pages.`,
		forms: [{ words: "[PAGE]" }],
		flags: [],
		parse: (words) => (asksForHelp(words) ? null : toDocsCall(words)),
	},
	export: {
		about: "Put a session into a ZIP file.",
		purpose: `Put a session into a ZIP file: its conversation, events and subagents, its plan, and the program's logs.
Without an id, exports the last session of the current directory. The session is not changed.
With --replayable, writes the events of the session for 'replay' or a bug report, with keys and tokens replaced.`,
		forms: [{ words: "[SESSION_ID] [--replayable] [--output PATH] [--yes]" }],
		flags: [
			{ names: ["--replayable"], value: null, about: "Write a file for 'replay' instead of a ZIP file." },
			{
				names: ["--output", "-o"],
				value: "PATH",
				offers: "files",
				about: "File or directory to write to. Default: session-<id>.zip or .jsonl here.",
			},
			{ names: ["--yes", "-y"], value: null, about: "Do not ask for confirmation; the file may contain secrets." },
		],
		parse(words) {
			const options = toExportOptions(words);
			return options === null ? null : { kind: "export", options };
		},
	},
	replay: {
		about: "Run a stored session again and compare what happens.",
		purpose: `Run a session again with its recorded answers, tool results and decisions, and compare the outcome with the recording.
Nothing is run, read, written or requested. Takes a session id or a file from 'export --replayable'.
The exit code is 0 when everything is the same, 1 when something differs, and 2 when the session cannot be replayed.`,
		forms: [{ words: "SESSION_ID|FILE", offers: "files" }],
		flags: [],
		parse(words) {
			const subject = toReplaySubject(words);
			return subject === null ? null : { kind: "replay", subject };
		},
	},
	sessions: {
		about: "List, show, export, fork and delete stored sessions.",
		purpose: `Show and manage the stored sessions of all directories. Sessions of kimi-code, in ~/.kimi-code or
$KIMI_CODE_HOME, can be listed and shown but are never changed. Ids work with and without the prefix "session_".`,
		forms: [
			{ words: "list [--work-dir DIR] [--json]", about: "List sessions, most recently used first." },
			{ words: "show ID [--json]", about: "Show a session and its conversation." },
			{
				words: "export [ID] [--replayable] [--output PATH] [--yes]",
				about: "Put a session into a ZIP file, as 'export' does.",
			},
			{
				words: "fork ID [--before TURN] [--files] [--into DIR] [--worktree] [--json]",
				about: "Continue a copy of a session, in the same directory or in a copy of its files.",
			},
			{ words: "delete ID [--yes] [--json]", about: "Delete a session with all its files; asks on a terminal." },
		],
		flags: [
			{ names: ["--json"], value: null, about: "One line of JSON." },
			{
				names: ["--work-dir", "-w"],
				value: "DIR",
				offers: "directories",
				about: "Only the sessions of this directory.",
			},
			{ names: ["--output", "-o"], value: "PATH", offers: "files", about: "Where to write the file." },
			{
				names: ["--before"],
				value: "TURN",
				about: "End the copy before this turn: its number in /rewind, or its id.",
			},
			{
				names: ["--files"],
				value: null,
				about: "Copy the files too, as they were then, to a new directory beside the session's.",
			},
			{
				names: ["--into"],
				value: "DIR",
				offers: "directories",
				about: "Copy the files to this directory, which must be new or empty.",
			},
			{
				names: ["--worktree"],
				value: null,
				about: "Make the new directory a git worktree, which writes to the repository's .git.",
			},
			{ names: ["--yes", "-y"], value: null, about: "Do not ask." },
		],
		parse(words) {
			const action = toSessionsAction(words);
			return action === null ? null : { kind: "sessions", action };
		},
	},
	store: {
		about: "Migrate, check, copy and clean up the session store.",
		purpose: `Manage the session store set by [store] in config.toml or AGENTWIRE_STORE_URL: the disk, or a PostgreSQL database.
Sessions that another process has open are skipped.`,
		forms: [
			{ words: "migrate [--json]", about: "Migrate the database tables to this program's version." },
			{ words: "check [--json]", about: "Look for problems; show processes and sizes. Changes nothing." },
			{
				words: "copy --from disk --to postgres [--session ID] [--json]",
				about: "Copy sessions and compare the copies; or --from postgres --to disk.",
			},
			{ words: "archive --older-than 30d [--json]", about: "Archive sessions that have not changed since." },
			{
				words: "delete --older-than 90d [--archived] [--json]",
				about: "Delete sessions that have not changed since; with --archived, those archived before then.",
			},
		],
		flags: [
			{ names: ["--json"], value: null, about: "One line of JSON per action." },
			{ names: ["--from"], value: "STORE", offers: ["disk", "postgres"], about: "The store to copy from." },
			{ names: ["--to"], value: "STORE", offers: ["disk", "postgres"], about: "The store to copy to." },
			{ names: ["--session"], value: "ID", about: "Only this session." },
			{ names: ["--older-than"], value: "AGE", about: "A number with m, h, d or w: minutes, hours, days, weeks." },
			{ names: ["--archived"], value: null, about: "Only sessions archived that long ago." },
		],
		parse(words) {
			const action = toStoreAction(words);
			return action === null ? null : { kind: "store", action };
		},
	},
	plugin: {
		about: "Install, list, show and remove plugins.",
		purpose: "Manage plugins, which provide tools.",
		forms: [
			{
				words: "install SOURCE",
				offers: "files",
				about: "Install from a directory, a zip file or a git URL, replacing an earlier version.",
			},
			{ words: "list", about: "Show the installed plugins." },
			{ words: "remove NAME", about: "Remove a plugin with all its files." },
			{ words: "info NAME", about: "Show a plugin and its tools." },
		],
		flags: [],
		parse(words) {
			const action = toPluginAction(words);
			return action === null ? null : { kind: "plugin", action };
		},
	},
	mcp: {
		about: "Add, remove, list and try out MCP servers; sign in to them.",
		purpose: "Manage the MCP servers of mcp.json in the share directory, which provide tools.",
		forms: [
			{ words: "add NAME [--env KEY=VALUE]... -- COMMAND [ARG...]", about: "Add a program as a server." },
			{
				words: "add --transport http NAME URL [--header KEY:VALUE]... [--auth oauth]",
				about: "Add a server on the network.",
			},
			{ words: "list", about: "Show the servers." },
			{ words: "remove NAME", about: "Remove a server." },
			{ words: "auth NAME", about: "Sign in to a server that was added with --auth oauth." },
			{ words: "reset-auth NAME", about: "Sign out of a server." },
			{ words: "test NAME", about: "Connect to a server and show its tools." },
		],
		flags: [
			{
				names: ["--transport", "-t"],
				value: "TYPE",
				offers: ["stdio", "http"],
				about: "stdio, for a program (default), or http.",
			},
			{ names: ["--env", "-e"], value: "KEY=VALUE", about: "Environment variable for the program; may be repeated." },
			{ names: ["--header", "-H"], value: "KEY:VALUE", about: "Header for each request; may be repeated." },
			{
				names: ["--auth", "-a"],
				value: "TYPE",
				offers: ["oauth"],
				about: "oauth: sign in in the browser, with 'mcp auth'.",
			},
		],
		parse(words) {
			const action = toMcpAction(words);
			return action === null ? null : { kind: "mcp", action };
		},
	},
	permissions: {
		about: "Show what the permission rules decide; trust a project's rules.",
		purpose: `Show what the permission rules of this machine, your settings and the project decide in the current directory.
The exit code of check and explain is the decision: 0 allow, 1 ask, 2 deny.`,
		forms: [
			{ words: "check COMMAND", about: "Show the decision for a command line, and the rule behind it." },
			{ words: "explain COMMAND", about: "The same, with everything the command line would run." },
			{ words: "list", about: "Show the rules with their file and line." },
			{ words: "trust", about: "Trust the project's permissions.toml as it is now, so that its allow rules apply." },
			{
				words: "import FILE",
				offers: "files",
				about: "Add the permissions of a Claude Code settings file to config.toml.",
			},
		],
		flags: [],
		parse(words) {
			const action = toPermissionsAction(words);
			return action === null ? null : { kind: "permissions", action };
		},
	},
	codex: {
		about: "Serve programs built on the Codex SDK.",
		purpose: `Run what the Codex SDK starts, with any model: point the SDK's codexPathOverride at a link named 'codex' or
'agentwire-codex' to this program. See 'docs guides/codex-sdk'.`,
		forms: [
			{ words: `exec ${codexUsage} [PROMPT]`, about: "Run one turn; without PROMPT, the one on stdin." },
			{ words: "exec [flags] resume THREAD|--last [PROMPT]", about: "Continue a thread." },
			{
				words: "app-server [--config KEY=VALUE]... [--listen ADDRESS]",
				about: "Serve threads over stdin and stdout, one JSON message per line.",
			},
			{ words: "--version", about: "The version of the protocol." },
		],
		flags: codexFlags,
		parse(words) {
			const action = toCodexAction(words);
			return action === null ? null : { kind: "codex", action };
		},
	},
	fake: {
		about: "Play a server from a transcript, for tests of a client.",
		purpose: `Speak the server's lines of a transcript on stdin and stdout, and wait where it waits for the client. Uses no model or tools.
With --strict, the client must send what the transcript says: the first difference is printed on stderr, and the exit code is 1.
See 'docs guides/test-your-integration'.`,
		forms: [{ words: "--transcript FILE --dialect DIALECT [--conversation N] [--strict]" }],
		flags: [
			{ names: ["--transcript"], value: "FILE", offers: "files", about: "The transcript to play." },
			{ names: ["--dialect"], value: "DIALECT", offers: transcriptDialects, about: "The protocol it is written in." },
			{ names: ["--conversation"], value: "N", about: "Which of its conversations, from 1 (default)." },
			{ names: ["--strict"], value: null, about: "Fail when the client sends something else." },
		],
		parse(words) {
			const call = toFakeCall(words);
			return call === null ? null : { kind: "fake", call };
		},
	},
	conformance: {
		about: "Check whether a server speaks a protocol.",
		purpose: `Start a server for each scenario, talk to it as a client would, and compare what it says. Only what the protocol fixes is
compared. In COMMAND, {session} is the id of a session, {config} a settings file, {model-url} the address of the scripted model
(also in $OPENAI_BASE_URL), {work} the work directory, {approval} "allow" or "ask". See 'docs reference/conformance'.`,
		forms: [
			{
				words:
					'--dialect DIALECT --command "COMMAND" [--suite SUITE] [--only NAME] [--expected-failures FILE] [--json] [--junit FILE]',
			},
		],
		flags: [
			{ names: ["--dialect"], value: "DIALECT", offers: conformanceDialects, about: "The protocol." },
			{ names: ["--command"], value: "COMMAND", about: "Starts the server; a line for a shell." },
			{
				names: ["--suite"],
				value: "SUITE",
				offers: suiteNames,
				about: "Only this suite, or several with commas. Default: all.",
			},
			{ names: ["--only"], value: "NAME", about: "Only scenarios whose name contains this." },
			{
				names: ["--expected-failures"],
				value: "FILE",
				offers: "files",
				about: "Names of scenarios expected to fail, one per line. The run fails if one passes.",
			},
			{ names: ["--json"], value: null, about: "One line of JSON at the end." },
			{ names: ["--junit"], value: "FILE", offers: "files", about: "Also write a JUnit report." },
		],
		parse(words) {
			const call = toConformanceCall(words);
			return call === null ? null : { kind: "conformance", call };
		},
	},
	login: {
		about: "Sign in to the Kimi platform.",
		purpose: `Sign in to the Kimi platform: shows an address to open in a browser and waits for the confirmation there.
Its provider and models are then written to config.toml.`,
		forms: [{ words: "[--json]" }],
		flags: [eventLines],
		parse: (words) => (asksForHelp(words) ? null : { kind: "login", json: asksForJson("login", words) }),
	},
	logout: {
		about: "Sign out of the Kimi platform.",
		purpose:
			"Sign out of the Kimi platform: removes its tokens from this machine, and its provider and models from config.toml.",
		forms: [{ words: "[--json]" }],
		flags: [eventLines],
		parse: (words) => (asksForHelp(words) ? null : { kind: "logout", json: asksForJson("logout", words) }),
	},
	record: {
		about: "Record the model requests of a command, and replay them in its tests.",
		purpose: `Run a command with its model requests sent to a loopback server, which records them and their answers in a file, or
replays the answers from it. Keys are not recorded. See 'docs guides/test-your-integration'.`,
		forms: [
			{
				words:
					"[--cassette FILE] [--mode MODE] [--time-scale N] [--fault FAULT]... [--replace TEXT=NAME]... -- COMMAND [ARG...]",
			},
		],
		flags: [
			{
				names: ["--cassette"],
				value: "FILE",
				offers: "files",
				about: "The file with the recordings. Default: cassette.jsonl.",
			},
			{
				names: ["--mode"],
				value: "MODE",
				offers: ["record", "replay", "replay-or-record", "passthrough"],
				about:
					"record: start a new file (default); replay: contact no provider; replay-or-record: add what is missing; passthrough: only forward.",
			},
			{
				names: ["--time-scale"],
				value: "N",
				about: "Multiply the recorded times; 0 replays answers at once. Default: 1.",
			},
			{
				names: ["--fault"],
				value: "FAULT",
				about:
					"Answer with a fault: cut or stall, with =BYTES; 429 or 5xx, with =SECONDS to wait; split, within characters. With @N only request N. May be repeated.",
			},
			{
				names: ["--replace"],
				value: "TEXT=NAME",
				about: "Record NAME for a text that differs from run to run. May be repeated.",
			},
		],
		parse(words) {
			const end = words.indexOf("--");
			return asksForHelp(end === -1 ? words : words.slice(0, end)) ? null : { kind: "record", typed: words };
		},
	},
	rpc: {
		about: "Serve many sessions at once, in Meerkat RPC.",
		purpose: `Serve Meerkat RPC on stdin and stdout, one JSON message per line: a client can have many sessions.
Also accepts the global flags that are not session-specific.`,
		forms: [{ words: "[flags]" }],
		flags: [],
		parse: (words) => (asksForHelp(words) ? null : { kind: "rpc", words }),
	},
	acp: {
		about: "Serve an editor, in the Agent Client Protocol.",
		purpose: `Serve the Agent Client Protocol on stdin and stdout, one JSON message per line: an editor can have many sessions.
Also accepts the global flags that are not session-specific. 'acp login' signs in as 'login' does.`,
		forms: [{ words: "[flags]" }, { words: "login [--json]", about: "Sign in, as editors request it." }],
		flags: [],
		parse(words) {
			if (asksForHelp(words)) return null;
			const [action, ...rest] = words;
			// Editors append the terminal sign-in arguments to the command they start.
			return action === "login" ? commands.login.parse(rest) : { kind: "acp", words };
		},
	},
	claude: {
		about: "Serve a program that uses the Claude SDK.",
		purpose: `Serve a program written for the Claude SDK, in stream-json on stdin and stdout, with any model. The SDK starts it with
the flags of the program that it replaces; see 'agentwire docs guides/claude-sdk'.`,
		forms: [
			{ words: "--input-format stream-json --output-format stream-json [flags]" },
			{ words: "-p PROMPT [--output-format text|json|stream-json] [flags]", about: "Run one prompt." },
			{ words: "-v", about: "Print the version that SDKs check." },
		],
		flags: [],
		parse: (words) => (asksForHelp(words) ? null : { kind: "claude", words: [], flags: parseClaudeFlags(words) }),
	},
	serve: {
		about: "Serve several clients over HTTP.",
		purpose: `Serve the sessions of all directories over HTTP, to several clients at once: requests by POST, events as server-sent
events. Clients need a token from gateway.json in the share directory. With --stdio, serve the parent process over stdin
and stdout instead, as the client library does. Also accepts the global flags that are not session-specific.`,
		forms: [
			{ words: "--stdio [flags]" },
			{
				words:
					"[--port N] [--host ADDRESS] [--allow-remote] [--allow-host NAME]... [--tls-cert FILE --tls-key FILE] [--new-token] [--notify CMD] [--json] [flags]",
			},
		],
		flags: [
			{ names: ["--stdio"], value: null, about: "Serve over stdin and stdout instead of HTTP." },
			...gatewayFlags,
		],
		parse(words) {
			if (asksForHelp(words)) return null;
			if (words.includes(stdioFlag)) return { kind: "stdio", words: words.filter((word) => word !== stdioFlag) };
			const { gateway, others } = splitGatewayFlags(words, false);
			return { kind: "gateway", words: others, flags: gateway };
		},
	},
	web: {
		about: "Open the web page of your sessions.",
		purpose: `Serve the sessions of all directories as 'serve' does, with a web page for them, print its address and open it in the
browser. The address contains the token, after the '#': share it only with people who may run commands here. If a page is
already being served and no other flags are given, that page is opened.`,
		forms: [
			{
				words:
					"[--status] [--port N] [--host ADDRESS] [--no-open] [--qr] [--allow-remote] [--allow-host NAME]... [--tls-cert FILE --tls-key FILE] [--new-token] [--notify CMD] [--json] [flags]",
			},
		],
		flags: pageFlags,
		parse(words) {
			if (asksForHelp(words)) return null;
			const { gateway, others } = splitGatewayFlags(words, true);
			return { kind: "gateway", words: others, flags: gateway };
		},
	},
	chat: {
		about: "Chat in the terminal.",
		purpose: `Chat with the agent in the terminal: answers as they come, tool calls to approve, plans, sessions to resume. This is also
what the program does on a terminal without a command. Also accepts the global flags that are not session-specific.`,
		forms: [{ words: "[--plain] [--session ID | --continue] [flags]" }],
		flags: chatFlags,
		parse(words) {
			if (asksForHelp(words)) return null;
			const { chat, others } = splitChatFlags(words);
			return { kind: "chat", words: others, flags: chat };
		},
	},
	worker: {
		about: "Run sessions stored in PostgreSQL for gateways.",
		purpose: `Run the sessions of gateways that use the same PostgreSQL store; start as many workers as you need. On SIGTERM,
it ends once its turns are over or the --drain time is up; a second signal ends it at once.
Also accepts the global flags that are not session-specific.`,
		forms: [
			{
				words:
					"[--listen HOST:PORT] [--announce HOST:PORT] [--tls-cert FILE --tls-key FILE] [--allow-unencrypted] [--operations HOST:PORT] [--tag TAG]... [--sessions N] [--drain SECONDS] [--prepare CMD] [--json] [flags]",
			},
		],
		flags: workerFlags,
		parse(words) {
			if (asksForHelp(words)) return null;
			const { worker, others } = splitWorkerFlags(words);
			return { kind: "worker", words: others, flags: worker };
		},
	},
};

export const isCommandName = (word: string): word is CommandName => commandNames.some((name) => name === word);

/** The command whose help explains a rejected command line; null means the program help. */
export function toHelpfulCommand(words: readonly string[]): CommandName | null {
	const word = words[findFirstWord(words)];
	if (word === undefined || !isCommandName(word)) return null;
	const { flags, forms } = commands[word];
	// 'rpc' and 'acp' only take program flags.
	return flags.length === 0 && forms[0]?.words === "[flags]" ? null : word;
}

const asksForHelp = (words: readonly string[]) => words.includes("--help") || words.includes("-h");

function asksForJson(command: CommandName, words: readonly string[]): boolean {
	const other = words.find((word) => word !== "--json");
	if (other === undefined) return words.length > 0;
	const taken = commands[command].flags.flatMap(({ names }) => names);
	throw new UsageError(`The command '${command}' does not know '${other}'; it takes ${taken.join(" and ")}.`);
}

function toDocsCall(words: readonly string[]): CommandCall {
	const [page, other] = words;
	if (page?.startsWith("-")) throw new UsageError(`The command 'docs' does not know '${page}'; it takes a page.`);
	if (other !== undefined) throw new UsageError(`'docs' takes one page, found '${other}' too.`);
	return { kind: "docs", page: page ?? null };
}

function toInfoCall(words: readonly string[]): CommandCall {
	const [first, ...rest] = words.flatMap((word) => {
		const [, shell] = /^--show-completion=(.*)$/s.exec(word) ?? [];
		return shell === undefined ? [word] : ["--show-completion", shell];
	});
	const asksForBoth = words.includes("--json") && (first === "--show-completion" || rest.includes("--show-completion"));
	if (asksForBoth) throw new UsageError("Cannot combine --json and --show-completion.");
	if (first !== "--show-completion") return { kind: "info", json: asksForJson("info", words) };
	const [named, other] = rest;
	if (other !== undefined) throw new UsageError(`--show-completion takes one SHELL, found '${other}' too.`);
	const shell = shells.find((name) => name === named);
	if (named === undefined || shell !== undefined) return { kind: "completion", shell: shell ?? null };
	throw new UsageError(`--show-completion does not know the shell '${named}'; it takes ${shells.join(", ")}.`);
}
