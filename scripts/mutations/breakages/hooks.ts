// What hooks do wrong.
import type { Breakage } from "../breakage.ts";

export const hooks: readonly Breakage[] = [
	{
		name: "the last hook that blocks gives the reason",
		file: "hooks/selection.ts",
		find: "decisions.find(",
		replace: "decisions.findLast(",
	},
	{
		name: "a command that is listed twice runs twice when the second is to block if it fails",
		file: "hooks/selection.ts",
		find: "const index = earlier?.index ?? selected.length;",
		replace: "const index = selected.length;",
	},
	{
		name: "a command that is listed twice fails open although one of the two is to block then",
		file: "hooks/selection.ts",
		find: "if (earlier !== undefined && (earlier.failClosed || !hook.failClosed)) continue;",
		replace: "if (earlier !== undefined) continue;",
	},
	{
		name: "a hook that fails closed allows when its matcher cannot be used",
		file: "hooks/selection.ts",
		find: "if (result.ok ? !result.isFound : !hook.failClosed) continue;",
		replace: "if (!result.ok || !result.isFound) continue;",
	},
	{
		name: "a hook that crashes allows although it is to block then",
		file: "hooks/command-hook.ts",
		find: "return hook.failClosed ?",
		replace: 'return hook.command === "" ?',
	},
	{
		name: "the end of a hook's interaction is not delivered",
		file: "kernel/turn/hook-runner.ts",
		find: 'await emit({ type: "interaction.resolved", interactionId: interaction.id, answer, by });',
		replace: "",
	},
	{
		name: "hooks are delivered before any handshake",
		file: "kernel/turn/hook-runner.ts",
		find: "clients.areAnnounced && emit !== null ? emit",
		replace: "emit !== null ? emit",
	},
];
