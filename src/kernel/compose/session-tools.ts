// The tools of a session: built-in ones and those of plugins, what they work with, and MCP servers.
import { chooseInjected, discoverPlugins, type HostValues } from "../../core/definitions/plugin.ts";
import type { ServerPool } from "../../core/mcp/server-pool.ts";
import { createSchemaCompiler } from "../../core/tools/json-schema.ts";
import type { FileFinder, FoundFiles } from "../../core/tools/search/file-finder.ts";
import type { Tool, ToolEnvironment, WebService } from "../../core/tools/tool.ts";
import { isBuiltInToolName } from "../../core/tools/tool-paths.ts";
import type { SharedSession } from "../../ports/store/shared-session.ts";
import type { Configuration, ServiceSettings } from "../../settings/config/configuration.ts";
import type { SessionOperations } from "../session/session-parts.ts";
import type { LoadServers } from "../session/tool-servers.ts";
import type { HostServices } from "./host-services.ts";
import type { KeyRing } from "./key-ring.ts";
import type { SessionModels } from "./models.ts";
import type { SessionAccess } from "./session-access.ts";

/** Maximum tools of all plugins: every model request contains all of them. */
const maximumTools = 1000;

export class SessionTools {
	readonly #environment: Omit<ToolEnvironment, keyof SessionOperations>;
	readonly #plugins: readonly Tool[];
	#finder: Promise<FileFinder> | null = null;

	constructor(
		stored: SharedSession,
		access: SessionAccess,
		models: SessionModels,
		hostServices: HostServices,
		{ plugins, ...given }: Pick<ToolEnvironment, "skillDirs" | "editor"> & { readonly plugins: readonly Tool[] },
	) {
		const { home, clock, network, version, readPage, findRipgrep } = hostServices;
		const { agentwire, services } = models.configuration;
		const { judge } = access.permissions;
		this.#plugins = plugins;
		this.#environment = {
			...access.roots,
			...given,
			environment: access.environment,
			home,
			outputDir: `${stored.directory ?? stored.workDir}/output`,
			files: access.files,
			allFiles: hostServices.files,
			secrets: access.secrets,
			processes: access.sandbox.processes,
			sandbox: access.sandbox.tool,
			web: {
				network,
				allowed: agentwire.fetchAllow,
				async refuses(url) {
					const subjects = [{ kind: "network", url: url.href }] as const;
					const verdict = await judge.decide({ action: "fetch page", subjects, byDefault: "allow" });
					return verdict?.decision === "deny" ? verdict.reason : null;
				},
				fetchService: toWebService(services.moonshotFetch, version, models.keys),
				searchService: toWebService(services.moonshotSearch, version, models.keys),
				readPage,
			},
			findRipgrep,
			clock,
			todos: {
				read: () => stored.state().todos,
				write: async (todos) => void (await stored.commit({ state: { todos } })),
			},
		};
	}

	async create(toolPaths: readonly string[], operations: SessionOperations): Promise<readonly Tool[]> {
		const { createTools } = await import("../../core/tools/built-in-tools.ts");
		return [...createTools(toolPaths, { ...operations, ...this.#environment }), ...this.#plugins];
	}

	async findFiles(query: string): Promise<FoundFiles> {
		this.#finder ??= import("../../core/tools/search/file-finder.ts").then(
			({ FileFinder }) => new FileFinder(this.#environment),
		);
		return await (await this.#finder).find(query);
	}
}

/** Tools of all usable plugins. Logs and skips unusable tools and taken names. `values` is called at each tool call. */
export async function loadPluginTools(
	hostServices: Pick<HostServices, "files" | "processes" | "environment" | "shareDir" | "log">,
	values: () => Promise<HostValues>,
): Promise<readonly Tool[]> {
	const { log } = hostServices;
	const plugins = await discoverPlugins(hostServices);
	if (plugins.length === 0) return [];
	const { createPluginTool } = await import("../../core/tools/plugin-tool.ts");
	const compile = createSchemaCompiler("the plugins");
	const tools = new Map<string, Tool>();
	const all = plugins.flatMap((plugin) => plugin.tools.map((declared) => ({ plugin, declared })));
	const [first] = all.slice(maximumTools);
	if (first !== undefined) {
		log.warn(`Plugins can have at most ${maximumTools} tools together; those from this one on are left out.`, {
			plugin: first.plugin.name,
			tool: first.declared.name,
			found: all.length,
		});
	}
	for (const { plugin, declared } of all.slice(0, maximumTools)) {
		const fields = { plugin: plugin.name, tool: declared.name };
		if (isBuiltInToolName(declared.name) || tools.has(declared.name)) {
			log.warn("A tool of a plugin has the name of another tool and is left out.", fields);
			continue;
		}
		const inject = async () => chooseInjected(plugin.inject, await values());
		const made = await createPluginTool(plugin.directory, declared, hostServices, inject, compile);
		if (made.ok) tools.set(declared.name, made.tool);
		else log.warn("A tool of a plugin cannot be used and is left out.", { ...fields, reason: made.reason });
	}
	return [...tools.values()];
}

/** The configured service. Requests to it carry our name. */
function toWebService(settings: ServiceSettings | null, version: string, keys: KeyRing): WebService | null {
	if (settings === null) return null;
	const { baseUrl, customHeaders } = settings;
	return {
		baseUrl,
		customHeaders: { "user-agent": `agentwire/${version}`, ...customHeaders },
		token: () => keys.keyOf(settings),
	};
}

export function composeServers(
	workDir: string,
	{ mcp, agentwire }: Configuration,
	{ environment, clock, log, ownFiles, shareDir }: HostServices,
	serverPool: () => Promise<Pick<ServerPool, "acquire">>,
): LoadServers {
	return async ({ questions, isTaken }, servers) => {
		// A directory where project files cannot influence which program runs.
		const startDir = (await ownFiles.status(shareDir).catch(() => null))?.kind === "directory" ? shareDir : "/";
		const [{ ServerSet }, pool] = await Promise.all([import("../../core/mcp/server-set.ts"), serverPool()]);
		return new ServerSet({
			servers,
			acquire: (server) => pool.acquire(server, { workDir, startDir, environment }),
			isTaken: (name) => isBuiltInToolName(name) || isTaken(name),
			questions,
			callTimeout: mcp.client.toolCallTimeoutMs,
			startTimeout: agentwire.mcpStartTimeout,
			clock,
			log,
		});
	};
}
