// Builds the program as one file for this machine: `npm run build:binary`. Compiled code cannot be made for another platform.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type OutputOptions, type RolldownOptions, rolldown } from "rolldown";
import { toOneFileOptions } from "../../rolldown.config.ts";
import type { EmbeddedName } from "../../src/cli/installation/one-file.ts";
import { pageBuild } from "../../web/bundle.ts";
import { scenariosText } from "../scenarios.ts";
import { binaryPath, findBun, findRipgrepProgram, ownPlatform } from "./bun.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The names under which the program serves without a flag. */
const otherNames = ["kimi", "kimi-agent", "rkat", "rkat-rpc"];

/** By how much later than usual functions are compiled for speed. */
const startPolicy = 10;

const flags = [
	"--compile",
	"--bytecode",
	"--format=cjs",
	"--target=bun",
	// Compiling hot functions again competes with the start for the processor; launch-one-file.ts puts that right.
	`--compile-jit-policy=${startPolicy}`,
	"--minify-syntax",
	"--minify-whitespace",
	// What lies in somebody's work directory must not change how the program runs.
	"--no-compile-autoload-dotenv",
	"--no-compile-autoload-bunfig",
	"--no-compile-autoload-tsconfig",
	"--no-compile-autoload-package-json",
];

export interface BuiltBinary {
	readonly executable: string;
	/** The modules that it is made of. */
	readonly modules: readonly string[];
}

/** Builds the executable. */
export async function buildBinary(): Promise<BuiltBinary> {
	const platform = ownPlatform();
	const executable = binaryPath(root, platform);
	const stage = path.join(root, "build", "stage");
	rmSync(stage, { recursive: true, force: true });
	mkdirSync(path.dirname(executable), { recursive: true });
	const chunks = await bundle(toOneFileOptions(stage));
	const modules = chunks.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
	await bundle(pageBuild);
	const assets = [
		embed(stage, "skills", path.join(root, "skills")),
		embed(stage, "ripgrep", findRipgrepProgram(platform)),
		embed(stage, "gateway-page", path.join(root, "dist", "web")),
		embed(stage, "documents", gatherDocuments(stage)),
	];
	rmSync(executable, { force: true });
	execFileSync(
		findBun(platform),
		[
			"build",
			...flags,
			...assets.map((asset) => `--asset=${asset}`),
			`--outfile=${executable}`,
			"./agentwire.cjs",
			"./web-page-thread.cjs",
		],
		{ cwd: stage, stdio: ["ignore", "ignore", "inherit"] },
	);
	linkOtherNames(executable);
	return { executable, modules };
}

/** Writes a bundle; returns what it consists of. */
async function bundle({ output, ...input }: RolldownOptions & { readonly output: OutputOptions }) {
	const built = await rolldown({ ...input, logLevel: "warn" });
	try {
		return (await built.write(output)).output;
	} finally {
		await built.close();
	}
}

/** Copies a directory, or one file, to a directory of the stage that is named by its content; returns the name. */
function embed(stage: string, name: EmbeddedName, source: string): string {
	const isDirectory = statSync(source).isDirectory();
	const files = isDirectory
		? readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) =>
				statSync(path.join(source, file)).isFile(),
			)
		: [path.basename(source)];
	const sum = createHash("sha256");
	for (const file of files.sort()) {
		sum.update(`${file}\0`).update(readFileSync(isDirectory ? path.join(source, file) : source));
	}
	const folder = `${name}-${sum.digest("hex").slice(0, 16)}`;
	if (isDirectory) cpSync(source, path.join(stage, folder), { recursive: true });
	else cpSync(source, path.join(stage, folder, path.basename(source)));
	return folder;
}

/** Copies the documents to a directory of the stage, without the images, which are for readers of the sources. */
function gatherDocuments(stage: string): string {
	const gathered = path.join(stage, "gathered-documents");
	const isText = (file: string) => statSync(file).isDirectory() || file.endsWith(".md");
	for (const name of ["README.md", "CHANGELOG.md", "docs"]) {
		cpSync(path.join(root, name), path.join(gathered, name), { recursive: true, filter: isText });
	}
	mkdirSync(path.join(gathered, "dist"));
	writeFileSync(path.join(gathered, "dist", "scenarios.json"), scenariosText());
	return gathered;
}

/** Gives the file its other names. Not as symbolic links: people move them elsewhere. */
export function linkOtherNames(executable: string): void {
	for (const name of otherNames) {
		const link = path.join(path.dirname(executable), `${name}${path.extname(executable)}`);
		rmSync(link, { force: true });
		linkSync(executable, link);
	}
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const { executable } = await buildBinary();
	console.log(`${executable}: ${(statSync(executable).size / 1_000_000).toFixed(0)} MB`);
}
