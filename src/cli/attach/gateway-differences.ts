// Whether settings and shared variables of the gateway match those of a command that runs there unasked.
import path from "node:path";
import type { Files } from "../../ports/files/port.ts";
import { providerKeyVariables, vendorAddresses } from "../../settings/config/environment-models.ts";
import type { ProgramOptions } from "../arguments/command-line.ts";
import type { RelayedCommand } from "./attach-server.ts";

const sharedVariables: readonly string[] = [
	...providerKeyVariables,
	...vendorAddresses.map(({ addressVariable }) => addressVariable),
	...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
	...["HOME", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "KIMI_CODE_BASE_URL", "KIMI_CODE_OAUTH_HOST", "KIMI_OAUTH_HOST"],
];

const settingsFiles = ["config.toml", "mcp.json"];

/** Finds a difference to the gateway as it was started; null for none. */
export async function createDifferences(
	options: ProgramOptions,
	environment: Readonly<Record<string, string>>,
	shareDir: string,
	files: Files,
): Promise<(command: Pick<RelayedCommand, "environment">) => Promise<string | null>> {
	const read = async () => {
		const texts = await Promise.all(settingsFiles.map((name) => files.read(path.join(shareDir, name))));
		return texts.map((bytes) => bytes?.toString("base64") ?? "").join();
	};
	const begun = await read();
	return async (command) => {
		if (!isPlain(options)) return "the gateway has flags that change what sessions do.";
		const variable = sharedVariables.find((name) => (command.environment[name] ?? "") !== (environment[name] ?? ""));
		if (variable !== undefined) return `the gateway has a different value of ${variable}.`;
		return (await read()) === begun ? null : "the settings have changed since the gateway started; restart it.";
	};
}

function isPlain(options: ProgramOptions): boolean {
	const {
		configuration,
		agent,
		debug: _debug,
		workDir: _workDir,
		session: _session,
		prompt: _prompt,
		...others
	} = options;
	return (
		configuration.kind === "default" &&
		agent === "default" &&
		Object.values(others).every(
			(value) => value === null || value === false || (Array.isArray(value) && value.length === 0),
		)
	);
}
