// One connection per worker. A hung worker leaves it open, so it is closed when the database or the connection shows no sign of life.
import { connect, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import type { Clock } from "../base/clock.ts";
import { errorText, KernelError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { createStreamTransport, type StreamLimits } from "../ports/transports/stream.ts";
import { connectKernel, type RemoteKernel } from "../remote/remote-kernel.ts";
import { meetWorker } from "./handshake.ts";
import { watchPulse } from "./pulse.ts";
import type { Registry, WorkerPlace } from "./registry.ts";
import { readWorkerAddress } from "./worker-address.ts";
import { announcesOther, otherVersion } from "./worker-version.ts";

/** Milliseconds to connect. */
const patience = 5_000;
/** Milliseconds between two liveness checks. */
const lookInterval = 1_000;

export interface ConnectionParts {
	readonly registry: Pick<Registry, "workers">;
	readonly limits: StreamLimits;
	readonly clock: Clock;
	readonly log: Log;
}

export class WorkerConnections {
	readonly #parts: ConnectionParts;
	readonly #open = new Map<string, Promise<RemoteKernel>>();
	/** Workers of other versions already logged. */
	readonly #refused = new Set<string>();
	/** Cancels the next check; null without connections. */
	#withdraw: (() => void) | null = null;
	#isClosed = false;

	constructor(parts: ConnectionParts) {
		this.#parts = parts;
	}

	/** Whether all connections are closed because this process is ending. */
	get isClosed(): boolean {
		return this.#isClosed;
	}

	/** The kernel of a worker. Fails with `closed` when unreachable, and with `unsupported` for another version. */
	async reach(worker: WorkerPlace): Promise<RemoteKernel> {
		if (this.#isClosed) throw new KernelError("closed", "The program is ending.");
		const known = this.#open.get(worker.id);
		if (known !== undefined) return await known;
		if (announcesOther(worker)) throw this.#refuse(worker);
		const opening = this.#connect(worker);
		this.#open.set(worker.id, opening);
		this.#watch();
		const forget = () => {
			if (this.#open.get(worker.id) === opening) this.#open.delete(worker.id);
		};
		try {
			const kernel = await opening;
			kernel.lost.addEventListener("abort", forget, { once: true });
			if (kernel.lost.aborted) forget();
			return kernel;
		} catch (thrown) {
			forget();
			throw thrown;
		}
	}

	/** Ends all connections; the sessions continue. */
	async close(): Promise<void> {
		this.#isClosed = true;
		this.#withdraw?.();
		const closing = [...this.#open.values()].map(async (opening) => {
			const kernel = await opening.catch(() => null);
			await kernel?.close();
		});
		this.#open.clear();
		await Promise.all(closing);
	}

	#refuse(worker: WorkerPlace): KernelError {
		const error = otherVersion(worker);
		if (!this.#refused.has(worker.id)) this.#parts.log.warn("A worker is of another version.", { why: error.message });
		this.#refused.add(worker.id);
		return error;
	}

	#watch(): void {
		if (this.#withdraw !== null || this.#isClosed || this.#open.size === 0) return;
		this.#withdraw = this.#parts.clock.after(
			lookInterval,
			() => {
				void this.#endDead().finally(() => {
					this.#withdraw = null;
					this.#watch();
				});
			},
			true,
		);
	}

	async #endDead(): Promise<void> {
		const { registry, log } = this.#parts;
		const workers = await registry.workers().catch(() => null);
		// While the database is unavailable, no process can take over their sessions either.
		if (workers === null) return;
		const living = new Set(workers.map(({ id }) => id));
		for (const [id, opening] of this.#open) {
			if (living.has(id)) continue;
			log.warn("A worker gives no sign of life; its connection is ended.", { worker: id });
			this.#open.delete(id);
			void opening.then((kernel) => kernel.close()).catch(() => {});
		}
	}

	async #connect(worker: WorkerPlace): Promise<RemoteKernel> {
		const socket = await openSocket(worker);
		try {
			await meetWorker(socket, worker.secret);
			const { limits, clock, log } = this.#parts;
			const transport = createStreamTransport(socket, limits);
			const kernel = await connectKernel(transport, log, AbortSignal.timeout(patience)).catch((thrown: unknown) => {
				throw thrown instanceof KernelError && thrown.code === "unsupported" ? this.#refuse(worker) : thrown;
			});
			const onSilent = () => {
				log.warn("A worker gives no sign of life over its connection, which is ended.", { worker: worker.id });
				void kernel.close(`The worker ${worker.id} gave no sign of life.`);
			};
			const onPulse = () => void kernel.ask().catch(() => {});
			watchPulse({ arrived: () => socket.bytesRead, onPulse, onSilent }, clock, kernel.lost);
			return kernel;
		} catch (thrown) {
			socket.destroy();
			throw thrown;
		}
	}
}

function openSocket({ id, address, fingerprint }: WorkerPlace): Promise<Socket> {
	const unreachable = (why: string) =>
		new KernelError("closed", `The worker ${id} cannot be reached at ${address}: ${why}.`);
	const place = readWorkerAddress(address);
	if (place === null) return Promise.reject(unreachable("this is not a host and port"));
	return new Promise((resolve, reject) => {
		const settings = { ...place, allowHalfOpen: true, noDelay: true };
		// The certificate must match the fingerprint in the database; its issuer does not matter.
		const secure =
			fingerprint === null ? null : connectSecurely({ ...settings, rejectUnauthorized: false, minVersion: "TLSv1.2" });
		const socket = secure ?? connect(settings);
		const fail = (why: string) => {
			socket.destroy();
			reject(unreachable(why));
		};
		const timer = setTimeout(() => fail("it does not answer"), patience);
		const onError = (error: Error) => {
			clearTimeout(timer);
			fail(errorText(error));
		};
		socket.once("error", onError);
		socket.once(secure === null ? "connect" : "secureConnect", () => {
			clearTimeout(timer);
			socket.off("error", onError);
			// Until the transport listens.
			socket.on("error", () => {});
			if (secure !== null && secure.getPeerCertificate().fingerprint256 !== fingerprint) {
				fail("its certificate is not the one that it announced");
				return;
			}
			resolve(socket);
		});
	});
}
