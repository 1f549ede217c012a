// Maps `codex exec` flags to settings and session options: the sandbox, and what needs no approval in it.
import type { AddedRule } from "../../api/session-options.ts";
import type { SessionOptions } from "../../kernel/compose/session-options.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import type { ProgramOptions } from "../arguments/command-line.ts";
import type { CodexExecOptions, CodexSandbox } from "../arguments/options/codex-options.ts";
import type { ConfigOverrides } from "./config-overrides.ts";

export const emptyExecOptions: CodexExecOptions = {
	json: true,
	prompt: null,
	resume: null,
	images: [],
	outputSchema: null,
	workDir: null,
	additionalDirs: [],
	model: null,
	sandbox: null,
	config: [],
};

export function toProgramOptions(options: CodexExecOptions, overrides: ConfigOverrides): ProgramOptions {
	const { resume } = options;
	const sandbox = options.sandbox ?? overrides.sandbox;
	return {
		debug: false,
		workDir: options.workDir,
		session:
			resume === null ? { kind: "new" } : resume === "last" ? { kind: "last" } : { kind: "existing", id: resume.id },
		configuration: { kind: "default" },
		agent: "default",
		agentFile: null,
		model: options.model ?? overrides.model,
		thinking: overrides.thinking,
		yolo: sandbox === "danger-full-access",
		takeOver: false,
		plan: false,
		afk: false,
		maxStepsPerTurn: null,
		maxRetriesPerStep: null,
		maxLoopIterations: null,
		additionalDirs: [...options.additionalDirs, ...overrides.writable],
		skillsDirs: [],
		mcpConfigFiles: [],
		mcpConfigs:
			Object.keys(overrides.mcpServers).length === 0 ? [] : [JSON.stringify({ mcpServers: overrides.mcpServers })],
		prompt: null,
	};
}

/** Nobody answers approvals, so they are denied regardless of `agentwire.unattended`. */
export const execMode: Pick<SessionOptions, "unattended" | "passesUnknownCommands" | "permissions"> = {
	unattended: false,
	passesUnknownCommands: true,
	permissions: { whenUnattended: "reject" },
};

type Rule = Configuration["permission"]["rules"][number];

const rule = (decision: Rule["decision"], pattern: string, from: string): Rule => ({
	decision,
	pattern,
	from,
	reason: "",
	match: [],
	notMatch: [],
	line: null,
});

export function sandboxRules(
	mode: "read-only" | "workspace-write",
	network: Configuration["sandbox"]["network"],
): readonly AddedRule[] {
	return [
		mode === "read-only" ? { decision: "deny", pattern: "Write(/**)" } : { decision: "allow", pattern: "Write(**)" },
		// `autoAllow` covers commands without network.
		...(network === "none" ? [] : [{ decision: "allow", pattern: "Shell" } as const]),
	];
}

/** Applies the requested sandbox; the default is the configured sandbox, or `read-only`. */
export function withSandbox(
	settings: Configuration,
	asked: CodexSandbox | null,
	network: boolean | null,
): Configuration {
	const own = settings.sandbox.mode;
	const mode = asked ?? (own === "off" ? "read-only" : own);
	if (mode === "danger-full-access") return { ...settings, sandbox: { ...settings.sandbox, mode: "off" } };
	const reach = network === null ? settings.sandbox.network : network ? "host" : "none";
	const from = asked === null ? `sandbox ${mode}` : `--sandbox ${asked}`;
	const rules = sandboxRules(mode, reach).map(({ decision, pattern }) => rule(decision, pattern, from));
	const { permission, sandbox } = settings;
	return {
		...settings,
		defaultYolo: false,
		sandbox: { ...sandbox, mode, network: reach, autoAllow: true },
		permission: { ...permission, rules: [...permission.rules, ...rules] },
	};
}
