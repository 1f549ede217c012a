import { type as osType } from "node:os";
import path from "node:path";
import { systemClock } from "../base/clock.ts";
import { randomIdentifiers } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { OnFirstUse } from "../base/on-first-use.ts";
import { createPageReader } from "../core/tools/web/page-reader.ts";
import type { HostServices } from "../kernel/compose/host-services.ts";
import type { Files } from "../ports/files/port.ts";
import { createNetwork } from "../ports/network/network.ts";
import { createLazyProcesses } from "../ports/processes/lazy-processes.ts";
import type { Configuration } from "../settings/config/configuration.ts";
import type { Installation } from "./installation.ts";
import { createModelNetwork } from "./model-network.ts";
import { managedPermissionsFile, type Place, toAbsolutePath } from "./place.ts";
import { productName, productVersion } from "./product.ts";
import { sandboxPlace } from "./sandbox-place.ts";
import type { Telemetry } from "./telemetry/telemetry.ts";
import { createWorkerStarter } from "./worker-start.ts";

export interface HostSurroundings {
	readonly place: Place;
	readonly environment: Readonly<Record<string, string>>;
	readonly shareDir: string;
	readonly installation: Installation;
	readonly log: Log;
	/** The command that signs in to a provider, as typed. */
	readonly loginCommand: string;
	notice(text: string): void;
}

export interface HostServicesSettings {
	readonly configuration: Configuration;
	/** Null for settings without a file. */
	readonly configurationFile: string | null;
	readonly secretFiles: readonly string[];
	/** For everything except sessions. */
	readonly files: Files;
	readonly own: Files;
	readonly hasMetrics: boolean;
	readonly models?: HostServices["models"];
}

export async function createHostServices(
	{ configuration, configurationFile, secretFiles, files, own, hasMetrics, models }: HostServicesSettings,
	{ place, environment, shareDir, installation, log, loginCommand, notice }: HostSurroundings,
): Promise<{ readonly hostServices: HostServices; readonly telemetry: Telemetry | null }> {
	const { sandbox } = configuration;
	const { caFile, contain } = configuration.agentwire;
	const createProgramSandbox = (settings: Configuration["sandbox"]) =>
		new OnFirstUse(async () => {
			const [{ createSandbox }, { createProcesses }] = await Promise.all([
				import("../ports/sandbox/sandbox.ts"),
				import("../ports/processes/children.ts"),
			]);
			return createSandbox(settings, {
				...sandboxPlace(place.home, shareDir, configurationFile),
				environment,
				processId: process.pid,
				files: own,
				processes: createProcesses({ log }),
				clock: systemClock,
				identifiers: randomIdentifiers,
				log,
			});
		});
	const network = createNetwork({
		environment,
		caFile: caFile === null ? null : toAbsolutePath(caFile, place),
		readFile: (file) => files.read(file),
		clock: systemClock,
		log,
	});
	const modelNetwork = createModelNetwork(configuration.agentwire.cassette, network, {
		environment,
		place,
		shareDir,
		files,
		log,
	});
	const telemetry = hasMetrics || namesCollector(environment) ? await openTelemetry(environment, network, log) : null;
	const hostServices: HostServices = {
		environment,
		home: place.home,
		shareDir,
		settingsFile: configurationFile,
		secretFiles: secretFiles.map((file) => toAbsolutePath(file, place)),
		managedPermissionsFile,
		builtInSkillsDir: installation.skillsDir,
		os: osType() === "Darwin" ? "macOS" : osType(),
		files,
		ownFiles: own,
		processes: createLazyProcesses(async () => {
			const { createProcesses } = await import("../ports/processes/children.ts");
			return createProcesses({ openSink: (file) => openOutput(own, file), contain, log });
		}),
		...(sandbox.mode === "off" ? {} : { sandbox: createProgramSandbox(sandbox) }),
		...(sandbox.mode === "off" && sandbox.creators
			? {
					creatorSandbox: createProgramSandbox({ ...sandbox, mode: "workspace-write" }),
					confiningSandbox: createProgramSandbox({ ...sandbox, mode: "workspace-write", network: "host" }),
				}
			: {}),
		startWorker: createWorkerStarter(installation, contain, sandbox.allowedDomains),
		readPage: createPageReader(installation.pageThread),
		findRipgrep: () => installation.findRipgrep(),
		network,
		...(modelNetwork === null ? {} : { modelNetwork }),
		...(telemetry === null ? {} : { observe: telemetry.observe }),
		clock: systemClock,
		identifiers: randomIdentifiers,
		random: Math.random,
		log,
		trace: (line) => notice(`${line}\n`),
		version: productVersion,
		loginCommand,
		...(models === undefined ? {} : { models }),
	};
	return { hostServices, telemetry };
}

/** Whether the environment names a trace collector. Otherwise no telemetry code is loaded. */
function namesCollector(environment: HostServices["environment"]): boolean {
	const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = environment;
	return Boolean(base) || Boolean(own);
}

async function openTelemetry(
	environment: HostServices["environment"],
	{ fetch }: HostServices["network"],
	log: Log,
): Promise<Telemetry> {
	const { startTelemetry } = await import("./telemetry/telemetry.ts");
	return startTelemetry({
		environment,
		service: { name: productName, version: productVersion },
		fetch,
		identifiers: randomIdentifiers,
		random: Math.random,
		clock: systemClock,
		log,
	});
}

async function openOutput(files: Files, file: string) {
	await files.makeDirectory(path.dirname(file));
	return await files.openAppend(file);
}
