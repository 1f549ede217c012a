// The bundle: CommonJS in chunks, so that what is loaded lazily costs the start nothing, and what every server loads is
// one file: thirty small ones cost it five milliseconds more.
import { fileURLToPath } from "node:url";
import { type ChunkingContext, defineConfig } from "rolldown";

const entry = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const launch = entry("src/cli/launch.ts");
const main = entry("src/cli/main.ts");
const server = entry("src/cli/serve.ts");

/** All modules that a module loads with it. */
function loadedWith(id: string, context: ChunkingContext, found = new Set<string>()): ReadonlySet<string> {
	if (!found.has(id)) {
		found.add(id);
		for (const imported of context.getModuleInfo(id)?.importedIds ?? []) loadedWith(imported, context, found);
	}
	return found;
}

let serverModules: ReadonlySet<string> | null = null;

function toServerChunk(id: string, context: ChunkingContext): string | null {
	if (serverModules === null) {
		const earlier = new Set([...loadedWith(launch, context), ...loadedWith(main, context)]);
		serverModules = new Set([...loadedWith(server, context)].filter((module) => !earlier.has(module)));
	}
	return serverModules.has(id) ? "server" : null;
}

export default defineConfig({
	input: { launch, main },
	platform: "node",
	// Its binary comes in packages of its own, one per platform.
	external: ["@vscode/ripgrep"],
	output: {
		dir: "dist",
		format: "cjs",
		entryFileNames: "[name].cjs",
		chunkFileNames: "chunks/[name]-[hash].cjs",
		minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
		// Plain ASCII is read faster.
		charset: "ascii",
		codeSplitting: { groups: [{ name: toServerChunk, debugName: "server" }] },
		cleanDir: true,
	},
	checks: { eval: false },
});
