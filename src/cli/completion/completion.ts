import path from "node:path";
import { type Shell, shells } from "../arguments/commands.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { bashCompletion } from "./bash-completion.ts";
import { type CompletionLevel, completionLevels } from "./completion-levels.ts";
import { fishCompletion } from "./fish-completion.ts";
import { zshCompletion } from "./zsh-completion.ts";

const writers: Readonly<Record<Shell, (name: string, levels: readonly CompletionLevel[]) => string>> = {
	bash: bashCompletion,
	zsh: zshCompletion,
	fish: fishCompletion,
};

export function completionText(shell: Shell | null, userShell: string, executableName: string): string {
	const found = shell ?? shells.find((each) => each === path.basename(userShell));
	if (found !== undefined) return writers[found](executableName, completionLevels());
	throw new UsageError(
		`--show-completion needs the name of a shell, one of ${shells.join(", ")}: $SHELL is ${JSON.stringify(userShell)}.`,
	);
}
