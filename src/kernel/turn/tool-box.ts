import type { ClientCapability } from "../../api/session-options.ts";
import type { ToolLimits } from "../../api/values/turn-options.ts";
import type { ToolBox } from "../../core/agent/dependencies.ts";
import type { Tool } from "../../core/tools/tool.ts";

export interface ToolClient {
	readonly tools: ReadonlyMap<string, Tool>;
	readonly capabilities: readonly ClientCapability[];
}

/** `clients` and `servers` are called on each use, because they change. */
export function createToolBox(
	builtin: readonly Tool[],
	clients: () => readonly ToolClient[] = () => [],
	servers: () => readonly Tool[] = () => [],
): ToolBox {
	const all = () => {
		const tools = [...builtin, ...servers(), ...clients().flatMap((client) => [...client.tools.values()])];
		// Several clients may offer a tool with the same name: the first one describes it.
		const names = new Set<string>();
		return tools.filter(({ name }) => !names.has(name) && names.add(name));
	};
	const isOffered = (tool: Tool) => {
		const able = new Set(clients().flatMap(({ capabilities }) => capabilities));
		return (tool.needs ?? []).every((capability) => able.has(capability));
	};
	return {
		find: (name) => all().find((tool) => tool.name === name) ?? null,
		specifications: () =>
			Promise.all(
				all()
					.filter(isOffered)
					.map(async (tool) => ({
						name: tool.name,
						description: tool.description,
						parameters: await tool.parameters(),
					})),
			),
	};
}

/** Tools within these limits; calls of other tools find none. */
export function limitTools(box: ToolBox, limits: ToolLimits | undefined): ToolBox {
	if (limits === undefined) return box;
	const allowed = limits.allowed === null ? null : new Set(limits.allowed);
	const blocked = new Set(limits.blocked);
	const leaves = (name: string) => !blocked.has(name) && allowed?.has(name) !== false;
	return {
		find: (name) => (leaves(name) ? box.find(name) : null),
		specifications: async () => (await box.specifications()).filter(({ name }) => leaves(name)),
	};
}
