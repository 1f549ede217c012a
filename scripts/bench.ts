// Measures the built executable: start, first event, a long turn and its memory; compared with bare Node and, if given, a peer.
// Run with `npm run bench [-- OPTIONS]`: bench/choice.ts. What and how: docs/explanation/benchmarks.md.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Choice, type RunKind, readChoice, usage } from "../bench/choice.ts";
import { runEditors } from "../bench/runs/acp.ts";
import { runClients } from "../bench/runs/clients.ts";
import { runGateway } from "../bench/runs/gateway.ts";
import { runOverview } from "../bench/runs/overview.ts";
import { runPermissions } from "../bench/runs/permissions.ts";
import { runProviders } from "../bench/runs/providers.ts";
import { runRewind } from "../bench/runs/rewind.ts";
import { runSessions } from "../bench/runs/sessions.ts";
import { runStarts } from "../bench/runs/start.ts";
import { runStore } from "../bench/runs/store.ts";
import { runStreaming } from "../bench/runs/streaming.ts";
import { root } from "../bench/targets.ts";

/** Measures what was asked for with files in a temporary folder, and prints it. */
type Run = (choice: Choice, folder: string) => Promise<void>;

const runs: Readonly<Record<RunKind, Run>> = {
	providers: runProviders,
	sessions: runSessions,
	permissions: runPermissions,
	rewind: runRewind,
	acp: runEditors,
	gateway: runGateway,
	streaming: runStreaming,
	store: runStore,
	start: runStarts,
	clients: runClients,
};

let choice: Choice;
try {
	choice = readChoice(process.argv.slice(2), path.join(root, "bin", "agentwire"));
	if (!existsSync(choice.executable)) throw new Error(`There is no ${choice.executable}.`);
	if (!existsSync(path.join(path.dirname(choice.executable), "..", "dist"))) {
		throw new Error("The executable is not built yet. Build it with: npm run prepare");
	}
} catch (thrown) {
	console.error(`${thrown instanceof Error ? thrown.message : String(thrown)}\n${usage}`);
	process.exit(2);
}
const folder = mkdtempSync(path.join(tmpdir(), "agentwire-bench-"));
try {
	await (choice.kind === null ? runOverview : runs[choice.kind])(choice, folder);
} finally {
	rmSync(folder, { recursive: true, force: true });
}
