// Every command line that the program accepts or refuses, in one file as in its parser: the modes share most flags, so a
// case of one mode is read with those of the others.
import { describe, expect, it } from "vitest";
import { toTaskWorkerArguments } from "../../host/task-worker-arguments.ts";
import { type CommandLine, type PrintOptions, parseCommandLine, type ServeOptions } from "./command-line.ts";
import { toHelpfulCommand } from "./commands.ts";
import { flags } from "./flags.ts";
import { UsageError, usageErrorText } from "./usage-error.ts";

const defaults: ServeOptions = {
	mode: null,
	acpProtocol: "1",
	contract: null,
	realm: null,
	userConfigRoot: null,
	debug: false,
	workDir: null,
	session: { kind: "new" },
	configuration: { kind: "default" },
	agent: "default",
	agentFile: null,
	maxLoopIterations: null,
	additionalDirs: [],
	skillsDirs: [],
	mcpConfigFiles: [],
	mcpConfigs: [],
	model: null,
	thinking: null,
	yolo: false,
	takeOver: false,
	plan: false,
	afk: false,
	maxStepsPerTurn: null,
	maxRetriesPerStep: null,
	prompt: null,
};

/** Words separated by single spaces; `''` stands for an empty word. */
const words = (line: string) => (line === "" ? [] : line.split(" ").map((word) => (word === "''" ? "" : word)));

function serve(line: string): ServeOptions {
	const parsed = parseCommandLine(words(line));
	if (parsed.kind === "serve") return parsed.options;
	throw new Error(`parsed as ${parsed.kind}`);
}

function refusal(line: string | readonly string[]): string {
	try {
		parseCommandLine(typeof line === "string" ? words(line) : line);
	} catch (error) {
		if (error instanceof UsageError) return error.message;
		throw error;
	}
	throw new Error("was accepted");
}

describe("parseCommandLine", () => {
	it("serves by default", () => {
		expect(serve("")).toEqual(defaults);
		expect(serve("--")).toEqual(defaults);
	});

	it("accepts the arguments of known clients", () => {
		expect(serve("--session 0d5c --work-dir /w --wire --no-thinking --model k2 --yolo")).toEqual({
			...defaults,
			mode: "wire",
			workDir: "/w",
			session: { kind: "id", id: "0d5c" },
			thinking: false,
			model: "k2",
			yolo: true,
		});
		expect(serve("--wire --config {} --auto-approve --thinking")).toEqual({
			...defaults,
			mode: "wire",
			configuration: { kind: "text", text: "{}" },
			thinking: true,
			yolo: true,
		});
	});

	it.each<[string, Partial<ServeOptions>]>([
		["--verbose", {}],
		["--debug", { debug: true }],
		["-w d", { workDir: "d" }],
		["-wd", { workDir: "d" }],
		["-w=d", { workDir: "d" }],
		["--work-dir=d=e", { workDir: "d=e" }],
		["-w a -w b", { workDir: "b" }],
		["--session=x", { session: { kind: "id", id: "x" } }],
		["--resume x", { session: { kind: "id", id: "x" } }],
		["-S x", { session: { kind: "id", id: "x" } }],
		["-rx", { session: { kind: "id", id: "x" } }],
		["--session=-x", { session: { kind: "id", id: "-x" } }],
		["--continue", { session: { kind: "last" } }],
		["-C", { session: { kind: "last" } }],
		["--config-file f", { configuration: { kind: "file", path: "f" } }],
		["-m k", { model: "k" }],
		["--model ''", { model: "" }],
		["--thinking --no-thinking", { thinking: false }],
		["--no-thinking --thinking", { thinking: true }],
		["--yes", { yolo: true }],
		["-y", { yolo: true }],
		["--plan", { plan: true }],
		["--afk", { afk: true }],
		["-yCw d", { yolo: true, session: { kind: "last" }, workDir: "d" }],
		["--ui wire", { mode: "wire" }],
		["--ui=wire --wire", { mode: "wire" }],
		["--agent default", {}],
		["--agent okabe", { agent: "okabe" }],
		["--agent-file f", { agentFile: "f" }],
		["--add-dir a --add-dir=b", { additionalDirs: ["a", "b"] }],
		["--skills-dir a --skills-dir b", { skillsDirs: ["a", "b"] }],
		["--mcp-config-file f --mcp-config-file=g", { mcpConfigFiles: ["f", "g"] }],
		["--mcp-config {} --mcp-config {}", { mcpConfigs: ["{}", "{}"] }],
		["--max-ralph-iterations 3", { maxLoopIterations: 3 }],
		["--max-ralph-iterations=-1", { maxLoopIterations: -1 }],
		["--max-ralph-iterations 0", { maxLoopIterations: 0 }],
		["--max-steps-per-turn 5", { maxStepsPerTurn: 5 }],
		["--max-retries-per-step=1", { maxRetriesPerStep: 1 }],
		["--wire -p hello", { mode: "wire", prompt: "hello" }],
		["--wire --command -unknown", { mode: "wire", prompt: "-unknown" }],
		["-c hello --ui wire", { mode: "wire", prompt: "hello" }],
		["-S", { session: { kind: "asked", flag: "-S" } }],
		["--resume --yolo", { session: { kind: "asked", flag: "--resume" }, yolo: true }],
	])("%s", (line, options) => {
		expect(serve(line)).toEqual({ ...defaults, ...options });
	});

	it.each<[string, Partial<PrintOptions>]>([
		["-p hello", { prompt: "hello", lines: "kimi-code" }],
		["--prompt=-y", { prompt: "-y", lines: "kimi-code" }],
		["-c hello", { prompt: "hello", lines: "kimi-code" }],
		["--command -unknown", { prompt: "-unknown", lines: "kimi-code" }],
		["-p hello --output-format stream-json", { prompt: "hello", outputFormat: "stream-json", lines: "kimi-code" }],
		["--final-message-only -p hello", { prompt: "hello", finalMessageOnly: true }],
		[
			"-p hello --input-format stream-json -S",
			{ prompt: "hello", inputFormat: "stream-json", session: { kind: "asked", flag: "-S" } },
		],
		["--print --session", { session: { kind: "asked", flag: "--session" } }],
		["--print", {}],
		["--print -p hello", { prompt: "hello" }],
		["--print --command=hello", { prompt: "hello" }],
		["-yc hello --print", { yolo: true, prompt: "hello" }],
		["--print --input-format text --output-format text", {}],
		["--print --input-format stream-json", { inputFormat: "stream-json" }],
		["--print --output-format=stream-json", { outputFormat: "stream-json" }],
		[
			"--print --output-format stream-json --final-message-only",
			{ outputFormat: "stream-json", finalMessageOnly: true },
		],
		["--quiet", { finalMessageOnly: true }],
		["--quiet --print", { finalMessageOnly: true }],
		["--quiet --output-format text", { finalMessageOnly: true }],
		["--quiet --input-format stream-json", { inputFormat: "stream-json", finalMessageOnly: true }],
		["--print -C -w d -m k", { session: { kind: "last" }, workDir: "d", model: "k" }],
		["--print -S x --plan --afk", { session: { kind: "id", id: "x" }, plan: true, afk: true }],
		["--print --max-steps-per-turn 5 --agent-file f", { maxStepsPerTurn: 5, agentFile: "f" }],
	])("prints: %s", (line, options) => {
		const { mode: _, acpProtocol: __, contract: ___, realm: ____, userConfigRoot: _____, ...shared } = defaults;
		expect(parseCommandLine(words(line))).toEqual({
			kind: "print",
			options: {
				...shared,
				inputFormat: "text",
				outputFormat: "text",
				lines: "kimi-cli",
				textForm: "people",
				finalMessageOnly: false,
				...options,
			},
		});
	});

	it("trims the prompt", () => {
		const prompt = "  do it \n";
		expect(parseCommandLine(["--prompt", prompt])).toMatchObject({ kind: "print", options: { prompt: "do it" } });
		expect(parseCommandLine(["--wire", "--prompt", prompt])).toMatchObject({
			kind: "serve",
			options: { prompt: "do it" },
		});
	});

	it.each<[string, CommandLine]>([
		["--help", { kind: "help", command: null }],
		["-h --plan --continue --session", { kind: "help", command: null }],
		["--version", { kind: "version" }],
		["-V", { kind: "version" }],
		["--wire --version", { kind: "version" }],
		["rpc --version", { kind: "version" }],
		["acp -V", { kind: "version" }],
		["serve --port 0 --version", { kind: "version" }],
		["web --yolo --version", { kind: "version" }],
		["worker --version", { kind: "version" }],
		["info", { kind: "info", json: false }],
		["info --json", { kind: "info", json: true }],
		["info -h", { kind: "help", command: "info" }],
		["info --show-completion", { kind: "completion", shell: null }],
		["info --show-completion bash", { kind: "completion", shell: "bash" }],
		["info --show-completion=zsh", { kind: "completion", shell: "zsh" }],
		["info --show-completion -h", { kind: "help", command: "info" }],
		["login", { kind: "login", json: false }],
		["login --json", { kind: "login", json: true }],
		["logout --json", { kind: "logout", json: true }],
		["logout -h", { kind: "help", command: "logout" }],
		["info --json --help", { kind: "help", command: "info" }],
		["export", { kind: "export", options: { sessionId: null, output: null, replayable: false, yes: false } }],
		[
			"export -y some-id",
			{ kind: "export", options: { sessionId: "some-id", output: null, replayable: false, yes: true } },
		],
		[
			"export --output p id --yes",
			{ kind: "export", options: { sessionId: "id", output: "p", replayable: false, yes: true } },
		],
		[
			"export --output=-p",
			{ kind: "export", options: { sessionId: null, output: "-p", replayable: false, yes: false } },
		],
		["export -o a -o=b", { kind: "export", options: { sessionId: null, output: "b", replayable: false, yes: false } }],
		["export -yop", { kind: "export", options: { sessionId: null, output: "p", replayable: false, yes: true } }],
		["export -- -id", { kind: "export", options: { sessionId: "-id", output: null, replayable: false, yes: false } }],
		["export id -h", { kind: "help", command: "export" }],
		["export --help", { kind: "help", command: "export" }],
		["plugin install ./demo.zip", { kind: "plugin", action: { name: "install", source: "./demo.zip" } }],
		["plugin list", { kind: "plugin", action: { name: "list" } }],
		["plugin remove demo", { kind: "plugin", action: { name: "remove", plugin: "demo" } }],
		["plugin info demo", { kind: "plugin", action: { name: "info", plugin: "demo" } }],
		["plugin --help", { kind: "help", command: "plugin" }],
		["plugin install -h", { kind: "help", command: "plugin" }],
		["mcp list", { kind: "mcp", action: { name: "list" } }],
		["mcp remove a", { kind: "mcp", action: { name: "remove", server: "a" } }],
		["mcp auth a", { kind: "mcp", action: { name: "auth", server: "a" } }],
		["mcp reset-auth -- a", { kind: "mcp", action: { name: "reset-auth", server: "a" } }],
		["mcp test a", { kind: "mcp", action: { name: "test", server: "a" } }],
		["mcp --help", { kind: "help", command: "mcp" }],
		["mcp test --help", { kind: "help", command: "mcp" }],
		["mcp add -h", { kind: "help", command: "mcp" }],
	])("parses the command %s", (line, expected) => {
		expect(parseCommandLine(words(line))).toEqual(expected);
	});

	it.each([
		["a -- cmd -e x --help", { target: ["cmd", "-e", "x", "--help"] }],
		["-e K=V a -e=L=W cmd", { target: ["cmd"], environment: ["K=V", "L=W"] }],
		[
			"--transport http a https://b --header K:V -HL:W",
			{ transport: "http", target: ["https://b"], headers: ["K:V", "L:W"] },
		],
		["a https://b -t http -a oauth", { transport: "http", target: ["https://b"], auth: "oauth" }],
		["a", {}],
	])("mcp add %s", (line, expected) => {
		const plain = {
			name: "add",
			server: "a",
			target: [],
			transport: "stdio",
			environment: [],
			headers: [],
			auth: null,
		};
		expect(parseCommandLine(["mcp", "add", ...words(line)])).toEqual({
			kind: "mcp",
			action: { ...plain, ...expected },
		});
	});

	it.each([
		["--print --wire", "Cannot combine --print and --wire."],
		["--acp --wire", "Cannot combine --acp and --wire."],
		["--print --acp", "Cannot combine --print and --acp."],
		["--print --ui wire", "Cannot combine --print and --ui wire."],
		["--agent default --agent-file f", "Cannot combine --agent and --agent-file."],
		["-C -S x", "Cannot combine -C and -S."],
		["--session --continue", "Cannot combine --continue and --session."],
		["--config {} --config-file f", "Cannot combine --config and --config-file."],
		["--quiet --wire", "Cannot combine --quiet and --wire."],
		["--quiet --acp", "Cannot combine --quiet and --acp."],
		["--quiet --output-format stream-json", "Cannot combine --quiet with an output format other than text."],
		["--input-format text", "--input-format works only with --print or --prompt."],
		["--print --input-format json", "--input-format must be text or stream-json."],
		["--print --output-format ''", "--output-format must be text or stream-json."],
		["--print --output-format", "--output-format needs a value (FORMAT)."],
		["--print --session ''", "--session needs the id of a session."],
		["--acp --acp-protocol 3", "--acp-protocol must be 1, 2 or auto."],
		["--wire --acp-protocol 2", "--acp-protocol works only with acp."],
		["--acp --session x", "Cannot combine the flag --acp with --session."],
		["--acp --output-format text", "--output-format works only with --print or --prompt."],
		["-p x --wire --output-format text", "--output-format works only with --print or --prompt."],
		["--print --prompt ''", "--prompt must not be empty."],
		["--wire --output-format text", "--output-format works only with --print or --prompt."],
		["--final-message-only", "--final-message-only works only with --print or --prompt."],
		["--resume --wire", "--resume needs the id of a session."],
		["--ui wire -S", "-S needs the id of a session."],
		["--session=", "--session needs the id of a session."],
		["-S ''", "-S needs the id of a session."],
		["--prompt ''", "--prompt must not be empty."],
		["-c=", "-c must not be empty."],
		["--config ''", "--config must not be empty."],
		["--config-file=", "--config-file must not be empty."],
		["--agent-file=", "--agent-file must not be empty."],
		["--work-dir ''", "--work-dir must not be empty."],
		["--model", "--model needs a value (ALIAS)."],
		["--model --wire", "--model needs a value (ALIAS)."],
		["-w", "-w needs a value (DIR)."],
		["--wire=yes", "--wire takes no value."],
		["--thinking=false", "--thinking takes no value."],
		["--max-steps-per-turn 0", "--max-steps-per-turn must be an integer of at least 1."],
		["--max-steps-per-turn -1", "--max-steps-per-turn must be an integer of at least 1."],
		["--max-retries-per-step 1.5", "--max-retries-per-step must be an integer of at least 1."],
		["--max-retries-per-step=", "--max-retries-per-step must be an integer of at least 1."],
		["--ui shell", "--ui shell: not available in this version; only '--ui wire' is."],
		["--agent nobody", "--agent nobody: unknown agent; the built-in ones are default and okabe."],
		["--max-ralph-iterations=-2", "--max-ralph-iterations must be an integer of at least -1."],
		["--add-dir=", "--add-dir must not be empty."],
		["--wier", "Unknown flag --wier. Did you mean --wire?"],
		["--work_dir x", "Unknown flag --work_dir. Did you mean --work-dir?"],
		["--frobnicate", "Unknown flag --frobnicate."],
		["-x", "Unknown flag -x."],
		["-yx", "Unknown flag -x."],
		["--help --wier", "Unknown flag --wier. Did you mean --wire?"],
		["--yes export", "Cannot combine the command 'export' with --yes."],
		["export a b", "The command 'export' takes one session at most."],
		["export ''", "The command 'export' needs the id of a session, or none at all."],
		["export -o", "-o needs a value (PATH)."],
		["export -o -y", "-o needs a value (PATH)."],
		["export --output=", "--output needs a value (PATH)."],
		["export --output ''", "--output needs a value (PATH)."],
		["export --yes=1", "--yes takes no value."],
		["export -yx", "The command 'export' does not know '-x'; it takes --replayable, --output and --yes."],
		["export --force", "The command 'export' does not know '--force'; it takes --replayable, --output and --yes."],
		["acp -p hi", "Cannot combine the command 'acp' with -p."],
		["-p hi acp", "Cannot combine the command 'acp' with -p."],
		["--acp --prompt hi", "Cannot combine the flag --acp with --prompt."],
		["acp x", "The command 'acp' takes only flags, found 'x'."],
		["acp --wire", "Cannot combine the command 'acp' with --wire."],
		["acp login x", "The command 'login' does not know 'x'; it takes --json."],
		[
			"--wire -",
			"Unknown command '-'. Commands: setup, info, doctor, docs, export, replay, sessions, store, plugin, mcp, permissions, fake, conformance, login, logout, record, rpc, acp, codex, claude, serve, web, chat, worker. Put a prompt in quotes, or pass it with -p.",
		],
		["rpc x", "The command 'rpc' takes only flags, found 'x'."],
		["rpc -p x", "Cannot combine the command 'rpc' with -p."],
		["-C=x", "-C takes no value."],
		["-yC=", "-C takes no value."],
		["--agent ''", "--agent must not be empty."],
		["--ui=", "--ui must not be empty."],
		["--wire info", "Cannot combine the command 'info' with --wire."],
		["login --jsn", "The command 'login' does not know '--jsn'; it takes --json."],
		["logout now", "The command 'logout' does not know 'now'; it takes --json."],
		["info --jsn", "The command 'info' does not know '--jsn'; it takes --json and --show-completion."],
		["info --json --show-completion", "Cannot combine --json and --show-completion."],
		["info --show-completion --json", "Cannot combine --json and --show-completion."],
		["info --show-completion csh", "--show-completion does not know the shell 'csh'; it takes bash, zsh, fish."],
		["info --show-completion=", "--show-completion does not know the shell ''; it takes bash, zsh, fish."],
		["info --show-completion bash zsh", "--show-completion takes one SHELL, found 'zsh' too."],
		["--yolo plugin list", "Cannot combine the command 'plugin' with --yolo."],
		["plugin", "The command 'plugin' needs one of install, list, remove, info."],
		["plugin update", "The command 'plugin' does not know 'update'; it takes install, list, remove, info."],
		["plugin --json", "The command 'plugin' does not know '--json'; it takes install, list, remove, info."],
		["plugin install", "The command 'plugin install' needs SOURCE."],
		["plugin install ''", "The command 'plugin install' needs SOURCE."],
		["plugin install a b", "The command 'plugin install' takes one SOURCE, found 'b' too."],
		["plugin install --force a", "The command 'plugin install' does not know '--force'."],
		["plugin remove", "The command 'plugin remove' needs NAME."],
		["plugin info a b", "The command 'plugin info' takes one NAME, found 'b' too."],
		["plugin list a", "The command 'plugin list' does not know 'a'."],
		["mcp", "The command 'mcp' needs one of add, list, remove, auth, reset-auth, test."],
		["mcp show", "The command 'mcp' does not know 'show'; it takes add, list, remove, auth, reset-auth, test."],
		["mcp list a", "The command 'mcp list' does not know 'a'."],
		["mcp list --json", "The command 'mcp list' does not know '--json'."],
		["mcp test", "The command 'mcp test' needs NAME."],
		["mcp auth ''", "The command 'mcp auth' needs NAME."],
		["mcp remove a b", "The command 'mcp remove' takes one NAME, found 'b' too."],
		["mcp reset-auth --all", "The command 'mcp reset-auth' does not know '--all'."],
		["mcp add", "The command 'mcp add' needs NAME."],
		["mcp add a -e", "-e needs a value."],
		["mcp add a --header= c", "--header needs a value."],
		["mcp add a --auth -- c", "--auth needs a value."],
		[
			"mcp add a npx -y b",
			"The command 'mcp add' does not know '-y'. If it is for the server's program, put '--' before that.",
		],
	])("refuses: %s", (line, message) => {
		expect(refusal(line)).toBe(message);
	});

	it("refuses a blank session id and a blank prompt", () => {
		expect(refusal(["--session", "  "])).toBe("--session needs the id of a session.");
		expect(refusal(["--prompt", " \n"])).toBe("--prompt must not be empty.");
	});

	it.each(["rpc", "acp", "serve", "web", "worker"])("takes the name %s for a value where a flag needs one", (name) => {
		expect(parseCommandLine(["--work-dir", name, name])).toMatchObject({ options: { workDir: name } });
	});

	it.each([["--acp"], ["acp"], ["--yolo acp"], ["acp --yolo"]])("serves editors with %s", (line) => {
		expect(parseCommandLine(words(line))).toMatchObject({ kind: "serve", options: { mode: "acp" } });
	});

	it.each([
		["acp", "1"],
		["acp --acp-protocol 2", "2"],
		["--acp --acp-protocol=auto", "auto"],
	])("serves editors with %s in version %s", (line, acpProtocol) => {
		expect(parseCommandLine(words(line))).toMatchObject({ kind: "serve", options: { mode: "acp", acpProtocol } });
	});

	it("signs in as editors ask for it", () => {
		expect(parseCommandLine(words("acp login --json"))).toEqual({ kind: "login", json: true });
	});
});

describe("docs", () => {
	it("takes a page, or none for all of them", () => {
		expect(parseCommandLine(words("docs"))).toEqual({ kind: "docs", page: null });
		expect(parseCommandLine(words("docs web"))).toEqual({ kind: "docs", page: "web" });
		expect(parseCommandLine(words("docs web --help"))).toEqual({ kind: "help", command: "docs" });
		expect(() => parseCommandLine(words("docs web acp"))).toThrow(
			new UsageError("'docs' takes one page, found 'acp' too."),
		);
		expect(() => parseCommandLine(words("docs --all"))).toThrow(
			new UsageError("The command 'docs' does not know '--all'; it takes a page."),
		);
	});
});

describe("the addresses to listen on", () => {
	it("take localhost for the loopback interface", () => {
		expect(parseCommandLine(words("serve --host LocalHost"))).toMatchObject({ flags: { address: "127.0.0.1" } });
		expect(
			parseCommandLine(words("worker --listen localhost:0 --operations localhost:9 --announce localhost:1")),
		).toMatchObject({
			flags: {
				listen: { host: "127.0.0.1", port: 0 },
				operations: { host: "127.0.0.1", port: 9 },
				announced: { host: "localhost", port: 1 },
			},
		});
	});
});

describe("__web-worker", () => {
	it("serves a session of any work directory in the dialects of Kimi", () => {
		const plain = parseCommandLine(["--wire"]);
		if (plain.kind !== "serve") throw new Error("It does not serve.");
		const session = { kind: "anywhere", id: "some-id" };
		expect(parseCommandLine(["__web-worker", "some-id"])).toEqual({ ...plain, options: { ...plain.options, session } });
	});

	it.each(["", "one two", "one --wire"])("refuses %j after it", (rest) => {
		expect(() => parseCommandLine(["__web-worker", ...words(rest)])).toThrow(UsageError);
	});

	it("refuses flags before it", () => {
		expect(() => parseCommandLine(["--yolo", "__web-worker", "one"])).toThrow(UsageError);
	});
});

describe("the worker of a background command", () => {
	const flags = {
		taskDirectory: "/s/tasks/bash-1",
		heartbeatInterval: 1,
		controlPollInterval: 2,
		killGracePeriod: 3,
		keep: true,
		contain: "auto",
	} as const;

	it.each([[flags], [{ ...flags, keep: false, contain: "off" } as const]])(
		"parses the arguments that start it: %j",
		(given) => {
			expect(parseCommandLine(toTaskWorkerArguments(given))).toEqual({ kind: "task-worker", flags: given });
		},
	);

	it("has the default intervals of the reference", () => {
		expect(parseCommandLine(["__background-task-worker", "--task-dir", "/t"])).toEqual({
			kind: "task-worker",
			flags: {
				taskDirectory: "/t",
				heartbeatInterval: 5000,
				controlPollInterval: 500,
				killGracePeriod: 2000,
				keep: false,
				contain: "off",
			},
		});
	});

	it.each([
		["", "--task-dir"],
		["--task-dir", "--task-dir"],
		["--task-dir /t --keep=1", "--keep=1"],
		["--task-dir /t more", "more"],
		["--task-dir /t --heartbeat-interval-ms 0", "--heartbeat-interval-ms"],
		["--task-dir /t --control-poll-interval-ms x", "--control-poll-interval-ms"],
		["--task-dir /t --kill-grace-period-ms", "--kill-grace-period-ms"],
	])("refuses %j, and names the fault", (rest, named) => {
		expect(() => parseCommandLine(["__background-task-worker", ...words(rest)])).toThrow(named);
	});
});

describe("the table of flags", () => {
	it("has every key and every name once", () => {
		const keys = flags.map(({ key }) => key);
		const names = flags.flatMap(({ names: all }) => all);
		expect(new Set(keys).size).toBe(keys.length);
		expect(new Set(names).size).toBe(names.length);
	});
});

describe("usageErrorText", () => {
	it("refers to the help", () => {
		expect(usageErrorText(new UsageError("No."), "kimi", null)).toBe("Error: No.\nTry 'kimi --help' for help.\n");
	});

	it.each([
		["store copy", "Try 'agentwire store --help' for help."],
		["serve --port x", "Try 'agentwire serve --help' for help."],
		["rpc --session x", "Try 'agentwire --help' for help."],
		["--wier", "Try 'agentwire --help' for help."],
		["exprot", "Try 'agentwire --help' for help."],
		["", "Try 'agentwire --help' for help."],
		["--model x serve --bogus", "Try 'agentwire serve --help' for help."],
		["--model serve --bogus", "Try 'agentwire --help' for help."],
		["-m x --yolo worker --bogus", "Try 'agentwire worker --help' for help."],
		["--unknown serve", "Try 'agentwire serve --help' for help."],
		["--unknown=x serve", "Try 'agentwire serve --help' for help."],
		["--unknown x serve", "Try 'agentwire --help' for help."],
		["--model x sessions list", "Try 'agentwire sessions --help' for help."],
		["-p serve --bogus", "Try 'agentwire --help' for help."],
		["-- serve --bogus", "Try 'agentwire serve --help' for help."],
	])("refers to the help that has what '%s' lacks", (line, reference) => {
		const command = toHelpfulCommand(words(line));
		expect(usageErrorText(new UsageError("No."), "agentwire", command)).toBe(`Error: No.\n${reference}\n`);
	});

	it("removes terminal control characters from typed arguments", () => {
		const text = usageErrorText(new UsageError(refusal(["--\u001b[2J\u009bred\nx"])), "kimi", null);
		expect(text).toBe("Error: Unknown flag --\ufffd[2J\ufffdred x.\nTry 'kimi --help' for help.\n");
	});
});

describe("the realm of a server for Meerkat's clients", () => {
	const rpc = (line: string) => serve(`rpc ${line}`);

	it("has a name, or is a new one, and says where and how it is stored", () => {
		expect(rpc("--realm dev")).toMatchObject({
			mode: "rpc",
			realm: { name: "dev", stateRoot: null, backend: "jsonl", instance: null },
		});
		expect(rpc("--isolated --state-root /s --realm-backend memory --instance one").realm).toEqual({
			name: null,
			stateRoot: "/s",
			backend: "memory",
			instance: "one",
		});
		// What it asks for is durable sessions.
		expect(rpc("--realm dev --realm-backend sqlite").realm).toMatchObject({ backend: "jsonl" });
		expect(rpc("--state-root /s").realm).toEqual({
			name: "default",
			stateRoot: "/s",
			backend: "jsonl",
			instance: null,
		});
		expect(rpc("--instance one").realm).toMatchObject({ name: "default", instance: "one" });
		expect(rpc("--realm-backend memory").realm).toMatchObject({ name: "default", backend: "memory" });
		expect(serve("rpc").realm).toBeNull();
	});

	it("leaves the project and the person's configuration to flags of their own", () => {
		expect(rpc("--context-root /p --user-config-root /u")).toMatchObject({ workDir: "/p", userConfigRoot: "/u" });
	});

	it.each([
		["rpc --realm a --isolated", "Cannot combine --realm and --isolated"],
		["rpc --realm ../x", "--realm must be a name"],
		["rpc --realm a --realm-backend redis", "--realm-backend redis"],
		["rpc --realm a --user-config-root /u", "--user-config-root"],
		["rpc --context-root /a --work-dir /b", "Cannot combine"],
		["acp --realm a", "--realm"],
		["--wire --realm a", "--realm works only with rpc"],
		["rpc --live-ws 1", "--live-ws: live audio and video sessions"],
		["rpc --live-anything", "--live-anything: live audio and video sessions"],
	])("`%s` is refused in words", (line, reason) => {
		expect(() => parseCommandLine(words(line))).toThrow(reason);
	});
});

describe("words for people", () => {
	const promptOf = (...words: readonly string[]) => {
		const line = parseCommandLine(words);
		return line.kind === "print" ? line.options.prompt : line.kind;
	};

	it("a text in quotes, or words after --, are a prompt", () => {
		expect(promptOf("fix the test")).toBe("fix the test");
		expect(promptOf("--model", "m", "fix the test")).toBe("fix the test");
		expect(promptOf("--", "fix", "the", "--test")).toBe("fix the --test");
		expect(promptOf("-C", "--", "info")).toBe("info");
		expect(() => parseCommandLine(["-p", "one", "two words"])).toThrow(
			"Give one prompt, either with -p or on its own.",
		);
		expect(promptOf("--wire", "--", "hi")).toBe("serve");
	});

	it("help, version and their short forms are understood", () => {
		expect(parseCommandLine(["help"])).toEqual({ kind: "help", command: null });
		expect(parseCommandLine(["help", "mcp"])).toEqual({ kind: "help", command: "mcp" });
		expect(parseCommandLine(["version"])).toEqual({ kind: "version" });
		expect(parseCommandLine(["-v"])).toEqual({ kind: "version" });
		expect(() => parseCommandLine(["help", "mcpp"])).toThrow("Did you mean 'mcp'?");
	});

	it("an unknown command names the nearest one", () => {
		expect(() => parseCommandLine(["sesions", "list"])).toThrow("Unknown command 'sesions'. Did you mean 'sessions'?");
	});
});
