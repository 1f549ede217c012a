// Builds the program as one file for this machine: `npm run build:binary`. Compiled code cannot be made for another platform.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, linkSync, mkdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { toOneFileOptions } from "../../rolldown.config.ts";
import { embedded } from "../../src/cli/installation/one-file.ts";
import { binaryPath, findBun, findRipgrepProgram, ownPlatform } from "./bun.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The names under which the program serves without a flag. */
const otherNames = ["kimi", "kimi-agent", "rkat-rpc"];

const flags = [
	"--compile",
	"--bytecode",
	"--format=cjs",
	"--target=bun",
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
	const { output, ...input } = toOneFileOptions(stage);
	const bundle = await rolldown({ ...input, logLevel: "warn" });
	let modules: readonly string[] = [];
	try {
		const written = await bundle.write(output);
		modules = written.output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
	} finally {
		await bundle.close();
	}
	cpSync(path.join(root, "skills"), path.join(stage, embedded.skills), { recursive: true });
	copyFileSync(findRipgrepProgram(platform), path.join(stage, embedded.ripgrep));
	rmSync(executable, { force: true });
	execFileSync(
		findBun(platform),
		[
			"build",
			...flags,
			...[`--asset=${embedded.skills}`, `--asset=${embedded.ripgrep}`],
			`--outfile=${executable}`,
			"./agentwire.cjs",
			"./web-page-thread.cjs",
		],
		{ cwd: stage, stdio: ["ignore", "ignore", "inherit"] },
	);
	for (const name of otherNames) linkNextTo(executable, name);
	return { executable, modules };
}

/** Links of Windows need rights that few have; there a second name of the same file. */
function linkNextTo(executable: string, name: string): void {
	const link = path.join(path.dirname(executable), `${name}${path.extname(executable)}`);
	rmSync(link, { force: true });
	if (process.platform === "win32") linkSync(executable, link);
	else symlinkSync(path.basename(executable), link);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const { executable } = await buildBinary();
	console.log(`${executable}: ${(statSync(executable).size / 1_000_000).toFixed(0)} MB`);
}
