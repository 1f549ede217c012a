// Reads our own settings for commands without a session.
import { silentLog } from "../base/log.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Files } from "../files/port.ts";

/** Null when there are none, or unreadable ones: commands about something else work without them. */
export async function readCommandSettings(files: Files, shareDir: string): Promise<Configuration["agentwire"] | null> {
	const file = `${shareDir}/config.toml`;
	try {
		if ((await files.status(file)) === null) return null;
		const { readConfiguration } = await import("../config/configuration-reader.ts");
		const { configuration } = await readConfiguration({ kind: "file", path: file }, files, silentLog);
		return configuration.agentwire;
	} catch {
		return null;
	}
}
