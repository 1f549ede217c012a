// What a session may read and run: its secrets, its command sandbox, and the environment of its commands.
import type { AgentDefinition } from "../../core/definitions/agent-definition.ts";
import type { Files } from "../../ports/files/port.ts";
import type { SecretPaths } from "../../ports/files/secret-paths.ts";
import { toCommandEnvironment } from "../../ports/sandbox/environment.ts";
import type { Configuration } from "../../settings/config/configuration.ts";
import { runsCommands } from "./agent-restriction.ts";
import { composeUnaskedSandbox, providerKeys, type SessionRoots, type SessionSandbox } from "./command-sandbox.ts";
import type { HostServices } from "./host-services.ts";
import type { SessionPermissions } from "./permissions.ts";
import { secretsOf } from "./secrets.ts";
import type { SessionOptions } from "./session-options.ts";

export interface SessionAccess {
	readonly roots: SessionRoots;
	readonly permissions: SessionPermissions;
	readonly secrets: SecretPaths;
	/** For reads for prompts, users and tools. The program reads its own files through those of the host. */
	readonly files: Files;
	/** For reads across all plugins: inspects the plugins once instead of once per file. */
	filesForMany(): Files;
	readonly sandbox: SessionSandbox;
	readonly environment: Readonly<Record<string, string>>;
}

export async function composeAccess(
	roots: SessionRoots,
	permissions: SessionPermissions,
	agent: AgentDefinition,
	options: SessionOptions,
	configuration: Configuration,
	hostServices: HostServices,
): Promise<SessionAccess> {
	const { environment, files, creatorSandbox, confiningSandbox } = hostServices;
	const secrets = permissions.withDeniedReads(secretsOf(hostServices));
	const isApprovedByCreator = options.permissions?.whenUnattended === "creator" && runsCommands(agent);
	const isConfining = options.confinesCommands === true && !options.yolo && !configuration.defaultYolo;
	const unasked = isApprovedByCreator ? creatorSandbox : isConfining ? confiningSandbox : undefined;
	return {
		roots,
		permissions,
		secrets,
		files: files.admitting(secrets.admit),
		filesForMany: () => files.admitting(secrets.forMany().admit),
		sandbox: await composeUnaskedSandbox(configuration.sandbox, unasked, hostServices, roots),
		environment: toCommandEnvironment(environment, configuration.sandbox.environment, providerKeys(configuration)),
	};
}
