// Locates ripgrep: the installed copy, else the one in PATH. The package contains a binary per platform, so it stays an
// installed dependency and is never bundled.
import { createRequire } from "node:module";

/** A file to start, or a name for PATH. Resolved, not imported: code from the code cache has no dynamic import. */
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
