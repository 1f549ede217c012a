// The import table of the source tree: the one place where it is written down.
// `base` and the schema library are open to all; `types` names folders of which only types may be imported.

export interface FolderRule {
	readonly folder: string;
	readonly floor: number | "side";
	readonly owns: string;
	readonly mayImport: readonly string[] | "anything";
	readonly types?: readonly string[];
	/**
	 * Its sub-folders, and of which others each may import more than types; what lies in the folder itself is open to all
	 * of them, and free. A sub-folder that is not listed is a part of its parent.
	 */
	readonly rooms?: Readonly<Record<string, readonly string[]>>;
}

export const importTable: readonly FolderRule[] = [
	{ folder: "base", floor: 0, owns: "errors, ids, clock, queue, line framing, the logging port", mayImport: [] },
	{ folder: "rpc", floor: 1, owns: "JSON-RPC 2.0: envelope, connection, pending calls", mayImport: [] },
	{ folder: "events", floor: 1, owns: "content values, events, commands, interactions", mayImport: [] },
	{
		folder: "patterns",
		floor: 1,
		owns: "regular expressions, globs and JSON Schemas from outside, run in bounded time",
		mayImport: [],
	},
	{ folder: "processes", floor: 1, owns: "child processes in groups, ended as groups; threads", mayImport: [] },
	{
		folder: "files",
		floor: 1,
		owns: "the file port: atomic replace, append with sync, locks; which files are private, which hold secrets",
		mayImport: [],
	},
	{
		folder: "network",
		floor: 1,
		owns: "requests over HTTP: proxies, certificates, allowed addresses",
		mayImport: [],
		rooms: { exchanges: [], proxies: [], connections: ["proxies"] },
	},
	{
		folder: "messages",
		floor: 2,
		owns: "Kimi's {type, payload} vocabulary, to and from events",
		mayImport: ["events"],
	},
	{ folder: "transports", floor: 2, owns: "stdio and memory, with a bounded outbox", mayImport: ["rpc"] },
	{ folder: "models", floor: 2, owns: "the model contract and its providers", mayImport: ["events", "network"] },
	{
		folder: "tools",
		floor: 2,
		owns: "the tool contract and the built-in tools",
		mayImport: ["events", "patterns", "processes", "files", "network"],
		rooms: { files: [], search: [], tasks: [], web: [] },
	},
	{
		folder: "permissions",
		floor: 2,
		owns: "policies over what tool calls want to do, and their verdict; what a shell script would run",
		mayImport: ["events", "files", "network", "patterns"],
		rooms: { rules: ["shell"], shell: [] },
	},
	{
		folder: "hooks",
		floor: 2,
		owns: "hook points, matching, aggregation",
		mayImport: ["events", "patterns", "processes"],
		types: ["network"],
	},
	{
		folder: "definitions",
		floor: 2,
		owns: "prompts, agent files, AGENTS.md, skills, plugins: parsed into data",
		mayImport: ["files"],
		rooms: { flows: [], templates: [] },
	},
	{
		folder: "sandbox",
		floor: 2,
		owns: "what commands may do to the machine, from the settings; the proxy that is their way to the network",
		mayImport: ["events", "files", "network", "processes"],
		types: ["config"],
	},
	{
		folder: "telemetry",
		floor: 2,
		owns: "what is observed of sessions: traces for a collector, metrics",
		mayImport: ["events"],
	},
	{ folder: "config", floor: 2, owns: "reading, merging and checking settings", mayImport: ["files"] },
	{ folder: "credentials", floor: 2, owns: "token files and sign-in flows", mayImport: ["files", "network"] },
	{
		folder: "store",
		floor: 3,
		owns: "sessions on disk, in memory and in PostgreSQL",
		mayImport: ["events", "messages", "files"],
		rooms: { disk: [], memory: ["disk"], postgres: ["disk"] },
	},
	{
		folder: "mcp",
		floor: 3,
		owns: "MCP servers as tools",
		mayImport: ["tools", "events", "credentials", "network", "processes"],
		types: ["config"],
	},
	{
		folder: "agent",
		floor: 3,
		owns: "one turn from input to outcome",
		mayImport: ["events", "models", "tools", "hooks"],
	},
	{
		folder: "kernel",
		floor: 4,
		owns: "sessions: lifecycle, commands in, events out, interactions, persistence",
		mayImport: [
			"sandbox",
			"events",
			"processes",
			"files",
			"network",
			"messages",
			"models",
			"tools",
			"hooks",
			"permissions",
			"sandbox",
			"definitions",
			"config",
			"credentials",
			"store",
			"mcp",
			"agent",
		],
		rooms: {
			budgets: [],
			clients: [],
			plan: [],
			interactions: ["clients"],
			background: ["clients"],
			compose: ["budgets"],
			turn: [],
			subagents: ["turn"],
			commands: ["turn"],
			session: ["budgets", "clients", "plan", "interactions", "background", "turn", "subagents", "commands"],
			hosting: ["commands", "compose", "interactions", "session"],
		},
	},
	{
		folder: "dialects",
		floor: 5,
		owns: "wire vocabularies to and from commands and events",
		mayImport: ["rpc", "events", "messages"],
		types: ["kernel"],
	},
	{
		folder: "remote",
		floor: 5,
		owns: "the kernel API over a connection: the side of the kernel, and that of front ends elsewhere",
		mayImport: ["rpc", "events"],
		types: ["kernel", "store", "tools", "hooks", "config"],
	},
	{
		folder: "cluster",
		floor: 6,
		owns: "sessions that many processes share: which worker runs which, and the way of front ends to them",
		mayImport: ["events", "remote", "rpc", "store", "transports"],
		types: ["kernel", "tools"],
	},
	{
		folder: "gateway",
		floor: 6,
		owns: "the sessions of a host over HTTP, for several clients at once",
		mayImport: ["rpc", "events", "remote", "transports"],
		types: ["kernel", "files"],
		rooms: { access: [], sockets: [], streams: [] },
	},
	{
		folder: "server",
		floor: 6,
		owns: "serving a transport, choosing the dialect",
		mayImport: ["dialects", "transports", "rpc", "kernel"],
	},
	{
		folder: "cli",
		floor: 7,
		owns: "arguments, environment, subcommands",
		mayImport: "anything",
		rooms: {
			log: [],
			installation: [],
			arguments: [],
			completion: ["arguments"],
			process: ["arguments", "log", "installation"],
			"first-answer": ["process"],
			mcp: ["arguments", "process"],
			plugin: ["arguments", "process"],
			permissions: ["arguments", "process"],
			"sign-in": ["process"],
			store: ["process"],
			sessions: ["arguments", "process", "store"],
			doctor: ["arguments", "process", "installation", "store"],
			program: ["arguments", "process", "log", "sign-in", "store", "sessions"],
			cluster: ["arguments", "process", "program"],
			gateway: ["arguments", "process", "installation", "cluster", "program"],
			print: ["arguments", "process", "sessions", "installation", "program", "log"],
		},
	},
];
