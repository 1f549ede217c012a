// The tools of one turn: the built-in ones first, then those the attached clients brought.
import type { ToolBox } from "../agent/dependencies.ts";
import type { Tool } from "../tools/tool.ts";

/** `clientTools` is asked anew each time: clients come and go. */
export function createToolBox(
	builtin: readonly Tool[],
	clientTools: () => readonly ReadonlyMap<string, Tool>[],
): ToolBox {
	const all = () => [...builtin, ...clientTools().flatMap((tools) => [...tools.values()])];
	return {
		find: (name) => all().find((tool) => tool.name === name) ?? null,
		specifications: () =>
			Promise.all(
				all().map(async (tool) => ({
					name: tool.name,
					description: tool.description,
					parameters: await tool.parameters(),
				})),
			),
	};
}
