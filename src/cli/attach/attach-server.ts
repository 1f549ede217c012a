// The gateway's Unix socket: serves relayed commands with the gateway's sessions.
import { createServer, type Socket } from "node:net";
import path from "node:path";
import * as v from "valibot";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { productVersion } from "../../host/product.ts";
import { connectTo, listenPrivately } from "../../ports/network/unix-socket.ts";
import { type Outcome, readFirstLine, socketName } from "./attach-protocol.ts";
import { type PreparedCommand, prepareCommand, type RelayHost } from "./relayed-commands.ts";

const commandSchema = v.object({
	version: v.string(),
	argv: v.array(v.string()),
	cwd: v.pipe(v.string(), v.check(path.isAbsolute)),
	environment: v.record(v.string(), v.string()),
	umask: v.number(),
	/** Whether the environment names a gateway. */
	asked: v.boolean(),
});
export type RelayedCommand = v.InferOutput<typeof commandSchema>;

/** For the connection that represents the relay's process. */
const presenceSchema = v.strictObject({ command: v.string() });

export interface AttachParts {
	readonly relayHost: RelayHost;
	/** Why a command that does not ask for this gateway would not find the same in it; null if it would. */
	readonly differs: (command: RelayedCommand) => Promise<string | null>;
	readonly log: Log;
	readonly signal: AbortSignal;
}

/** Returns a stop function. If another gateway is listening, or the system refuses, runs without the socket. */
export async function startAttachServer(parts: AttachParts): Promise<{ close(): Promise<void> }> {
	const { relayHost, log } = parts;
	const { shareDir, files } = relayHost;
	const file = path.join(shareDir, socketName);
	const serving = new Set<Promise<void>>();
	const commands: Commands = new Map();
	const server = createServer({ allowHalfOpen: true }, (socket) => {
		const served = serveRelay(socket, parts, commands)
			.catch((thrown: unknown) => log.warn("A relayed command failed.", { error: thrown }))
			.finally(() => {
				socket.destroySoon();
				serving.delete(served);
			});
		serving.add(served);
	});
	try {
		if (await isServed(file)) throw new Error("another gateway is listening there");
		await files.remove(file);
		await listenPrivately(server, file);
	} catch (thrown) {
		log.warn("SDK commands cannot attach to this gateway.", { socket: file, cause: errorText(thrown) });
	}
	return {
		async close() {
			server.close();
			await Promise.all(serving);
		},
	};
}

async function isServed(file: string): Promise<boolean> {
	const socket = await connectTo(file).catch(() => null);
	socket?.destroy();
	return socket !== null;
}

interface TakenCommand {
	readonly stopping: AbortController;
	/** Resolves when the relay stands by it. */
	readonly attended: Deferred<void>;
}
type Commands = Map<string, TakenCommand>;

/** Milliseconds for a relay to stand by its command. */
const patience = 5000;

async function serveRelay(socket: Socket, parts: AttachParts, commands: Commands): Promise<void> {
	socket.on("error", () => {});
	const first = await readFirstLine(socket);
	if (first === null) return;
	const { line, rest } = first;
	if (rest.length > 0) socket.unshift(rest);
	const named = v.safeParse(v.pipe(v.string(), v.parseJson(), presenceSchema), line);
	const attended = named.success ? commands.get(named.output.command) : undefined;
	if (attended !== undefined) return await attend(socket, attended);
	const say = (outcome: Outcome, mark = "") => socket.write(`${mark}${JSON.stringify(outcome)}\n`);
	const prepared = await prepare(line, parts).catch((thrown: unknown) => errorText(thrown));
	if (typeof prepared === "string") {
		say({ refused: prepared });
		return;
	}
	const name = parts.relayHost.host.identifiers.uuid();
	const command = { stopping: new AbortController(), attended: createDeferred<void>() };
	commands.set(name, command);
	say({ taken: true, command: name, notice: prepared.notice });
	const impatience = setTimeout(() => {
		command.stopping.abort();
		command.attended.resolve();
	}, patience);
	try {
		await command.attended.promise;
		clearTimeout(impatience);
		say(await prepared.run(socket, AbortSignal.any([parts.signal, command.stopping.signal])), "\0");
	} finally {
		commands.delete(name);
	}
	await new Promise<void>((resolve) => socket.end(resolve));
}

/** Ends the command with the first signal, or with the relay. */
async function attend(socket: Socket, { stopping, attended }: TakenCommand): Promise<void> {
	attended.resolve();
	await new Promise((resolve) => {
		for (const event of ["data", "end", "close"]) socket.once(event, resolve);
		socket.resume();
	});
	stopping.abort();
}

/** Throws, with the reason, for a command that cannot be served here. */
async function prepare(line: string, { relayHost, differs }: AttachParts): Promise<PreparedCommand> {
	const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), commandSchema), line);
	if (!parsed.success) throw new Error("the command cannot be read.");
	const command = parsed.output;
	if (command.version !== productVersion)
		throw new Error(`the gateway has version ${productVersion}, this program ${command.version}.`);
	if (command.umask !== process.umask()) throw new Error("the gateway has a different umask.");
	const difference = command.asked ? null : await differs(command);
	if (difference !== null) throw new Error(difference);
	return await prepareCommand(command, relayHost);
}
