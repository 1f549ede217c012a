// Where the search program is: the copy that is installed with us, else whatever the PATH has.
// The package holds a binary per platform, so it stays an installed dependency and is never bundled.
import { createRequire } from "node:module";

/**
 * A file to start, or a name for the PATH. Resolved, not imported: code that comes from the code cache has no
 * dynamic import.
 */
export function findRipgrep(): string {
	try {
		const require = createRequire(import.meta.url);
		// The binary's package is a dependency of the package, which need not be visible from here.
		const owner = createRequire(require.resolve("@vscode/ripgrep"));
		return owner.resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
	} catch {
		// There is none for this platform.
		return "rg";
	}
}
