// Each platform has its own binary, so the package stays an installed dependency and is not bundled.
import { createRequire } from "node:module";

/** A file to start, or a name for PATH. Resolved, not imported, because code from the code cache has no dynamic import. */
export function findRipgrep(): string {
	try {
		const require = createRequire(import.meta.url);
		// The binary's package is an indirect dependency, which may not be visible from here.
		const owner = createRequire(require.resolve("@vscode/ripgrep"));
		return owner.resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
	} catch {
		// No binary for this platform.
		return "rg";
	}
}
