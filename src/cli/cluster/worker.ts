import { X509Certificate } from "node:crypto";
import { hostname } from "node:os";
import path from "node:path";
import type { FaultOwner } from "../../api/kernel.ts";
import { aborted } from "../../base/abort.ts";
import { systemClock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import { randomIdentifiers } from "../../base/ids.ts";
import { DatabaseRegistry } from "../../cluster/registry.ts";
import { startWorker, type Worker } from "../../cluster/worker.ts";
import { showWorkerAddress, type WorkerAddress } from "../../cluster/worker-address.ts";
import { workerLimits } from "../../cluster/worker-limits.ts";
import { isLoopback, isWildcard } from "../../frontends/gateway/access/access.ts";
import { createTokens, tokenFile } from "../../frontends/gateway/access/tokens.ts";
import type { Installation } from "../../host/installation.ts";
import { nobody } from "../../kernel/session/fault-owner.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import { untilAnswered } from "../../ports/store/postgres/waiting.ts";
import type { ProgramOptions } from "../arguments/command-line.ts";
import { findNamedProgram } from "../arguments/named-program.ts";
import type { WorkerFlags } from "../arguments/options/worker-options.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { announce } from "../command-output.ts";
import { endInTime } from "../process/process-exit.ts";
import { type ProgramProcess, takeProcess } from "../process/program-process.ts";
import { writeNotice } from "../process/standard-error.ts";
import { readTls } from "../process/tls-files.ts";
import { endProgram, startHost } from "../program/program.ts";
import type { StartedKernel } from "../program/started-kernel.ts";
import { createPreparation } from "./workspace-preparation.ts";

const noSharedStore =
	'Workers share a store in PostgreSQL: set [store] type = "postgres" and its url, or AGENTWIRE_STORE_URL.';

export async function runClusterWorker(
	executable: string,
	options: ProgramOptions,
	flags: WorkerFlags,
	installation: Installation,
): Promise<number> {
	refuseUnencrypted(flags);
	const stopping = new AbortController();
	/** Aborts at the second signal, which skips the wait for running turns. */
	const hurrying = new AbortController();
	let faultOwner = (): FaultOwner | null => null;
	let isWorking = false;
	const taken = takeProcess(options, installation, {
		onSignal() {
			// No turns are running yet, and a startup dependency such as the database may not respond.
			if (!isWorking) endInTime(() => 0, taken.log);
			if (stopping.signal.aborted) hurrying.abort();
			stopping.abort();
		},
		faultOwner: () => faultOwner(),
		onBroken: () => {
			stopping.abort();
			hurrying.abort();
		},
	});
	const command = findNamedProgram("--prepare", flags.prepare, taken);
	const started = await startHost(executable, options, taken, stopping.signal, {
		opening: "expired",
		hasMetrics: flags.operations !== null,
		expectsClients: true,
	});
	if (started === null) return 0;
	if ("exitCode" in started) return started.exitCode;
	const { log } = taken;
	const host = await started.openHost(null, null, { endsInterruptedTurns: true });
	faultOwner = () => host.faultOwner() ?? nobody;
	const program = { ...started, session: null };
	const fail = async (text: string) => {
		writeNotice(`${text}\n`);
		return await endProgram(executable, program, { finish: () => host.sessions.stop(), exitCode: () => 1 });
	};
	const { sharedStore, configuration } = started;
	if (sharedStore === null) return await fail(noSharedStore);
	let worker: Worker;
	let operations: OperationsServer | null;
	try {
		const why = await untilAnswered(() => sharedStore.whyUnfit(), {
			clock: systemClock,
			signal: stopping.signal,
			onWait(reason) {
				log.warn("The worker waits for the database.", { reason });
				writeNotice(`Waiting for the database: ${reason}\n`);
			},
		});
		if (why !== null) return await fail(`The worker could not start: ${why}`);
		const tls = await readTls(flags.tls, taken.place, createDiskFiles());
		worker = await startWorker({
			sessions: host.sessions,
			registry: new DatabaseRegistry(sharedStore.database),
			processId: () => sharedStore.processId(),
			tags: flags.tags,
			capacity: flags.capacity ?? configuration.agentwire.limits.loadedSessions,
			listen: flags.listen,
			announced: flags.announced ?? (isWildcard(flags.listen.host) ? { host: hostname(), port: 0 } : null),
			tls: tls === null ? null : { ...tls, fingerprint: new X509Certificate(tls.certificate).fingerprint256 },
			prepare: command === null ? null : createPreparation(command, taken, hurrying.signal),
			limits: workerLimits,
			clock: systemClock,
			log,
		});
		operations =
			flags.operations === null ? null : await startOperations(flags.operations, tls, worker, started, taken);
	} catch (thrown) {
		if (thrown instanceof UsageError) throw thrown;
		if (stopping.signal.aborted)
			return await endProgram(executable, program, { finish: async () => {}, exitCode: () => 0 });
		return await fail(`The worker could not start at ${showPlaces(flags)}: ${errorText(thrown)}`);
	}
	const id = await sharedStore.processId();
	// An earlier signal has already started the shutdown.
	isWorking = !stopping.signal.aborted;
	const isAnnounced = await announce(showStarted(flags, id, worker, operations));
	if (!isAnnounced) stopping.abort();
	await aborted(stopping.signal);
	if (!hurrying.signal.aborted) {
		if (!flags.json) writeNotice("Waiting for running turns; a second signal ends them at once.\n");
		await Promise.race([worker.drain(flags.drain * 1000), aborted(hurrying.signal)]);
	}
	endInTime(() => 0, log);
	return await endProgram(executable, program, {
		async finish() {
			await host.sessions.stop();
			await worker.close();
			await operations?.close();
		},
		exitCode: () => (process.exitCode === 1 || !isAnnounced ? 1 : 0),
	});
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

interface OperationsServer {
	readonly url: string;
	close(): Promise<void>;
}

async function startOperations(
	{ host, port }: WorkerAddress,
	tls: { readonly certificate: string; readonly key: string } | null,
	worker: Worker,
	{ kernel, telemetry }: StartedKernel,
	{ shareDir, log }: ProgramProcess,
): Promise<OperationsServer> {
	const [{ startOperationsServer }, { createReadiness }, { openMetricsType }] = await Promise.all([
		import("../../frontends/gateway/operations-server.ts"),
		import("../../host/telemetry/readiness.ts"),
		import("../../host/telemetry/open-metrics.ts"),
	]);
	const files = createDiskFiles(privateBelow(shareDir));
	const tokens = createTokens(path.join(shareDir, tokenFile), files, randomIdentifiers, process.getuid?.() ?? null);
	await tokens.prepare(false);
	const answers = createReadiness(() => kernel.workDirOf("readiness"), systemClock);
	const server = await startOperationsServer({
		host,
		port,
		tls,
		tokens,
		operations: {
			isReady: async () => !worker.numbers().isEnding && (await answers()),
			async metrics() {
				const numbers = { ...worker.numbers(), loadedSessions: kernel.loadedSessions };
				return { type: openMetricsType, text: telemetry?.metrics.text(null, numbers) ?? "" };
			},
		},
		clock: systemClock,
		log,
	});
	const url = `${tls === null ? "http" : "https"}://${showWorkerAddress({ host, port: server.port })}`;
	return { url, close: () => server.close() };
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
