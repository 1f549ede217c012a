// A worker claims and serves requested sessions, takes over those whose process died during a turn, and hands its own over at its end.
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createSecureServer } from "node:tls";
import type { SessionsApi } from "../api/kernel.ts";
import { type Clock, sleep } from "../base/clock.ts";
import { errorText, KernelError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { untilAnswered } from "../ports/store/postgres/waiting.ts";
import { createStreamTransport, type StreamLimits } from "../ports/transports/stream.ts";
import { serveKernel } from "../remote/kernel-server.ts";
import { admitFrontEnd, createSecret } from "./handshake.ts";
import { watchPulse } from "./pulse.ts";
import { type Registry, workChannel } from "./registry.ts";
import { TakeOvers } from "./take-overs.ts";
import { showWorkerAddress, type WorkerAddress } from "./worker-address.ts";
import { WorkerSessions } from "./worker-sessions.ts";

/** Milliseconds between two polls for work; a notification polls immediately. */
const lookInterval = 1_000;
/** Milliseconds for which a claimed but unused request reserves room. */
const claimSpan = 10_000;
/** Milliseconds between two removals of orphaned requests. */
const sweepInterval = 60_000;
/** Front-end connections, authenticated or not. */
const connectionLimit = 1_000;

export interface WorkerOptions {
	readonly sessions: SessionsApi;
	readonly registry: Registry;
	/** Database id of this process. Changes after its lease was lost. */
	processId(): Promise<string>;
	readonly tags: readonly string[];
	readonly capacity: number;
	/** The listening address (port 0: any), and the address for others (port 0: the listening port; null: the same). */
	readonly listen: WorkerAddress;
	readonly announced: WorkerAddress | null;
	/** PEM texts and certificate fingerprint; null for unencrypted connections. */
	readonly tls: { readonly certificate: string; readonly key: string; readonly fingerprint: string } | null;
	/** Prepares a working directory before a session there is created or opened. */
	readonly prepare: ((workDir: string | null, sessionId: string | null) => Promise<void>) | null;
	readonly limits: StreamLimits;
	readonly clock: Clock;
	readonly log: Log;
}

export interface WorkerNumbers {
	readonly connections: number;
	readonly sessions: number;
	readonly capacity: number;
	readonly takenOver: number;
	readonly isEnding: boolean;
}

export interface Worker {
	numbers(): WorkerNumbers;
	readonly address: string;
	/** Takes no more sessions, waits at most this long for running turns, then ends them. Other workers take over. */
	drain(milliseconds: number): Promise<void>;
	close(): Promise<void>;
}

/** Starts listening and taking sessions. Fails with the system error for an unusable address. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
	const { registry, log, clock, tls } = options;
	const secret = createSecret();
	/** Cancels the reservation timer of each claimed but unused request. */
	const claims: (() => void)[] = [];
	const { prepare } = options;
	const makeReady = async (workDir: string | null, sessionId: string | null): Promise<void> => {
		const known = workDir ?? (sessionId === null ? null : ((await registry.find(sessionId))?.workDir ?? null));
		await prepare?.(known, sessionId);
	};
	const sessions = new WorkerSessions(options.sessions, prepare === null ? null : makeReady, () => claims.shift()?.());
	const ending = new AbortController();
	const server = listenFor(options, secret, sessions, ending.signal);
	const port = await startListening(server, options.listen);
	const { listen, announced } = options;
	const address = showWorkerAddress({ host: announced?.host ?? listen.host, port: announced?.port || port });
	const announcement = { address, secret, fingerprint: tls?.fingerprint ?? null, tags: options.tags };
	/** The process id under which this worker was last announced. */
	let announcedAs: string | null = null;
	const takeOvers = new TakeOvers(options, sessions);

	const announce = async (): Promise<string> => {
		const id = await options.processId();
		if (id !== announcedAs) await registry.announce({ ...announcement, id, isEnding: false });
		announcedAs = id;
		return id;
	};

	const claim = async (id: string): Promise<void> => {
		const room = options.capacity - sessions.inUse - claims.length;
		if (room <= 0) return;
		const taken = await registry.claim(id, options.tags, room);
		// The oldest reservation ends first.
		for (const _ of taken) claims.push(clock.after(claimSpan, () => claims.shift(), true));
	};

	const sweeping = keepSweeping(options, ending.signal);
	let wake = () => {};
	registry.listen(workChannel, () => wake());
	const look = async (): Promise<void> => {
		try {
			const id = await announce();
			await claim(id);
			await takeOvers.run(ending.signal);
		} catch (thrown) {
			log.warn("A worker cannot look for work.", { cause: errorText(thrown) });
		}
	};
	const working = (async () => {
		while (!ending.signal.aborted) {
			const early = new AbortController();
			wake = () => early.abort();
			await look();
			if (ending.signal.aborted) return;
			await sleep(clock, lookInterval, AbortSignal.any([early.signal, ending.signal]));
		}
	})();
	await untilAnswered(announce, {
		clock,
		signal: ending.signal,
		onWait: (reason) => log.warn("A worker waits for the database.", { reason }),
	});

	return {
		address,
		numbers: () => ({
			connections: sessions.connections,
			sessions: sessions.inUse,
			capacity: options.capacity,
			takenOver: takeOvers.count,
			isEnding: ending.signal.aborted,
		}),
		async drain(milliseconds) {
			ending.abort();
			sessions.refuseTurns();
			await Promise.all([working, sweeping]);
			if (announcedAs !== null) {
				const announced = registry.announce({ ...announcement, id: announcedAs, isEnding: true });
				await announced.catch((thrown: unknown) =>
					log.warn("The end of a worker was not announced.", { error: thrown }),
				);
			}
			const late = new AbortController();
			const withdraw = clock.after(milliseconds, () => late.abort());
			await sessions.idle(clock, late.signal);
			withdraw();
			// Running turns end as cancelled; their ends are delivered before the connections close.
			await options.sessions.stop();
		},
		async close() {
			ending.abort();
			await Promise.all([working, sweeping]);
			server.close();
			sessions.endConnections();
		},
	};
}

async function keepSweeping({ registry, clock, log }: WorkerOptions, ending: AbortSignal): Promise<void> {
	while (!ending.aborted) {
		await registry.sweep().catch((thrown: unknown) => {
			log.info("Requests for workers were not removed.", { cause: errorText(thrown) });
		});
		await sleep(clock, sweepInterval, ending, true);
	}
}

function listenFor(
	{ tls, limits, clock, log }: WorkerOptions,
	secret: string,
	sessions: WorkerSessions,
	ending: AbortSignal,
): Server {
	const serve = async (socket: Socket): Promise<void> => {
		// Until the transport listens.
		socket.on("error", () => {});
		let isAdmitted = false;
		const isOver = new AbortController();
		const isSilent = new AbortController();
		const onSilent = () => {
			log.warn("A front end gives no sign of life over its connection, which is ended.", {
				from: socket.remoteAddress ?? null,
			});
			isSilent.abort();
		};
		try {
			await admitFrontEnd(socket, secret);
			sessions.connections += 1;
			isAdmitted = true;
			watchPulse({ arrived: () => socket.bytesRead, onSilent }, clock, isOver.signal);
			await serveKernel({
				sessions,
				transport: createStreamTransport(socket, limits),
				log,
				explain: (thrown) => sessions.explain(thrown),
				signal: AbortSignal.any([sessions.connectionsEnd, isSilent.signal]),
			});
		} catch (thrown) {
			const isKnown = thrown instanceof KernelError;
			log.info("A connection to this worker ended.", {
				from: socket.remoteAddress ?? null,
				cause: isKnown ? thrown.message : errorText(thrown),
				isEnding: ending.aborted,
			});
			socket.destroy();
		} finally {
			if (isAdmitted) sessions.connections -= 1;
			isOver.abort();
		}
	};
	const settings = { allowHalfOpen: true, noDelay: true };
	const server =
		tls === null
			? createServer(settings, (socket) => void serve(socket))
			: createSecureServer(
					{ ...settings, cert: tls.certificate, key: tls.key, minVersion: "TLSv1.2" },
					(socket) => void serve(socket),
				);
	server.maxConnections = connectionLimit;
	server.on("tlsClientError", () => {});
	return server;
}

function startListening(server: Server, { host, port }: WorkerAddress): Promise<number> {
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, host, () => {
			server.off("error", reject);
			const bound = server.address();
			resolve(bound === null || typeof bound === "string" ? port : bound.port);
		});
	});
}
