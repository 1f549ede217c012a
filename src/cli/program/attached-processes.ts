// Each end proves that it can read the gateway's token, which sandboxed commands cannot.
import type { Socket } from "node:net";
import path from "node:path";
import type { SessionsApi } from "../../api/kernel.ts";
import { errorText, systemErrorCode } from "../../base/errors.ts";
import { randomIdentifiers } from "../../base/ids.ts";
import { admitFrontEnd, meetWorker } from "../../cluster/handshake.ts";
import { OwnedSessions, type Owners } from "../../cluster/owned-sessions.ts";
import { workerLimits } from "../../cluster/worker-limits.ts";
import { createTokens, tokenFile } from "../../frontends/gateway/access/tokens.ts";
import type { Kernel } from "../../kernel/hosting/kernel.ts";
import { connectTo } from "../../ports/network/unix-socket.ts";
import { createStreamTransport } from "../../ports/transports/stream.ts";
import { serveKernel } from "../../remote/kernel-server.ts";
import { connectKernel, type RemoteKernel } from "../../remote/remote-kernel.ts";
import { type SocketParts, socketOf } from "./session-socket.ts";

/** Milliseconds for a process to answer. */
const patience = 5_000;

async function readSecret({ shareDir, files }: SocketParts): Promise<string> {
	const tokens = createTokens(path.join(shareDir, tokenFile), files, randomIdentifiers, process.getuid?.() ?? null);
	await tokens.prepare(false);
	const secret = await tokens.find("control");
	if (secret === null) throw new Error(`${tokenFile} has no token with the scope "control".`);
	return secret;
}

export async function serveAttached(
	socket: Socket,
	sessions: SessionsApi,
	parts: SocketParts,
	signal: AbortSignal,
): Promise<void> {
	await admitFrontEnd(socket, await readSecret(parts));
	await serveKernel({ sessions, transport: createStreamTransport(socket, workerLimits), log: parts.log, signal });
}

/** The sessions of this process, and of those that own others. */
export function attachToOwners(local: SessionsApi, kernel: Kernel, parts: SocketParts): SessionsApi {
	return new OwnedSessions(local, new ReachedOwners(kernel, parts));
}

class ReachedOwners implements Owners {
	readonly #kernel: Kernel;
	readonly #parts: SocketParts;
	readonly #reached = new Map<number, Promise<RemoteKernel | null>>();
	#isClosed = false;

	constructor(kernel: Kernel, parts: SocketParts) {
		this.#kernel = kernel;
		this.#parts = parts;
	}

	async reach(sessionId: string, workDir?: string): Promise<RemoteKernel | null> {
		const owner = await this.#kernel.ownerOf(sessionId, workDir);
		if (owner === null || owner.pid === null || this.#isClosed) return null;
		const { pid } = owner;
		const known = this.#reached.get(pid);
		if (known !== undefined) return await known;
		const connecting = this.#connect(pid);
		this.#reached.set(pid, connecting);
		const kernel = await connecting;
		const forget = () => this.#reached.delete(pid);
		kernel?.lost.addEventListener("abort", forget, { once: true });
		if (kernel === null || kernel.lost.aborted) forget();
		return kernel;
	}

	async reached(): Promise<readonly RemoteKernel[]> {
		return (await Promise.all(this.#reached.values())).filter((kernel) => kernel !== null);
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		await Promise.all((await this.reached()).map((kernel) => kernel.close()));
	}

	/** Null for a process that cannot be used, such as one of another version. */
	async #connect(pid: number): Promise<RemoteKernel | null> {
		const { shareDir, files, log } = this.#parts;
		const file = socketOf(shareDir, pid);
		let socket: Socket;
		try {
			socket = await connectTo(file);
		} catch (thrown) {
			// Left behind by an earlier process with this id.
			if (systemErrorCode(thrown) === "ECONNREFUSED") await files.remove(file);
			return null;
		}
		try {
			await meetWorker(socket, await readSecret(this.#parts));
			return await connectKernel(createStreamTransport(socket, workerLimits), log, AbortSignal.timeout(patience));
		} catch (thrown) {
			log.info("The process that owns a session cannot be attached to.", { pid, cause: errorText(thrown) });
			socket.destroy();
			return null;
		}
	}
}
