// Commands that are known to change nothing and to run nothing else.
import type { SimpleCommand } from "./script.ts";

/** Redirections are not judged here. */
export function isReadOnly(_command: SimpleCommand): boolean {
	return false;
}
