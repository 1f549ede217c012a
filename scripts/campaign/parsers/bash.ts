// The real bash, which parses a script without running it and prints it in a form of its own.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export interface Bash {
	/** The script as bash prints it; null when it refuses a part of it. */
	print(script: string): string | null;
	close(): void;
}

export function createBash(): Bash {
	const folder = mkdtempSync(path.join(tmpdir(), "agentwire-parsers-"));
	const file = path.join(folder, "script.sh");
	return {
		print(script) {
			writeFileSync(file, script);
			const options = { encoding: "utf8", env: { PATH: "/nowhere", LC_ALL: "C.UTF-8" }, timeout: 5000 } as const;
			if (spawnSync("/bin/bash", ["-n", file], options).status !== 0) return null;
			const { status, stdout } = spawnSync("/bin/bash", ["--pretty-print", file], options);
			// It prints a name that was not written.
			return status === 0 ? stdout.replaceAll(/\bcoproc COPROC /g, "coproc ") : null;
		},
		close: () => rmSync(folder, { recursive: true, force: true }),
	};
}
