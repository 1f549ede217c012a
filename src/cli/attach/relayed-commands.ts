// How a gateway serves the commands of SDKs: each with its flags, work directory and environment, and the gateway's settings.
import type { Socket } from "node:net";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoredId } from "../../api/session-state.ts";
import { aborted } from "../../base/abort.ts";
import { serveClaude } from "../../frontends/claude/serve.ts";
import { createCodexDialect } from "../../frontends/codex/dialect.ts";
import type { HostApi } from "../../frontends/shared/dialect.ts";
import type { Files } from "../../ports/files/port.ts";
import { Connection } from "../../ports/rpc/connection.ts";
import type { LineTransport } from "../../ports/rpc/transport.ts";
import { toSessionDirectory } from "../../ports/store/disk/session-directory.ts";
import { lineLimit, outboxLimit, replyLimit } from "../../ports/transports/stdio.ts";
import { createStreamTransport } from "../../ports/transports/stream.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import { parseMcpServers } from "../../settings/config/mcp-servers.ts";
import { type CodexSandbox, toCodexAction } from "../arguments/options/codex-options.ts";
import { parseClaudeFlags } from "../arguments/sdk/claude-options.ts";
import { readClaudeOptions } from "../claude/claude-settings.ts";
import { checkServed } from "../codex/app-server.ts";
import { type ConfigOverrides, readConfigOverrides } from "../codex/config-overrides.ts";
import { type CommandOptions, CommandSessions, findUser } from "./command-sessions.ts";

export interface RelayHost {
	readonly host: HostApi;
	readonly shareDir: string;
	readonly isOnDisk: boolean;
	readonly home: string;
	readonly files: Files;
	readonly sandbox: Configuration["sandbox"];
	readonly requestsInFlight: number;
}

export interface RelayedProcess {
	readonly argv: readonly string[];
	readonly cwd: string;
	readonly environment: Readonly<Record<string, string>>;
}

export interface CommandEnd {
	readonly exitCode: number;
	readonly error: string | null;
}

export interface PreparedCommand {
	readonly notice: string;
	/** Runs the command until it ends or the signal aborts. Stops everything it started. */
	run(socket: Socket, signal: AbortSignal): Promise<CommandEnd>;
}

/** Fails, with the reason, for a command that cannot be served as its own process would. */
export async function prepareCommand(process: RelayedProcess, relayHost: RelayHost): Promise<PreparedCommand> {
	const [command, ...words] = process.argv;
	if (command === "claude") return await prepareClaude(words, process, relayHost);
	const action = command === "codex" ? toCodexAction(words) : null;
	switch (action?.name) {
		case "app-server":
			return await prepareAppServer(action.config, process, relayHost);
		case "exec":
			return await (await import("./relayed-exec.ts")).prepareExec(action.options, process, relayHost);
		default:
			throw new Error("its output is not JSON lines.");
	}
}

async function prepareClaude(
	words: readonly string[],
	{ cwd, environment }: RelayedProcess,
	{ host, home, files }: RelayHost,
): Promise<PreparedCommand> {
	const flags = parseClaudeFlags(words);
	if (!flags.readsFrames || flags.asksVersion) throw new Error("it is not one that sends frames.");
	const options = await readClaudeOptions(flags, { currentDir: cwd, home }, files);
	const { session } = options;
	if (session.kind === "last") throw new Error("--continue is not served; use --resume.");
	const user = session.kind === "stored" && !session.isForked ? await findUser(session.id, host.sessions) : null;
	if (user !== null) throw new Error(user);
	return {
		notice: "",
		async run(socket, signal) {
			const transport = openTransport(socket);
			const sessions = new CommandSessions(host.sessions, { workDir: cwd, environment });
			const serving = serveClaude(transport, { ...host, sessions }, options, signal);
			const error = await serving.ended;
			await serving.finish();
			await sessions.end();
			return { exitCode: error === null ? 0 : 1, error };
		},
	};
}

async function prepareAppServer(
	config: readonly string[],
	{ cwd, environment }: RelayedProcess,
	{ host, shareDir, isOnDisk, sandbox, requestsInFlight }: RelayHost,
): Promise<PreparedCommand> {
	const overrides = await readConfigOverrides(config);
	checkServed(overrides);
	const mode = toOwnMode(sandbox);
	if (overrides.sandbox !== null || overrides.network !== null)
		checkSandbox(overrides.sandbox ?? mode, overrides, sandbox);
	const options = { ...toCommandOptions(overrides, { cwd, environment }), model: overrides.model };
	return {
		notice: toNotice(overrides),
		async run(socket, signal) {
			const transport = openTransport(socket);
			const sessions = new CommandSessions(host.sessions, options);
			const place = {
				home: shareDir,
				sandbox: mode,
				hasNetwork: sandbox.network !== "none",
				directoryOf: (session: StoredId) => (isOnDisk ? toSessionDirectory(shareDir, session) : null),
			};
			const dialect = createCodexDialect(place);
			const settings = () => ({ rules: conversation.rules ?? dialect.rules, methods: conversation.methods });
			const connection: Connection = new Connection(transport, {
				undecided: settings,
				choose: settings,
				maximumInFlight: requestsInFlight,
				log: host.log,
			});
			const conversation = dialect.converse({ ...host, sessions }, connection);
			await Promise.race([connection.serve(), aborted(signal), aborted(transport.gone)]);
			await sessions.stop();
			await connection.idle();
			// The ends of the turns are on their way to the client.
			await nextTurn();
			await transport.flush();
			conversation.leave();
			await sessions.end();
			return { exitCode: transport.gone.aborted ? 1 : 0, error: null };
		},
	};
}

/** The command's result is sent after the front end closes the transport. */
function openTransport(socket: Socket): LineTransport {
	const transport = createStreamTransport(socket, { lineLimit, replyLimit, outboxLimit });
	return {
		// The socket is paused after the command, and a new reader does not resume it.
		receive(onLine, onEnd) {
			transport.receive(onLine, onEnd);
			socket.resume();
		},
		send: (text) => transport.send(text),
		ready: () => transport.ready(),
		isFull: () => transport.isFull(),
		flush: () => transport.flush(),
		gone: transport.gone,
		close() {},
	};
}

export const toNotice = ({ ignored }: ConfigOverrides): string =>
	ignored.map((key) => `--config ${key} has no effect here.\n`).join("");

export function toCommandOptions(
	{ mcpServers, writable, thinking }: ConfigOverrides,
	{ cwd, environment }: Pick<RelayedProcess, "cwd" | "environment">,
): CommandOptions {
	const added = Object.keys(mcpServers).length === 0 ? [] : parseMcpServers(JSON.stringify({ mcpServers }), "--config");
	const additionalDirs = writable.map((directory) => path.resolve(cwd, directory));
	return { workDir: cwd, environment, additionalDirs, mcpServers: added, thinking };
}

const toOwnMode = ({ mode }: Configuration["sandbox"]): CodexSandbox => (mode === "off" ? "danger-full-access" : mode);

/** The sandbox belongs to the gateway: fails where the command asks for another one. */
export function checkSandbox(
	asked: CodexSandbox,
	{ network }: ConfigOverrides,
	sandbox: Configuration["sandbox"],
): void {
	const own = toOwnMode(sandbox);
	if (asked !== own) throw new Error(`it asks for the sandbox ${asked}, and the gateway has ${own}.`);
	if (asked !== "danger-full-access" && network !== null && network !== (sandbox.network !== "none"))
		throw new Error("it asks for a different sandbox network than the gateway's.");
}
