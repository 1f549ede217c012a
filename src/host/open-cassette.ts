import path from "node:path";
import { systemClock } from "../base/clock.ts";
import type { Replacements } from "../core/models/cassettes/canonical-request.ts";
import { type CassetteFile, cassetteLimit } from "../core/models/cassettes/cassette.ts";
import { parseFault, withFaults } from "../core/models/cassettes/faults.ts";
import { createRecordedFetch } from "../core/models/cassettes/recorded-fetch.ts";
import type { Files } from "../ports/files/port.ts";
import type { Fetch } from "../ports/network/network-settings.ts";
import type { CassetteSettings, ModelNetworkPlace } from "./model-network.ts";
import { toAbsolutePath } from "./place.ts";

export function openCassette(
	{ file, mode, timeScale, faults, replace }: CassetteSettings,
	fetch: Fetch,
	{ place, shareDir, files, log }: ModelNetworkPlace,
): Fetch {
	const recorded = createRecordedFetch({
		file: toCassetteFile(files, toAbsolutePath(file, place)),
		mode,
		timeScale,
		replacements: [...Object.entries(replace), ...standardReplacements(place.currentDir, place.home, shareDir)],
		forward: fetch,
		clock: systemClock,
		report: (text) => log.warn(text),
	});
	return withFaults(
		recorded,
		faults.flatMap((text) => parseFault(text) ?? []),
	);
}

/** Machine-specific values to replace. */
export function standardReplacements(currentDir: string, home: string, shareDir: string): Replacements {
	return [
		[currentDir, "<current>"],
		[shareDir, "<share>"],
		[home, "<home>"],
	];
}

export function toCassetteFile(files: Files, file: string): CassetteFile {
	return {
		name: path.basename(file),
		read: () => files.read(file, cassetteLimit),
		async replace(text) {
			await files.makeDirectory(path.dirname(file));
			await files.replace(file, text);
		},
		async append(text) {
			await files.makeDirectory(path.dirname(file));
			const opened = await files.openAppend(file);
			await opened.append(text).finally(() => opened.close());
		},
	};
}
