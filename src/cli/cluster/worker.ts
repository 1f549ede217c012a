import { X509Certificate } from "node:crypto";
import { hostname } from "node:os";
import type { FaultOwner } from "../../api/kernel.ts";
import { aborted } from "../../base/abort.ts";
import { systemClock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import { DatabaseRegistry } from "../../cluster/registry.ts";
import { startWorker, type Worker } from "../../cluster/worker.ts";
import { showWorkerAddress } from "../../cluster/worker-address.ts";
import { workerLimits } from "../../cluster/worker-limits.ts";
import { isLoopback, isWildcard } from "../../frontends/gateway/access/access.ts";
import type { Installation } from "../../host/installation.ts";
import type { LogFile } from "../../host/log/log-file.ts";
import { nobody } from "../../kernel/session/fault-owner.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { PostgresStore } from "../../ports/store/postgres/postgres-store.ts";
import { untilAnswered } from "../../ports/store/postgres/waiting.ts";
import type { ProgramOptions } from "../arguments/command-line.ts";
import { findNamedProgram } from "../arguments/named-program.ts";
import type { WorkerFlags } from "../arguments/options/worker-options.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { announce } from "../command-output.ts";
import { endInTime } from "../process/process-exit.ts";
import { takeProcess } from "../process/program-process.ts";
import { writeNotice } from "../process/standard-error.ts";
import { readTls } from "../process/tls-files.ts";
import { endProgram, type ProgramEnd, startHost } from "../program/program.ts";
import { type OperationsServer, startOperations } from "./worker-operations.ts";
import { createPreparation } from "./workspace-preparation.ts";

const noSharedStore =
	'Workers share a store in PostgreSQL: set [store] type = "postgres" and its url, or AGENTWIRE_STORE_URL.';

class Stopping {
	readonly begun = new AbortController();
	/** Aborts at the second signal, which skips the wait for running turns. */
	readonly hurried = new AbortController();
	isWorking = false;

	hurry(): void {
		this.begun.abort();
		this.hurried.abort();
	}

	onSignal(log: LogFile): void {
		// No turns are running yet, and a startup dependency such as the database may not respond.
		if (!this.isWorking) endInTime(() => 0, log);
		if (this.begun.signal.aborted) this.hurried.abort();
		this.begun.abort();
	}
}

export async function runClusterWorker(
	executable: string,
	options: ProgramOptions,
	flags: WorkerFlags,
	installation: Installation,
): Promise<number> {
	refuseUnencrypted(flags);
	const stopping = new Stopping();
	const begun = stopping.begun.signal;
	let faultOwner = (): FaultOwner | null => null;
	const taken = takeProcess(options, installation, {
		onSignal: () => stopping.onSignal(taken.log),
		faultOwner: () => faultOwner(),
		onBroken: () => stopping.hurry(),
	});
	const command = findNamedProgram("--prepare", flags.prepare, taken);
	const started = await startHost(executable, options, taken, begun, {
		opening: "expired",
		hasMetrics: flags.operations !== null,
		expectsClients: true,
	});
	if (started === null) return 0;
	if ("exitCode" in started) return started.exitCode;
	const host = await started.openHost(null, null, { endsInterruptedTurns: true });
	faultOwner = () => host.faultOwner() ?? nobody;
	const end = (way: ProgramEnd) => endProgram(executable, { ...started, session: null }, way);
	const fail = async (text: string) => {
		writeNotice(`${text}\n`);
		return await end({ finish: () => host.sessions.stop(), exitCode: () => 1 });
	};
	const { sharedStore } = started;
	if (sharedStore === null) return await fail(noSharedStore);
	let worker: Worker;
	let operations: OperationsServer | null;
	try {
		const why = await whyUnfit(sharedStore, begun, taken.log);
		if (why !== null) return await fail(`The worker could not start: ${why}`);
		const tls = await readTls(flags.tls, taken.place, createDiskFiles());
		worker = await startWorker({
			sessions: host.sessions,
			registry: new DatabaseRegistry(sharedStore.database),
			processId: () => sharedStore.processId(),
			tags: flags.tags,
			capacity: flags.capacity ?? started.configuration.agentwire.limits.loadedSessions,
			listen: flags.listen,
			announced: flags.announced ?? (isWildcard(flags.listen.host) ? { host: hostname(), port: 0 } : null),
			tls: tls === null ? null : { ...tls, fingerprint: new X509Certificate(tls.certificate).fingerprint256 },
			prepare: command === null ? null : createPreparation(command, taken, stopping.hurried.signal),
			limits: workerLimits,
			clock: systemClock,
			log: taken.log,
		});
		operations =
			flags.operations === null ? null : await startOperations(flags.operations, tls, worker, started, taken);
	} catch (thrown) {
		if (thrown instanceof UsageError) throw thrown;
		if (begun.aborted) return await end({ finish: async () => {}, exitCode: () => 0 });
		return await fail(`The worker could not start at ${showPlaces(flags)}: ${errorText(thrown)}`);
	}
	const id = await sharedStore.processId();
	// An earlier signal has already started the shutdown.
	stopping.isWorking = !begun.aborted;
	const isAnnounced = await announce(showStarted(flags, id, worker, operations));
	if (!isAnnounced) stopping.begun.abort();
	await aborted(begun);
	await drain(worker, flags, stopping.hurried.signal);
	endInTime(() => 0, taken.log);
	return await end({
		async finish() {
			await host.sessions.stop();
			await worker.close();
			await operations?.close();
		},
		exitCode: () => (process.exitCode === 1 || !isAnnounced ? 1 : 0),
	});
}

function whyUnfit(store: PostgresStore, signal: AbortSignal, log: LogFile): Promise<string | null> {
	return untilAnswered(() => store.whyUnfit(), {
		clock: systemClock,
		signal,
		onWait(reason) {
			log.warn("The worker waits for the database.", { reason });
			writeNotice(`Waiting for the database: ${reason}\n`);
		},
	});
}

async function drain(worker: Worker, flags: WorkerFlags, hurried: AbortSignal): Promise<void> {
	if (hurried.aborted) return;
	if (!flags.json) writeNotice("Waiting for running turns; a second signal ends them at once.\n");
	await Promise.race([worker.drain(flags.drain * 1000), aborted(hurried)]);
}

function showPlaces({ listen, operations }: WorkerFlags): string {
	return [listen, ...(operations === null ? [] : [operations])].map(showWorkerAddress).join(" and ");
}

function showStarted(
	{ json, tags }: WorkerFlags,
	id: string,
	{ address }: Worker,
	operations: OperationsServer | null,
): string {
	if (!json) return `Worker ${id} runs sessions at ${address}. Stop with Ctrl+C.\n`;
	const urls = operations === null ? {} : { operations: operations.url };
	return `${JSON.stringify({ worker: id, address, tags, ...urls })}\n`;
}

/** Throws UsageError for unencrypted connections reachable from other machines, unless the flags allow them. */
function refuseUnencrypted({ listen, operations, tls, allowsUnencrypted }: WorkerFlags): void {
	if (tls !== null || allowsUnencrypted) return;
	if (operations !== null && !isLoopback(operations.host)) {
		throw new UsageError(
			`--operations ${showWorkerAddress(operations)}: other machines can reach this address, and the metrics token would be sent unencrypted. Add --tls-cert and --tls-key, or --allow-unencrypted on a private network.`,
		);
	}
	if (isLoopback(listen.host)) return;
	throw new UsageError(
		`--listen ${showWorkerAddress(listen)}: other machines can reach this address, and conversations would be sent unencrypted. Add --tls-cert and --tls-key, or --allow-unencrypted on a private network.`,
	);
}
