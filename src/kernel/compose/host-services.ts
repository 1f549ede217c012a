import type { Clock } from "../../base/clock.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { OnFirstUse } from "../../base/on-first-use.ts";
import type { Model } from "../../core/models/model.ts";
import type { ReadPage } from "../../core/tools/web/page-reader.ts";
import type { Files } from "../../ports/files/port.ts";
import type { Network } from "../../ports/network/network.ts";
import type { Confinement, Processes } from "../../ports/processes/port.ts";
import type { Sandbox } from "../../ports/sandbox/sandbox.ts";
import type { StartWorker } from "../background/command-task.ts";
import type { Observe } from "../clients/observation.ts";

export interface HostServices {
	/** Environment of child processes, also read for overrides. */
	readonly environment: Readonly<Record<string, string>>;
	readonly home: string;
	/** Directory of settings, sessions and plans. */
	readonly shareDir: string;
	/** The settings file, unless it is in the share directory. It contains keys. */
	readonly settingsFile?: string | null;
	/** More files that models may not read, such as the database password file. */
	readonly secretFiles?: readonly string[];
	/** Rules of the machine administrator, or null. */
	readonly managedPermissionsFile?: string | null;
	/** Skills shipped with the program, or null. */
	readonly builtInSkillsDir: string | null;
	/** Display name of the operating system. */
	readonly os: string;
	readonly files: Files;
	/** The same files without a concurrency limit: for reads inside a call, which must not wait for another call. */
	readonly ownFiles: Files;
	readonly processes: Processes;
	readonly sandbox?: OnFirstUse<Sandbox>;
	/** Command sandbox for sessions with creator-defined permissions, when none is configured. Absent when disabled there too. */
	readonly creatorSandbox?: OnFirstUse<Sandbox>;
	/** The same sandbox with host network access, for sessions that confine their commands. */
	readonly confiningSandbox?: OnFirstUse<Sandbox>;
	readonly startWorker: (
		...worker: [
			...Parameters<StartWorker>,
			environment: HostServices["environment"],
			/** Null without a sandbox. */
			confinement: Confinement | null,
		]
	) => ReturnType<StartWorker>;
	readonly network: Network;
	/** Network for model provider requests when they are recorded or replayed. */
	readonly modelNetwork?: Pick<Network, "fetch" | "openConnection">;
	readonly models?: ReadonlyMap<string, Model>;
	readonly readPage: ReadPage;
	/** ripgrep: a file path, or a name to find on PATH. */
	readonly findRipgrep: () => Promise<string>;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
	/** Uniform in [0, 1). */
	readonly random: () => number;
	readonly log: Log;
	readonly observe?: Observe;
	/** Receives scripted model traces line by line. */
	readonly trace: (line: string) => void;
	readonly version: string;
	readonly loginCommand: string;
}
