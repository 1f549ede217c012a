// Session approvals in the former storage format: the name of an act, which covered every call of its kind.

/** Grants too broad to keep: they cover every command or every file. */
const broad: ReadonlySet<string> = new Set([
	"run command",
	"run background command",
	"run shell command",
	"edit file",
	"edit file outside of working directory",
	"edit file that may hold secrets",
]);

export function isBroadGrant(grant: string): boolean {
	return broad.has(grant);
}
