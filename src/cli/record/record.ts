import { constants } from "node:os";
import { systemClock } from "../../base/clock.ts";
import { errorText, KernelError, systemErrorCode } from "../../base/errors.ts";
import {
	CassetteError,
	type CassetteFile,
	parseCassette,
	type Recording,
} from "../../core/models/cassettes/cassette.ts";
import { withFaults } from "../../core/models/cassettes/faults.ts";
import { type CassetteMode, createRecordedFetch } from "../../core/models/cassettes/recorded-fetch.ts";
import { standardReplacements, toCassetteFile } from "../../host/open-cassette.ts";
import { type Place, toAbsolutePath } from "../../host/place.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import { startForeground } from "../../ports/processes/unconfined/foreground-process.ts";
import { vendorAddresses } from "../../settings/config/environment-models.ts";
import { recorderVariable, standIn } from "../../settings/config/recorder.ts";
import { createCommandFetch } from "../command-services.ts";
import { currentDirectory, homeDirectory, shareDirectory } from "../paths.ts";
import { environmentVariables } from "../process/environment.ts";
import { writeNotice } from "../process/standard-error.ts";
import { handleStopSignals } from "../process/stop-signals.ts";
import { toRecordOptions } from "./record-options.ts";
import { startRecordServer } from "./record-server.ts";

type Environment = Readonly<Record<string, string>>;

/** 1 if the command succeeded but the cassette did not match. Throws UsageError and KernelError. */
export async function runRecord(words: readonly string[]): Promise<number> {
	const { cassette, mode, timeScale, faults, replacements, command } = toRecordOptions(words);
	const place: Place = { currentDir: currentDirectory(), home: homeDirectory() };
	const environment = environmentVariables();
	const shareDir = shareDirectory(environment, place);
	const files = createDiskFiles(privateBelow(shareDir));
	const path = toAbsolutePath(cassette, place);
	const file = toCassetteFile(files, path);
	let isWrong = false;
	const report = (text: string) => {
		isWrong = true;
		writeNotice(`agentwire record: ${text}\n`);
	};
	const recorded = createRecordedFetch({
		file,
		mode,
		timeScale,
		replacements: [...replacements, ...standardReplacements(place.currentDir, place.home, shareDir)],
		forward: createCommandFetch({ environment, files, shareDir, place }),
		clock: systemClock,
		report,
	});
	const recordings = mode === "replay" ? await readRecordings(file) : [];
	const isNew = (mode === "record" || mode === "replay-or-record") && (await createMissing(file));
	const server = await startRecordServer(withFaults(recorded, faults));
	const [program, ...rest] = command;
	const child = startForeground({
		file: program,
		arguments: rest,
		environment: toEnvironment(environment, server.address, recordings),
	});
	// On a terminal the command receives this signal itself.
	const isTyped = process.stdin.isTTY;
	handleStopSignals((signal) => {
		if (signal !== "SIGINT" || !isTyped) child.kill(signal);
	});
	const ended = await child.gone;
	const { requests } = server;
	await server.close();
	if (isNew && requests === 0) await files.remove(path);
	if (ended.kind === "not-started") {
		const why = systemErrorCode(ended.reason) === "ENOENT" ? "there is no such program" : errorText(ended.reason);
		report(`${program} cannot be started: ${why}.`);
		return 127;
	}
	if (requests === 0 && mode !== "passthrough") report(nothingCame(mode));
	const code = ended.kind === "exited" ? ended.exitCode : 128 + constants.signals[ended.signal];
	return code === 0 && isWrong ? 1 : code;
}

function nothingCame(mode: CassetteMode): string {
	const variables = vendorAddresses.map(({ addressVariable }) => addressVariable).join(", ");
	return `The command made no model request to ${mode === "replay" ? "replay" : "record"}. It must read ${variables} or ${recorderVariable}.`;
}

/** The first run must find the same files as later ones: agents report directory contents to models. */
async function createMissing(file: CassetteFile): Promise<boolean> {
	try {
		if ((await file.read()) !== null) return false;
		await file.append("");
		return true;
	} catch (thrown) {
		const message = `The cassette ${file.name} cannot be written: ${errorText(thrown)}.`;
		throw new KernelError("invalid-input", message, { cause: thrown });
	}
}

async function readRecordings(file: CassetteFile): Promise<readonly Recording[]> {
	try {
		const bytes = await file.read();
		if (bytes === null) throw new CassetteError(`There is no cassette ${file.name}. Record it without --mode replay.`);
		return parseCassette(bytes, file.name);
	} catch (thrown) {
		throw new KernelError("invalid-input", errorText(thrown), { cause: thrown });
	}
}

/** Adds the server addresses under the variables that programs read, and, for a replay, a key if the machine has none. */
function toEnvironment(environment: Environment, server: string, recordings: readonly Recording[]): Environment {
	const addresses = vendorAddresses.map(({ addressVariable, baseUrl }) => [
		addressVariable,
		environment[addressVariable] ? below(server, environment[addressVariable]) : below(`${server}/${standIn}`, baseUrl),
	]);
	// Their destination would be unknown otherwise.
	const others = ["KIMI_BASE_URL", "OPENAI_API_BASE"].flatMap((name) => {
		const address = environment[name];
		return address ? [[name, below(server, address)]] : [];
	});
	const missing = vendorAddresses.filter(
		({ name, keys }) =>
			recordings.some(({ provider }) => provider.split("-")[0] === name) && keys.every((key) => !environment[key]),
	);
	const noProxy = ["NO_PROXY", "no_proxy"].map((name) => {
		const before = environment[name] ?? "";
		return [name, before === "" ? "127.0.0.1" : `${before},127.0.0.1`];
	});
	return {
		...environment,
		...Object.fromEntries([...addresses, ...others, ...noProxy]),
		...Object.fromEntries(missing.map(({ keys }) => [keys.at(-1), "replayed"])),
		[recorderVariable]: server,
	};
}

function below(server: string, address: string): string {
	if (!URL.canParse(address)) return address;
	const { protocol, host, pathname, search } = new URL(address);
	return `${server}/${protocol.slice(0, -1)}/${host}${pathname.replace(/\/+$/, "")}${search}`;
}
