// The bundle: CommonJS in chunks, so that lazily loaded code costs the start nothing. What answers a client before the program is
// loaded is one small file, and what every server loads another, because thirty small ones take five milliseconds longer.
import { fileURLToPath } from "node:url";
import { type ChunkingContext, defineConfig, type OutputOptions, type Plugin, type RolldownOptions } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { scenariosText } from "./scripts/scenarios.ts";
import { pageBuild } from "./web/bundle.ts";

const entry = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const launch = entry("src/cli/launch.ts");
const start = entry("src/cli/start.ts");
const main = entry("src/cli/main.ts");
const server = entry("src/cli/serve.ts");
const relay = entry("src/cli/attach/relay.ts");
/**
 * What every server loads once it has answered. What is loaded with the first prompt alone stays apart: while that is not in the
 * code cache, the cache is of processes that ran no turn, and is written again.
 */
const tools = entry("src/core/tools/built-in-tools.ts");

/** A module with all its static imports. */
function loadedWith(id: string, context: ChunkingContext, found = new Set<string>()): ReadonlySet<string> {
	if (!found.has(id)) {
		found.add(id);
		for (const imported of context.getModuleInfo(id)?.importedIds ?? []) loadedWith(imported, context, found);
	}
	return found;
}

/** The chunks that every server loads, in this order; each holds what the ones before it do not. Thirty small files take five milliseconds longer. */
function toGroups(first: string) {
	const chunks: readonly (readonly [name: string, entries: readonly string[]])[] = [
		// A relay loads this and its own code.
		["first", [first]],
		["relay", [relay]],
		["start", [start]],
		["server", [main, server]],
		["tools", [tools]],
	];
	const runtime = "\0rolldown/runtime.js";
	return chunks.map(([name, entries], index) => ({
		name: (id: string, context: ChunkingContext) =>
			// The file that the executable loads keeps its place: it finds the others from there.
			id !== first && (entries.some((each) => loadedWith(each, context).has(id)) || (index === 0 && id === runtime))
				? name
				: null,
		debugName: name,
		priority: chunks.length - index,
	}));
}

/** The module that replaces every HTTP client but ours. */
const refusedFetch = entry("src/ports/network/refused-fetch.ts");
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

/** Both forms of the program: a package that Node runs, and one file, of which Bun makes an executable. */
export type ProgramForm = "package" | "one-file";

/**
 * Modules of Node that take long to load, in Bun two milliseconds for the first, are loaded when they are used. What is
 * imported from them is always read through one variable of each chunk.
 */
const lateBuiltins: Plugin = {
	name: "late-builtins",
	renderChunk(code) {
		const late =
			/\b(node_(?:net|tty|zlib|util|child_process|crypto|worker_threads|module|stream|string_decoder)) = require\(("node:[a-z_]+")\)/g;
		const names = [...code.matchAll(late)]
			.map(([, name = ""]) => name)
			// What is passed on as a whole, for its default export say, is loaded at once.
			.filter((name) => !new RegExp(`\\b${name}\\b(?!\\.| = require\\()`).test(code));
		if (names.length === 0) return null;
		const required = code.replaceAll(late, (all, name: string, module: string) =>
			names.includes(name) ? `${name} = () => require(${module})` : all,
		);
		return required.replaceAll(new RegExp(`\\b(${names.join("|")})\\.`, "g"), "($1()).");
	},
};

const oneFile = entry("src/cli/launch-one-file.ts");
const pageThread = entry("src/core/tools/web/web-page-thread.ts");

function toOptions(form: ProgramForm, output: OutputOptions): RolldownOptions & { readonly output: OutputOptions } {
	return {
		platform: "node",
		plugins: [otherClients],
		transform: {
			define: { agentwireIsOneFile: String(form === "one-file") },
			inject: {
				fetch: [refusedFetch, "refusedFetch"],
				"globalThis.fetch": [refusedFetch, "refusedFetch"],
				"window.fetch": [refusedFetch, "refusedFetch"],
			},
		},
		// Its binary is in packages of its own, one per platform.
		external: ["@vscode/ripgrep"],
		output: {
			format: "cjs",
			entryFileNames: "[name].cjs",
			chunkFileNames: "chunks/[name]-[hash].cjs",
			minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
			// The text stays in memory. Licences of libraries stay in it.
			comments: { jsdoc: false, annotation: false, legal: true },
			// Plain ASCII is loaded faster.
			charset: "ascii",
			cleanDir: true,
			...output,
		},
		checks: { eval: false },
	};
}

/** What Bun makes the one file of, written to `dir`. */
export function toOneFileOptions(dir: string): RolldownOptions & { readonly output: OutputOptions } {
	const input = { agentwire: oneFile, "web-page-thread": pageThread };
	const options = toOptions("one-file", {
		dir,
		codeSplitting: { groups: toGroups(oneFile) },
	});
	return { ...options, input, plugins: [otherClients, lateBuiltins] };
}

const scenarios: Plugin = {
	name: "scenarios",
	generateBundle() {
		this.emitFile({ type: "asset", fileName: "scenarios.json", source: scenariosText() });
	},
};

const program = defineConfig({
	...toOptions("package", {
		dir: "dist",
		codeSplitting: { groups: toGroups(launch) },
	}),
	plugins: [otherClients, lateBuiltins, scenarios],
	input: { launch, main, "web-page-thread": pageThread },
});

const client = entry("src/client/client.ts");

/** In the library the client is a file of its own, with the real `fetch` and nothing of the kernel. */
const clientApart: Plugin = {
	name: "client-apart",
	resolveId: (source) => (source.endsWith("/client/client.ts") ? { id: "./client.mjs", external: true } : null),
};

const testing = entry("src/testing/testing.ts");

/** What tests use runs on the kernel of the library, not on a copy of it. */
const kernelApart: Plugin = {
	name: "kernel-apart",
	resolveId: (source) => (source === "../index.ts" ? { id: "./index.mjs", external: true } : null),
};

const modules: OutputOptions = {
	dir: "dist/lib",
	format: "esm",
	entryFileNames: "[name].mjs",
	chunkFileNames: "chunks/[name]-[hash].mjs",
	cleanDir: false,
};

/** The declarations of the library. A file that they come from states the types of what it exports. */
export const declarations = defineConfig({
	platform: "neutral",
	external: /^node:/,
	plugins: [dts({ emitDtsOnly: true, oxc: true, tsconfig: false })],
	input: { index: entry("src/index.ts"), client, testing },
	output: {
		dir: "dist/lib",
		format: "esm",
		entryFileNames: "[name].mjs",
		chunkFileNames: "types.mjs",
		// `await using`, which compilers know since 5.2 and whose types no default target includes.
		banner: '/// <reference lib="esnext.disposable" />',
		cleanDir: false,
	},
});

/** The library: a kernel in the caller's process, the client, and what tests of both use. */
const library = [
	{
		...toOptions("package", modules),
		input: { index: entry("src/index.ts") },
		plugins: [otherClients, clientApart],
	},
	defineConfig({ platform: "neutral", external: /^node:/, input: { client }, output: { ...modules, minify: true } }),
	defineConfig({
		platform: "node",
		input: { testing },
		plugins: [kernelApart],
		output: modules,
	}),
	declarations,
];

// The page and the library are built after the program, whose build empties the directory that all are in.
export default [program, ...library, pageBuild];
