import { networkInterfaces } from "node:os";
import path from "node:path";
import type { SessionsApi } from "../../api/kernel.ts";
import { aborted, orAbort } from "../../base/abort.ts";
import { systemClock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import { randomIdentifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { isLoopback, isWildcard } from "../../frontends/gateway/access/access.ts";
import { createTokens, tokenFile } from "../../frontends/gateway/access/tokens.ts";
import { type Gateway, type GatewayOptions, startGateway } from "../../frontends/gateway/gateway.ts";
import type { Operations } from "../../frontends/gateway/operations.ts";
import { readPage } from "../../frontends/gateway/page.ts";
import { createQueueStore } from "../../frontends/gateway/queues/queue-store.ts";
import type { Setup } from "../../frontends/gateway/setup.ts";
import type { Converse } from "../../frontends/gateway/sockets/sockets.ts";
import type { HostApi } from "../../frontends/shared/dialect.ts";
import type { Installation } from "../../host/installation.ts";
import { productName, productVersion } from "../../host/product.ts";
import { nobody } from "../../kernel/session/fault-owner.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { Files } from "../../ports/files/port.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import type { ProgramOptions } from "../arguments/command-line.ts";
import { findNamedProgram, type NamedProgram } from "../arguments/named-program.ts";
import type { GatewayFlags, PageFlags } from "../arguments/options/gateway-options.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { announce } from "../command-output.ts";
import { openSecretly } from "../process/browser.ts";
import type { ProgramProcess } from "../process/program-process.ts";
import { writeNotice } from "../process/standard-error.ts";
import { takeStoppableProcess } from "../process/stoppable-process.ts";
import { readTls } from "../process/tls-files.ts";
import { endProgram, startHost } from "../program/program.ts";
import type { StartedKernel } from "../program/started-kernel.ts";
import { createDirectoryFinder } from "./directories.ts";
import { runNoticeCommand } from "./notice-command.ts";
import { findRunningGateway, noteRunningGateway } from "./running-gateway.ts";
import type { SetupParts } from "./setup.ts";
import { describeStartFailure } from "./start-failure.ts";

const queueDirectory = "gateway-queues";

const noOpener = "No browser could be started; open the address above yourself.\n";

/** File that redirects a browser to the page. */
const openingFile = "open-page.html";

export async function runGateway(
	executable: string,
	options: ProgramOptions,
	flags: GatewayFlags,
	installation: Installation,
): Promise<number> {
	refuseUnmeantAddress(flags);
	const { taken, stopping, setFaultOwner } = takeStoppableProcess(options, installation);
	if (flags.page !== null && (flags.page.asksStatus || flags.page.takesRunning)) {
		const code = await openRunning(flags, flags.page, taken);
		if (code !== null) return code;
	}
	const noticeCommand = findNamedProgram("--notify", flags.notify, taken);
	const started = await startHost(executable, options, taken, stopping.signal, {
		opening: "expired",
		hasMetrics: true,
		expectsClients: true,
	});
	if (started === null) return 0;
	if ("exitCode" in started) return started.exitCode;
	const { place, environment, shareDir, log } = taken;
	const host = await openGatewayHost(started, log);
	setFaultOwner(() => host.faultOwner() ?? nobody);
	const program = { ...started, session: null };
	const files = createDiskFiles(privateBelow(shareDir));
	const tokensPath = path.join(shareDir, tokenFile);
	const tokens = createTokens(tokensPath, files, randomIdentifiers, process.getuid?.() ?? null);
	let gateway: Gateway;
	try {
		await refuseOtherTables(started, stopping.signal);
		await tokens.prepare(flags.renewsTokens);
		const page = flags.page === null ? null : await readBuiltPage(installation.pageDir, files);
		gateway = await startGateway({
			sessions: host.sessions,
			...(host.workers === undefined ? {} : { workers: host.workers }),
			server: { name: productName, version: productVersion },
			address: flags.address,
			port: flags.port,
			names: isWildcard(flags.address) ? [...flags.names, ...machineAddresses()] : flags.names,
			tls: await readTls(flags.tls, place, files),
			tokens,
			setup: host.setup === null ? null : createLazySetup(host.setup),
			...(host.workers === undefined ? { findDirectories: createDirectoryFinder(place, files) } : {}),
			queues: createQueueStore(path.join(shareDir, queueDirectory), files, log),
			page,
			converse: createConverse(started, host, log),
			...(await createOperations(started)),
			...createTracing(started),
			clock: systemClock,
			log,
		});
	} catch (thrown) {
		if (thrown instanceof UsageError) throw thrown;
		writeNotice(`${await describeStartFailure(thrown, flags)}\n`);
		return await endProgram(executable, program, { finish: () => host.sessions.stop(), exitCode: () => 1 });
	}
	const attachments = await startAttachments(host, options, started, { taken, files, signal: stopping.signal });
	const endNotices = await startNotices(noticeCommand, host.sessions, taken, stopping.signal);
	const token = flags.page === null ? null : await tokens.find("control");
	const url = toUrl(flags, gateway.port);
	const address = token === null ? null : `${url}/#token=${token}`;
	const isAnnounced = await announce(toAnnouncement(flags, url, address, tokensPath));
	if (!isAnnounced) stopping.abort();
	else if (flags.page?.showsCode === true && address !== null) await showCode(address, flags);
	let removeOpening = async () => {};
	const forget = flags.page === null ? async () => {} : await noteRunningGateway(shareDir, url, files);
	if (isAnnounced && flags.page?.opens === true && address !== null) {
		const file = path.join(shareDir, openingFile);
		const { isOpened, remove } = await openSecretly(new URL(address), file, files, environment);
		removeOpening = remove;
		if (!isOpened) writeNotice(noOpener);
	}
	await aborted(stopping.signal);
	return await endProgram(executable, program, {
		async finish() {
			// The streams receive the ends of their turns before they close.
			endNotices();
			await removeOpening();
			await forget();
			await host.sessions.stop();
			await attachments.close();
			await gateway.close();
		},
		exitCode: () => (process.exitCode === 1 || !isAnnounced ? 1 : 0),
	});
}

/** Opens the running gateway, or reports that none is running; null means start one. */
async function openRunning(
	flags: GatewayFlags,
	{ opens, showsCode, asksStatus }: PageFlags,
	{ environment, shareDir }: ProgramProcess,
): Promise<number | null> {
	const files = createDiskFiles(privateBelow(shareDir));
	const running = await findRunningGateway(shareDir, files);
	if (running === null) {
		if (!asksStatus) return null;
		await announce(
			flags.json
				? `${JSON.stringify({ url: null })}\n`
				: "The page is not being served. Start it with: agentwire web\n",
		);
		return 1;
	}
	const { url, pid } = running;
	const tokensPath = path.join(shareDir, tokenFile);
	const token = await createTokens(tokensPath, files, randomIdentifiers, process.getuid?.() ?? null).find("control");
	const address = `${url}/#token=${token ?? ""}`;
	const words = `The page of your sessions: ${address}\nIt is served by process ${pid}. Anyone with this address can run commands here.\n`;
	if (!(await announce(flags.json ? `${JSON.stringify({ url, tokens: tokensPath, page: address, pid })}\n` : words)))
		return 1;
	if (asksStatus) return 0;
	if (showsCode) await showCode(address, flags);
	// The gateway removes the redirect file when it stops.
	const file = path.join(shareDir, openingFile);
	if (opens && !(await openSecretly(new URL(address), file, files, environment)).isOpened) writeNotice(noOpener);
	return 0;
}

/** Sessions in a shared store run in its workers. */
async function openGatewayHost(
	started: StartedKernel,
	log: Log,
): Promise<Awaited<ReturnType<StartedKernel["openHost"]>> & Pick<GatewayOptions, "workers">> {
	const host = await started.openHost(null, null, { attaches: true });
	if (started.sharedStore === null) return host;
	const { openClusterSessions } = await import("../cluster/cluster-front-end.ts");
	const sessions = openClusterSessions(host.sessions, started.sharedStore, log);
	return { ...host, sessions, workers: () => sessions.workers() };
}

const tablesPatience = 5000;

/** Every request would fail. If the database does not respond, the gateway starts but is not ready. */
async function refuseOtherTables({ sharedStore, log }: StartedKernel, stopping: AbortSignal): Promise<void> {
	if (sharedStore === null) return;
	const over = AbortSignal.any([stopping, AbortSignal.timeout(tablesPatience)]);
	const why = await orAbort(sharedStore.whyUnfit(), over).catch((thrown: unknown) => {
		log.warn("The version of the tables is not known yet.", { cause: errorText(thrown) });
		return null;
	});
	if (why !== null) throw new Error(why);
}

async function readBuiltPage(directory: string | null, files: Files) {
	const page = directory === null ? null : await readPage(directory, files);
	if (page === null) throw new Error("the files of the web page are missing; reinstall the program.");
	return page;
}

/** Throws UsageError for an address reachable from other machines, unless a flag allows it explicitly. */
function refuseUnmeantAddress({ address, allowsRemote }: GatewayFlags): void {
	if (isLoopback(address) || allowsRemote) return;
	throw new UsageError(
		`--host ${address}: other machines can reach this address, and anyone with the token can run commands here. If you want that, add --allow-remote, plus --tls-cert and --tls-key or an HTTPS proxy.`,
	);
}

async function startAttachments(
	openHost: Omit<HostApi, "server" | "log">,
	options: ProgramOptions,
	{ configuration, sharedStore }: StartedKernel,
	{ taken, files, signal }: { taken: ProgramProcess; files: Files; signal: AbortSignal },
) {
	const [{ startAttachServer }, { createDifferences }] = await Promise.all([
		import("../attach/attach-server.ts"),
		import("../attach/gateway-differences.ts"),
	]);
	const { shareDir, place, environment, log } = taken;
	const host = { ...openHost, server: { name: productName, version: productVersion }, log };
	const { sandbox, agentwire } = configuration;
	return await startAttachServer({
		relayHost: {
			host,
			shareDir,
			isOnDisk: sharedStore === null,
			home: place.home,
			files,
			sandbox,
			requestsInFlight: agentwire.limits.requestsInFlight,
		},
		differs: await createDifferences(options, environment, shareDir, files),
		log,
		signal,
	});
}

async function startNotices(
	command: NamedProgram | null,
	sessions: SessionsApi,
	{ environment, shareDir, log }: ProgramProcess,
	signal: AbortSignal,
): Promise<() => void> {
	if (command === null) return () => {};
	const [{ Notices }, { createProcesses }] = await Promise.all([
		import("./notices.ts"),
		import("../../ports/processes/children.ts"),
	]);
	const parts = { processes: createProcesses({ log }), workDir: shareDir, environment, log, signal };
	const notices = new Notices({
		sessions,
		clock: systemClock,
		log,
		send: (notice) => runNoticeCommand(command, notice, parts),
	});
	notices.start();
	return () => notices.stop();
}

function createConverse(
	{ compatibility, configuration }: StartedKernel,
	host: Awaited<ReturnType<StartedKernel["openHost"]>>,
	log: Log,
): Converse {
	const parts = {
		...host,
		server: { name: productName, version: productVersion },
		compatibility,
		maximumInFlight: configuration.agentwire.limits.requestsInFlight,
		log,
	};
	return async (visit, transport, signal) => {
		const { serveVisitor } = await import("../../frontends/serve/serve-visitor.ts");
		await serveVisitor(visit, parts, transport, signal);
	};
}

async function createOperations({ kernel, telemetry }: StartedKernel): Promise<{ readonly operations?: Operations }> {
	if (telemetry === null) return {};
	const { metrics } = telemetry;
	const [{ createReadiness }, { openMetricsType }] = await Promise.all([
		import("../../host/telemetry/readiness.ts"),
		import("../../host/telemetry/open-metrics.ts"),
	]);
	return {
		operations: {
			isReady: createReadiness(() => kernel.workDirOf("readiness"), systemClock),
			async metrics(connections) {
				const text = metrics.text({ ...connections, loadedSessions: kernel.loadedSessions });
				return { type: openMetricsType, text };
			},
		},
	};
}

function createTracing({ telemetry }: StartedKernel): Pick<GatewayOptions, "trace"> {
	return telemetry === null ? {} : { trace: (method, parent) => telemetry.request(method, parent) };
}

/** The addresses of this machine for other machines, in URL form, IPv4 first. */
function machineAddresses(): readonly string[] {
	const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
	const reached = all.filter(({ internal, address }) => !internal && !/^fe80:/i.test(address));
	const ofFamily = (wanted: string) => reached.filter(({ family }) => family === wanted).map(({ address }) => address);
	return [...ofFamily("IPv4"), ...ofFamily("IPv6").map((address) => `[${address}]`)];
}

/** A browser cannot open the wildcard address: shows a configured name with this port, or one of the machine's addresses. */
function toUrl({ address, names, tls }: GatewayFlags, port: number): string {
	const literal = address.includes(":") ? `[${address}]` : address;
	const own = isWildcard(address) ? (machineAddresses()[0] ?? "127.0.0.1") : literal;
	const named = isWildcard(address) ? names.find((name) => name.endsWith(`:${port}`)) : undefined;
	return `${tls === null ? "http" : "https"}://${named ?? `${own}:${port}`}`;
}

async function showCode(address: string, flags: GatewayFlags): Promise<void> {
	const { toAddressCode } = await import("./address-code.ts");
	process.stdout.write(await toAddressCode(address, process.stdout.isTTY));
	if (isLoopback(flags.address)) {
		writeNotice(
			"The code works only on this machine; for a phone, pass --host with an address that the phone can reach.\n",
		);
	}
}

function toAnnouncement({ json }: GatewayFlags, url: string, address: string | null, tokens: string): string {
	if (json) return `${JSON.stringify({ url, tokens, ...(address === null ? {} : { page: address }) })}\n`;
	if (address !== null) {
		return `The page of your sessions: ${address}\nAnyone with this address can run commands here. Stop with Ctrl+C.\n`;
	}
	return `Serving sessions at ${url}\nThe tokens for clients are in ${tokens}; docs/guides/gateway.md shows the first request.\n`;
}

function createLazySetup(parts: SetupParts): Setup {
	const load = async () => (await import("./setup.ts")).createSetup(parts);
	return {
		offered: async (entry) => (await load()).offered(entry),
		add: async (entry) => (await load()).add(entry),
		signIn: async (show, signal) => (await load()).signIn(show, signal),
		createDemo: async () => (await load()).createDemo(),
	};
}
