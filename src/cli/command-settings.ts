// The settings of agentwire itself, for commands that come without a session.
import { silentLog } from "../base/log.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Files } from "../files/port.ts";

/** Null when there are none, or none that can be read: commands that are about something else go without them. */
export async function readCommandSettings(files: Files, shareDir: string): Promise<Configuration["agentwire"] | null> {
	const file = `${shareDir}/config.toml`;
	try {
		if ((await files.status(file)) === null) return null;
		const { readConfiguration } = await import("../config/read-config.ts");
		const { configuration } = await readConfiguration({ kind: "file", path: file }, files, silentLog);
		return configuration.agentwire;
	} catch {
		return null;
	}
}
