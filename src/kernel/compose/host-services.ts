// What a kernel is given by its process: files, processes, network, clock, identifiers, log.
import type { Clock } from "../../base/clock.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Model } from "../../core/models/model.ts";
import type { ReadPage } from "../../core/tools/web/page-reader.ts";
import type { Files } from "../../ports/files/port.ts";
import type { Network } from "../../ports/network/network.ts";
import type { Confinement, Processes } from "../../ports/processes/port.ts";
import type { LazySandbox } from "../../ports/sandbox/lazy-sandbox.ts";
import type { StartWorker } from "../background/command-task.ts";
import type { Observe } from "../clients/observation.ts";

/** What the kernel is given by its process. */
export interface HostServices {
	/** The environment of children, also read for overrides. */
	readonly environment: Readonly<Record<string, string>>;
	readonly home: string;
	/** The directory of settings, sessions and plans. */
	readonly shareDir: string;
	/** The settings file, when it is not the one in the share directory; it contains keys. */
	readonly settingsFile?: string | null;
	/** Further files that no model may read, such as one with the password of the database. */
	readonly secretFiles?: readonly string[];
	/** The rules of whoever manages the machine; null or absent for none. */
	readonly managedPermissionsFile?: string | null;
	/** The skills that come with the program; null for none. */
	readonly builtInSkillsDir: string | null;
	/** Name of the operating system, for people. */
	readonly os: string;
	readonly files: Files;
	/**
	 * The same files without a limit on concurrent calls: for reads within a call, which must not wait for another
	 * call.
	 */
	readonly ownFiles: Files;
	readonly processes: Processes;
	/** The sandbox that the settings describe; absent for none. */
	readonly sandbox?: LazySandbox;
	/**
	 * For the commands of sessions whose creators decide what they may do, where the settings describe none; absent when
	 * they want none there either.
	 */
	readonly creatorSandbox?: LazySandbox;
	/** The same with the machine's network, for sessions that confine their commands. */
	readonly confiningSandbox?: LazySandbox;
	/** Starts the worker of a background command, which runs in the environment of its session. */
	readonly startWorker: (
		...worker: [
			...Parameters<StartWorker>,
			environment: HostServices["environment"],
			/** Null for a command without a sandbox. */
			confinement: Confinement | null,
		]
	) => ReturnType<StartWorker>;
	readonly network: Network;
	/** For requests to model providers, where they are recorded or replayed. */
	readonly modelNetwork?: Pick<Network, "fetch" | "openConnection">;
	/** Models that the embedding program implements, by alias; absent for none. */
	readonly models?: ReadonlyMap<string, Model>;
	/** Converts HTML to text. */
	readonly readPage: ReadPage;
	/** ripgrep: a file to start, or a name for PATH. */
	readonly findRipgrep: () => Promise<string>;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
	/** Uniform in [0, 1). */
	readonly random: () => number;
	readonly log: Log;
	/** Absent where nothing is observed. */
	readonly observe?: Observe;
	/** Receives the trace of scripted models, a line at a time. */
	readonly trace: (line: string) => void;
	/** Our own version. */
	readonly version: string;
	/** The command that signs a person in to a provider, as typed. */
	readonly loginCommand: string;
}
