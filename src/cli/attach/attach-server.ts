// The gateway's Unix socket: serves relayed commands, one per connection, with the gateway's sessions.
import { createConnection, createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import * as v from "valibot";
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ClaudeOptions } from "../../frontends/claude/options.ts";
import { serveClaude } from "../../frontends/claude/serve.ts";
import type { HostApi } from "../../frontends/shared/dialect.ts";
import { productVersion } from "../../host/product.ts";
import type { SessionsApi } from "../../kernel/api.ts";
import type { Files } from "../../ports/files/port.ts";
import type { LineTransport } from "../../ports/rpc/transport.ts";
import { lineLimit, outboxLimit, replyLimit } from "../../ports/transports/stdio.ts";
import { createStreamTransport } from "../../ports/transports/stream.ts";
import { parseClaudeFlags } from "../arguments/sdk/claude-options.ts";
import { readClaudeOptions } from "../claude/claude-settings.ts";
import { type Outcome, socketName } from "./attach-protocol.ts";

/** Maximum characters of a command with its environment. */
const commandLimit = 4_194_304;

const commandSchema = v.object({
	version: v.string(),
	argv: v.array(v.string()),
	cwd: v.pipe(v.string(), v.check(path.isAbsolute)),
	environment: v.record(v.string(), v.string()),
});

export interface AttachParts {
	readonly host: HostApi;
	readonly shareDir: string;
	readonly home: string;
	readonly files: Files;
	readonly log: Log;
	readonly signal: AbortSignal;
}

/**
 * Starts listening; returns a stop function. If another gateway is already listening, or the system refuses, the gateway runs
 * without the socket.
 */
export async function startAttachServer(parts: AttachParts): Promise<{ close(): Promise<void> }> {
	const { shareDir, files, log } = parts;
	const file = path.join(shareDir, socketName);
	const serving = new Set<Promise<void>>();
	const server = createServer({ allowHalfOpen: true }, (socket) => {
		const served = serveRelay(socket, parts)
			.catch((thrown: unknown) => log.warn("A relayed command failed.", { error: thrown }))
			.finally(() => {
				socket.destroySoon();
				serving.delete(served);
			});
		serving.add(served);
	});
	try {
		if (await isServed(file)) throw new Error("another gateway listens there");
		await files.remove(file);
		await listen(server, file);
	} catch (thrown) {
		log.warn("Commands of SDKs cannot attach to this gateway.", { socket: file, cause: errorText(thrown) });
	}
	return {
		async close() {
			server.close();
			await Promise.all(serving);
		},
	};
}

function isServed(file: string): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = createConnection(file);
		socket.once("connect", () => {
			socket.destroy();
			resolve(true);
		});
		socket.once("error", () => resolve(false));
	});
}

/** Only its owner can access the socket, from its creation on. */
function listen(server: Server, file: string): Promise<void> {
	return new Promise((resolve, reject) => {
		const before = process.umask(0o177);
		try {
			server.once("error", reject);
			server.listen(file, resolve);
		} finally {
			process.umask(before);
		}
	});
}

async function serveRelay(socket: Socket, parts: AttachParts): Promise<void> {
	socket.on("error", () => {});
	const line = await readCommand(socket);
	if (line === null) return;
	const say = (outcome: Outcome, mark = "") => socket.write(`${mark}${JSON.stringify(outcome)}\n`);
	const options = await toOptions(line, parts).catch((thrown: unknown) => errorText(thrown));
	if (typeof options === "string") {
		say({ refused: options });
		return;
	}
	say({ taken: true });
	const transport = createStreamTransport(socket, { lineLimit, replyLimit, outboxLimit });
	const serving = serveClaude(keptOpen(transport), parts.host, options, parts.signal);
	// The socket was paused after the command, and a new reader does not resume it.
	socket.resume();
	const error = await serving.ended;
	await serving.finish();
	say({ exitCode: error === null ? 0 : 1, error }, "\0");
	await new Promise<void>((resolve) => socket.end(resolve));
}

/** Reads the first line of a connection; later bytes stay unread. Null if the relay disconnects first. */
function readCommand(socket: Socket): Promise<string | null> {
	return new Promise((resolve) => {
		let seen = Buffer.alloc(0);
		const settle = (line: string | null) => {
			socket.removeListener("data", take);
			socket.pause();
			resolve(line);
		};
		const take = (bytes: Buffer) => {
			seen = Buffer.concat([seen, bytes]);
			const end = seen.indexOf("\n");
			if (end === -1 && seen.length <= commandLimit) return;
			settle(end === -1 ? "" : seen.toString("utf8", 0, end));
			if (end !== -1 && end + 1 < seen.length) socket.unshift(seen.subarray(end + 1));
		};
		socket.on("data", take);
		socket.once("end", () => settle(null));
		socket.once("close", () => settle(null));
	});
}

/** Throws, with the reason, for a command that cannot be served here. */
async function toOptions(line: string, { host, home, files }: AttachParts): Promise<ClaudeOptions> {
	const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), commandSchema), line);
	if (!parsed.success) throw new Error("the command cannot be read.");
	const { version, argv, cwd, environment } = parsed.output;
	if (version !== productVersion)
		throw new Error(`the gateway is of version ${productVersion}, and this is ${version}.`);
	const flags = parseClaudeFlags(argv);
	if (!flags.readsFrames) throw new Error("it is not one that sends frames.");
	const options = await readClaudeOptions(flags, { currentDir: cwd, home }, files);
	await refuseUsed(options, host.sessions);
	return { ...options, environment: { ...environment, ...options.environment } };
}

/** A session in use would keep the options it was opened with, without this command's rules. */
async function refuseUsed({ session }: ClaudeOptions, sessions: SessionsApi): Promise<void> {
	if (session.kind === "new" || session.isForked) return;
	if (session.kind === "last") throw new Error("--continue is not served; use --resume.");
	await sessions.unload(session.id);
	const isUsed = (await sessions.loaded()).some(({ id }) => id === session.id);
	if (isUsed) throw new Error(`others use the session ${session.id}.`);
}

/** The command's result is sent after the front end closes the transport. */
function keptOpen(transport: LineTransport): LineTransport {
	return {
		receive: (onLine, onEnd) => transport.receive(onLine, onEnd),
		send: (text) => transport.send(text),
		ready: () => transport.ready(),
		isFull: () => transport.isFull(),
		flush: () => transport.flush(),
		gone: transport.gone,
		close() {},
	};
}
