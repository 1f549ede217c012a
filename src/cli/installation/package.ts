import path from "node:path";
import type { Installation } from "../../host/installation.ts";

export function createPackageInstallation(directory: string): Installation {
	return {
		command: [process.execPath, path.join(directory, "bin", "agentwire")],
		skillsDir: path.join(directory, "skills"),
		pageDir: path.join(directory, "dist", "web"),
		pageThread: path.join(directory, "dist", "web-page-thread.cjs"),
		documentsDir: () => directory,
		findRipgrep: async () => (await import("../../core/tools/search/ripgrep.ts")).findRipgrep(),
	};
}
