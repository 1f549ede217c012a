// What the start of a server loads: its size is time that every client waits for the first answer.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** Where a server starts. */
const entry = "cli/serve.ts";

/** Files and folders that are imported lazily, with `import()`: they are loaded with the first turn, or on first use. */
export const loadedLater: readonly string[] = [
	"host/log/log-writer.ts",
	"host/open-cassette.ts",
	"settings/credentials/mcp-oauth.ts",
	"frontends/meerkat",
	"kernel/compose/agent-file.ts",
	"kernel/compose/model-change.ts",
	"kernel/compose/model-errors.ts",
	"kernel/compose/model-options.ts",
	"kernel/compose/prompt-environment.ts",
	"kernel/hosting/session-host.ts",
	"core/mcp",
	"core/models/answers",
	"core/models/anthropic",
	"core/models/cassettes",
	"core/models/google",
	"core/models/http",
	"core/models/openai-compatible",
	"core/models/openai-responses",
	"core/models/scripted",
	"ports/network/dispatch.ts",
	"core/patterns",
	"core/permissions/rules",
	"core/permissions/shell",
	"ports/processes/children.ts",
	"ports/processes/unconfined/detached-process.ts",
	"ports/processes/last-resort.ts",
	"ports/sandbox/proxy",
	"ports/sandbox/sandbox.ts",
	"ports/sandbox/sandboxed-processes.ts",
	"frontends/serve/host-dialects.ts",
	"ports/store/disk/session-deletion.ts",
	"ports/store/postgres",
	"host/telemetry",
	"core/tools/built-in-tools.ts",
];

/** Packages that every start pays for. */
export const startPackages: readonly string[] = ["valibot"];

/** An import or export that is still there when types are gone. */
const loading = /^(?:import|export)\s+(?!type\b)(?:[^;"]*?from\s+)?"([^"]+)"/gm;

/** Files below `sourceRoot`, and packages, that are loaded before the server says anything; both sorted. */
export function findStartImports(sourceRoot: string): {
	readonly files: readonly string[];
	readonly packages: readonly string[];
} {
	const files = new Set<string>();
	const packages = new Set<string>();
	const visit = (file: string): void => {
		if (files.has(file)) return;
		files.add(file);
		const text = readFileSync(path.join(sourceRoot, file), "utf8");
		for (const [, target = ""] of text.matchAll(loading)) {
			if (target.startsWith(".")) visit(path.join(path.dirname(file), target));
			else if (!target.startsWith("node:")) packages.add(target);
		}
	};
	visit(entry);
	return { files: [...files].sort(), packages: [...packages].sort() };
}

/** Those of the files that should come later. */
export function tooEarly(files: readonly string[]): string[] {
	return files.filter((file) => loadedLater.some((late) => file === late || file.startsWith(`${late}/`)));
}

/** Entries that name nothing any more. */
export function unknownEntries(sourceRoot: string): string[] {
	return loadedLater.filter((late) => !existsSync(path.join(sourceRoot, late)));
}
