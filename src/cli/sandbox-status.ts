// Whether commands would run in the configured sandbox, for programs that check before starting a server.
import { systemClock } from "../base/clock.ts";
import { randomIdentifiers } from "../base/ids.ts";
import { silentLog } from "../base/log.ts";
import { sandboxPlace } from "../host/sandbox-place.ts";
import { createDiskFiles } from "../ports/files/disk-files.ts";
import type { Files } from "../ports/files/port.ts";
import { privateBelow } from "../ports/files/private-paths.ts";
import { readStartSettings, type StartSource } from "./model-source.ts";
import { currentDirectory, homeDirectory, shareDirectory } from "./paths.ts";
import { environmentVariables } from "./process/environment.ts";

export interface SandboxInfo {
	readonly sandbox?: {
		readonly status: "active" | "none" | "off";
		/** Why the sandbox is unavailable on this machine: a clause without a full stop. */
		readonly why: string | null;
	};
}

/** Undefined if no sandbox is configured, or the settings are unreadable: a server reports that itself. */
export async function describeSandbox(given?: Files, source?: StartSource): Promise<SandboxInfo> {
	const environment = environmentVariables();
	const home = homeDirectory();
	const shareDir = shareDirectory(environment, { currentDir: currentDirectory(), home });
	const files = given ?? createDiskFiles(privateBelow(shareDir));
	const named = source ?? `${shareDir}/config.toml`;
	try {
		const { configuration } = await readStartSettings(named, environment, files);
		if (configuration.sandbox.mode === "off") return {};
		const [{ createSandbox }, { createProcesses }] = await Promise.all([
			import("../ports/sandbox/sandbox.ts"),
			import("../ports/processes/children.ts"),
		]);
		const sandbox = createSandbox(
			{ ...configuration.sandbox, network: configuration.sandbox.network === "host" ? "host" : "none" },
			{
				...sandboxPlace(home, shareDir, typeof named === "string" ? named : null),
				environment,
				processId: process.pid,
				files,
				processes: createProcesses(),
				clock: systemClock,
				identifiers: randomIdentifiers,
				log: silentLog,
			},
		);
		const status = await sandbox.status();
		return { sandbox: { status: status.kind, why: status.kind === "none" ? status.why : null } };
	} catch {
		return {};
	}
}
