// The command sandbox of a session: which commands run inside it, which outside, and how that affects permissions.
import path from "node:path";
import type { SandboxDescription } from "../../api/session-state.ts";
import type { OnFirstUse } from "../../base/on-first-use.ts";
import type { Policy } from "../../core/permissions/policy.ts";
import { autoAllowPolicy, missingSandboxPolicy, outsidePolicy } from "../../core/permissions/sandbox-policy.ts";
import type { CommandSandbox } from "../../core/tools/tool.ts";
import type { Confinement, Processes } from "../../ports/processes/port.ts";
import type { Sandbox } from "../../ports/sandbox/sandbox.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import type { HostServices } from "./host-services.ts";

export interface SessionSandbox {
	readonly description: SandboxDescription | null;
	/** The tools' view of the sandbox. Null when none is configured. */
	readonly tool: CommandSandbox | null;
	readonly processes: Processes;
	readonly hookProcesses: Processes;
	/** Runs plugin programs, which may read plugin directories. */
	readonly pluginProcesses: Processes;
	readonly policies: readonly Policy[];
	/** Confinement of a background command, or null. */
	confinementOf(outsideSandbox: boolean): Promise<Confinement | null>;
}

/** Absolute roots where commands of the session work. */
export interface SessionRoots {
	readonly workDir: string;
	additionalDirs(): readonly string[];
}

/** Tests the sandbox when one is configured. */
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

/** For sessions that never ask: the configured sandbox, else `lazy` where supported. Hooks run as configured. */
export async function composeUnaskedSandbox(
	settings: Configuration["sandbox"],
	lazy: OnFirstUse<Sandbox> | undefined,
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

/** Runs stdio MCP servers, in the sandbox if so configured, each with its own directory. */
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

/** Keys of the configured providers and services. Commands never receive them. */
export function providerKeys({ providers, services }: Configuration): readonly string[] {
	return [...Object.values(providers), services.moonshotFetch, services.moonshotSearch].flatMap((holder) =>
		holder === null || holder.apiKey === "" ? [] : [holder.apiKey],
	);
}
