// The settings of the sandbox as this folder needs them; the settings file has the same ones.

export interface SandboxSettings {
	readonly mode: "off" | "workspace-write" | "read-only";
	/** Directories that commands may write in besides those of the session and for temporary files. */
	readonly writable: readonly string[];
	readonly hidden: readonly string[];
	readonly readOnly: readonly string[];
	readonly network: "host" | "none" | "proxy";
	/** Hosts (`*.example` for all below one), addresses and ranges; empty for none. */
	readonly allowedDomains: readonly string[];
	readonly autoAllow: boolean;
	readonly mcpServers: boolean;
	readonly environment: EnvironmentSettings;
}

export interface EnvironmentSettings {
	readonly pass: readonly string[];
	readonly set: Readonly<Record<string, string>>;
	/** Names, or beginnings of names with `*` at the end. */
	readonly drop: readonly string[];
}
