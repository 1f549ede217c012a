// What a kernel finds around it in tests: nobody's settings, no children, no network, nothing by chance.
import { randomIdentifiers } from "../../../src/base/ids.ts";
import { silentLog } from "../../../src/base/log.ts";
import { findRipgrep } from "../../../src/core/tools/search/ripgrep.ts";
import type { HostServices } from "../../../src/kernel/compose/host-services.ts";
import { noProcesses, readPageHere } from "../sessions/session-doubles.ts";
import { plainNetwork } from "./network.ts";
import { noWorkers } from "./task-workers.ts";

/** Host services with these parts. */
export function createHostServices(parts: Pick<HostServices, "files" | "clock"> & Partial<HostServices>): HostServices {
	return {
		environment: {},
		ownFiles: parts.files,
		home: "/home",
		shareDir: "/share",
		builtInSkillsDir: null,
		os: "Linux",
		processes: noProcesses,
		startWorker: noWorkers,
		network: plainNetwork,
		readPage: readPageHere,
		findRipgrep: async () => findRipgrep(),
		identifiers: randomIdentifiers,
		random: () => 0,
		log: silentLog,
		trace: () => {},
		version: "0",
		loginCommand: "agentwire login",
		...parts,
	};
}
