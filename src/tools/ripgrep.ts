// Where the search program is: the copy that is installed with us, else whatever the PATH has.
// The package holds a binary per platform, so it stays an installed dependency and is never bundled.

/** A file to start, or a name for the PATH. */
export async function findRipgrep(): Promise<string> {
	try {
		return (await import("@vscode/ripgrep")).rgPath;
	} catch {
		// It throws when it has no binary for this platform.
		return "rg";
	}
}
