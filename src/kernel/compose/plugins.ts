import { chooseInjected, discoverPlugins, type HostValues } from "../../core/definitions/plugin.ts";
import { createSchemaCompiler } from "../../core/tools/json-schema.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { isBuiltInToolName } from "../../core/tools/tool-paths.ts";
import type { HostServices } from "./host-services.ts";

/** Maximum tools of all plugins: every model request contains all of them. */
const maximumTools = 1000;

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
