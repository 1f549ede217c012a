import { UsageError } from "./usage-error.ts";

export function chooseAction<A extends string>(command: string, actions: readonly A[], typed: string | undefined): A {
	const chosen = actions.find((action) => action === typed);
	if (chosen !== undefined) return chosen;
	const known = actions.join(", ");
	if (typed === undefined) throw new UsageError(`The command '${command}' needs one of ${known}.`);
	throw new UsageError(`The command '${command}' does not know '${typed}'; it takes ${known}.`);
}
