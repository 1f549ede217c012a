// The laws of the source tree that an import table cannot say: who may touch the process, and who may reach the outside
// through modules of Node. One row per law; law-check.ts holds the tree against them.

export interface Law {
	/** Follows "only … may". */
	readonly what: string;
	/** Members of `process`, or globals, that only the places below may use. */
	readonly members?: readonly string[];
	readonly globals?: readonly string[];
	/** Modules, with everything below them (`node:fs` includes `node:fs/promises`). */
	readonly modules?: readonly string[];
	/** Folders that end with a slash, or files, relative to `src/`. */
	readonly places: readonly string[];
	/** Where the law does not hold, each with its reason. */
	readonly exceptions?: Readonly<Record<string, string>>;
}

export const laws: readonly Law[] = [
	{
		what: "read arguments, environment and current directory",
		members: ["argv", "env", "cwd", "chdir"],
		places: ["cli/"],
		exceptions: {
			"index.ts": "the environment of an embedding program is the default for commands of its kernel",
			"testing/":
				"variables of the test run accept changed transcripts and record cassettes; agents get its PATH, and keys to record with",
		},
	},
	{
		what: "touch stdin and stdout while the program serves a client",
		members: ["stdin", "stdout"],
		places: ["ports/transports/stdio.ts", "cli/"],
	},
	{ what: "write to stderr", members: ["stderr"], places: ["cli/"] },
	{ what: "end the process", members: ["exit", "abort", "exitCode"], places: ["cli/"] },
	{
		what: "reach the file system",
		modules: ["node:fs"],
		places: ["ports/files/", "ports/workspace/"],
		exceptions: {
			"cli/": "the log, the code cache and copies of embedded files, which hold nothing of a session",
			"ports/processes/":
				"what the system says of processes, the ends of their pipes, and what confined ones are mounted on",
			"testing/": "transcripts and temporary directories, in the process of a test",
			"ports/transports/stdio.ts": "stdin and stdout are file descriptors",
			"ports/transports/descriptor-input.ts": "stdin is read as a descriptor under Bun",
		},
	},
	{
		what: "start child processes",
		modules: ["node:child_process"],
		places: ["ports/processes/"],
		exceptions: { "client/": "it starts the server, from a program in which there is no kernel" },
	},
	{
		what: "make requests and open sockets",
		modules: ["node:http", "node:https", "node:http2", "node:net", "node:tls", "node:dns", "node:dgram", "undici"],
		globals: ["fetch", "WebSocket", "EventSource"],
		places: ["ports/network/"],
		exceptions: {
			"cli/conformance/": "a loopback server that answers in place of a model",
			"client/": "the client connects to a gateway, from a program in which there is no kernel",
			"cli/attach/": "the Unix socket by which a command of an SDK is served by a gateway of the same user",
			"cli/record/": "the loopback server that stands for the providers of a recorded command; it connects to nothing",
			"settings/credentials/mcp-callback.ts": "the loopback server that a browser returns to after a sign-in",
			"settings/config/schema.ts": "recognizes addresses, connects to nothing",
			"ports/processes/confinement/confined-proxy.ts":
				"connections of a confined command are joined to the proxy's socket",
			"ports/sandbox/proxy/": "the proxy of sandboxed commands; it connects through the sockets of network/",
			"cluster/": "workers listen for front ends, which connect to the addresses that the database names",
			"frontends/gateway/": "the server that clients connect to; it connects to nothing",
			"ports/files/pipes.ts": "a pipe that a shell puts in place of a file is read without a thread that waits",
			"ports/transports/stdio.ts": "stdin and stdout may be sockets",
			"ports/transports/stream.ts":
				"opens none: a socket that it is given sends at once, and notices a machine that is gone",
		},
	},
];
