import path from "node:path";
import { systemClock } from "../../base/clock.ts";
import { randomIdentifiers } from "../../base/ids.ts";
import type { Worker } from "../../cluster/worker.ts";
import { showWorkerAddress, type WorkerAddress } from "../../cluster/worker-address.ts";
import { createTokens, tokenFile } from "../../frontends/gateway/access/tokens.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import type { ProgramProcess } from "../process/program-process.ts";
import type { StartedKernel } from "../program/started-kernel.ts";

export interface OperationsServer {
	readonly url: string;
	close(): Promise<void>;
}

export async function startOperations(
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
