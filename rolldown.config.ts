// The bundle: CommonJS in chunks, so that lazily loaded code costs the start nothing. What every server loads is one
// file, because thirty small ones take five milliseconds longer.
import { fileURLToPath } from "node:url";
import { type ChunkingContext, defineConfig, type Plugin } from "rolldown";
import { pageBuild } from "./web/bundle.ts";

const entry = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const launch = entry("src/cli/launch.ts");
const main = entry("src/cli/main.ts");
const server = entry("src/cli/serve.ts");

/** A module with all its static imports. */
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

/** The module that replaces every HTTP client but ours. */
const refusedFetch = entry("src/network/refused-fetch.ts");
const refusedModule = "\0refused-fetch";

/** Libraries that were given our `fetch` still contain another client: by import, or by `require` in their code. */
const otherClients: Plugin = {
	name: "other-clients",
	resolveId: (source) => (source === "node-fetch" || source === "undici" ? refusedModule : null),
	load: (id) =>
		id === refusedModule ? `export { refusedFetch as default } from ${JSON.stringify(refusedFetch)};` : null,
	transform: (code, id) =>
		id.includes("provider-utils") ? code.replaceAll('("undici")', '("no other client of HTTP")') : null,
};

const program = defineConfig({
	input: { launch, main, "web-page-thread": entry("src/tools/web/web-page-thread.ts") },
	platform: "node",
	plugins: [otherClients],
	transform: {
		inject: {
			fetch: [refusedFetch, "refusedFetch"],
			"globalThis.fetch": [refusedFetch, "refusedFetch"],
			"window.fetch": [refusedFetch, "refusedFetch"],
		},
	},
	// Its binary is in packages of its own, one per platform.
	external: ["@vscode/ripgrep"],
	output: {
		dir: "dist",
		format: "cjs",
		entryFileNames: "[name].cjs",
		chunkFileNames: "chunks/[name]-[hash].cjs",
		minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
		// Plain ASCII is loaded faster.
		charset: "ascii",
		codeSplitting: { groups: [{ name: toServerChunk, debugName: "server" }] },
		cleanDir: true,
	},
	checks: { eval: false },
});

// The page is built after the program, whose build empties the directory that both are in.
export default [program, pageBuild];
