// The sandbox of a session's commands: what runs in it, what runs without it, and what that means for permissions.
import path from "node:path";
import type { Policy } from "../../core/permissions/policy.ts";
import { autoAllowPolicy, missingSandboxPolicy, outsidePolicy } from "../../core/permissions/sandbox-policy.ts";
import type { CommandSandbox } from "../../core/tools/tool.ts";
import type { Confinement, Processes } from "../../ports/processes/port.ts";
import type { LazySandbox } from "../../ports/sandbox/lazy-sandbox.ts";
import type { Sandbox } from "../../ports/sandbox/sandbox.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import type { SandboxDescription } from "../api.ts";
import type { HostServices } from "./host-services.ts";

export interface SessionSandbox {
	/** Null when the settings ask for none. */
	readonly description: SandboxDescription | null;
	/** What the tools see; null when the settings ask for none. */
	readonly tool: CommandSandbox | null;
	/** Runs the commands of Shell. */
	readonly processes: Processes;
	/** Runs the commands of hooks. */
	readonly hookProcesses: Processes;
	/** Runs the programs of plugins, which may read the directories of plugins. */
	readonly pluginProcesses: Processes;
	readonly policies: readonly Policy[];
	/** The confinement of a background command; null for none. */
	confinementOf(outsideSandbox: boolean): Promise<Confinement | null>;
}

/** Where the session's commands work; absolute. */
interface SessionRoots {
	readonly workDir: string;
	additionalDirs(): readonly string[];
}

/** Tries the sandbox out when the settings ask for one. */
export async function composeSandbox(
	settings: Configuration["sandbox"],
	hostServices: Pick<HostServices, "processes" | "sandbox" | "shareDir" | "log">,
	roots: SessionRoots,
): Promise<SessionSandbox> {
	const { processes, sandbox: lazy, log } = hostServices;
	if (settings.mode === "off" || lazy === undefined) return without(processes, null);
	const sandbox = await lazy.get();
	const status = await sandbox.status();
	if (status.kind !== "active") {
		const missing = status.kind === "none" ? status.why : "the settings of this process ask for none";
		log.warn("Commands run without the sandbox that the settings ask for, after an approval each.", { why: missing });
		return without(processes, missing);
	}
	return await within(sandbox, settings, hostServices, roots);
}

/** In a sandbox that works. */
async function within(
	sandbox: Sandbox,
	settings: Configuration["sandbox"],
	{ processes, shareDir }: Pick<HostServices, "processes" | "shareDir">,
	{ workDir, additionalDirs }: SessionRoots,
): Promise<SessionSandbox> {
	const { createSandboxedProcesses } = await import("../../ports/sandbox/sandboxed-processes.ts");
	const roots = () => ({ workDir, additionalDirs: additionalDirs() });
	const pluginRoots = () => ({ ...roots(), visible: [path.join(shareDir, "plugins")] });
	const confinement = () => sandbox.confinementFor(roots());
	const sandboxed = createSandboxedProcesses(processes, sandbox, roots);
	return {
		description: { status: "active", why: null },
		tool: {
			missing: null,
			outside: processes,
			async explain(outcome, since) {
				const current = await confinement();
				return current === null ? null : sandbox.explainFailure(outcome, current, since);
			},
		},
		processes: sandboxed,
		hookProcesses: sandboxed,
		pluginProcesses: createSandboxedProcesses(processes, sandbox, pluginRoots),
		policies: [outsidePolicy, ...(settings.autoAllow && settings.network === "none" ? [autoAllowPolicy] : [])],
		confinementOf: async (outsideSandbox) => (outsideSandbox ? null : await confinement()),
	};
}

/**
 * The sandbox of a session whose commands nobody is asked about: that of the settings, else `lazy`, which confines them to
 * the workspace where this machine can. Hooks are the settings' own and run as those say.
 */
export async function composeUnaskedSandbox(
	settings: Configuration["sandbox"],
	lazy: LazySandbox | undefined,
	hostServices: Pick<HostServices, "processes" | "sandbox" | "shareDir" | "log">,
	roots: SessionRoots,
): Promise<SessionSandbox> {
	const { processes, log } = hostServices;
	if (settings.mode !== "off" || lazy === undefined) return await composeSandbox(settings, hostServices, roots);
	const sandbox = await lazy.get();
	const status = await sandbox.status();
	if (status.kind !== "active") {
		log.info("Commands run without a sandbox: this machine has none.", { status });
		return without(processes, null);
	}
	return { ...(await within(sandbox, settings, hostServices, roots)), hookProcesses: processes };
}

/** What runs the MCP servers that are programs: in the sandbox if the settings say so, each with its own directory. */
export async function processesOfServers(
	settings: Configuration["sandbox"],
	{ processes, sandbox: lazy, log }: Pick<HostServices, "processes" | "sandbox" | "log">,
): Promise<Processes> {
	if (settings.mode === "off" || !settings.mcpServers || lazy === undefined) return processes;
	const sandbox = await lazy.get();
	const status = await sandbox.status();
	if (status.kind !== "active") {
		log.warn("MCP servers run without the sandbox that the settings ask for.", { status });
		return processes;
	}
	const { createSandboxedProcesses } = await import("../../ports/sandbox/sandboxed-processes.ts");
	return createSandboxedProcesses(processes, sandbox, ({ workDir }) => ({ workDir, additionalDirs: [] }));
}

function without(processes: Processes, missing: string | null): SessionSandbox {
	return {
		description: missing === null ? null : { status: "none", why: missing },
		tool: missing === null ? null : { missing, outside: processes, explain: async () => null },
		processes,
		hookProcesses: processes,
		pluginProcesses: processes,
		policies: missing === null ? [] : [missingSandboxPolicy],
		confinementOf: async () => null,
	};
}

/** The keys of the configured providers and services, which no command gets. */
export function providerKeys({ providers, services }: Configuration): readonly string[] {
	return [...Object.values(providers), services.moonshotFetch, services.moonshotSearch].flatMap((holder) =>
		holder === null || holder.apiKey === "" ? [] : [holder.apiKey],
	);
}
