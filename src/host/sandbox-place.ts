// Locations that the sandbox hides or leaves writable.
import { tmpdir } from "node:os";
import path from "node:path";
import type { PolicyPlace } from "../ports/sandbox/policy.ts";

export function sandboxPlace(home: string, shareDir: string, settingsFile: string | null): PolicyPlace {
	return {
		home,
		shareDirs: [...new Set([shareDir, path.join(home, ".kimi")])],
		temporaryDirs: [...new Set(["/tmp", tmpdir()])],
		secretFiles: settingsFile === null ? [] : [settingsFile],
	};
}
