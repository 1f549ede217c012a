// Approvals for the session as they were stored before: the name of an act, which stood for every call of its kind.

/** Those that stand for too much to be retained: for every command, or every file. */
const broad: ReadonlySet<string> = new Set([
	"run command",
	"run background command",
	"run shell command",
	"edit file",
	"edit file outside of working directory",
	"edit file that may hold secrets",
]);

/** Whether a stored approval stands for more than anybody saw. */
export function isBroadGrant(grant: string): boolean {
	return broad.has(grant);
}
