// The bundle: CommonJS in chunks, so that what is loaded lazily costs the start nothing.
import { defineConfig } from "rolldown";

export default defineConfig({
	input: { launch: "src/cli/launch.ts", main: "src/cli/main.ts" },
	platform: "node",
	// Its binary comes in packages of its own, one per platform.
	external: ["@vscode/ripgrep"],
	output: {
		dir: "dist",
		format: "cjs",
		entryFileNames: "[name].cjs",
		chunkFileNames: "chunks/[name]-[hash].cjs",
		minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
		cleanDir: true,
	},
	checks: { eval: false },
});
