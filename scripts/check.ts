// The gate before a commit, `--static` for all of it but the tests: format, lint, types, imports, generated files, unused code, and every fast test. Writes nothing.
// Prints for each red part the command that repairs it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

interface Part {
	readonly name: string;
	readonly command: readonly string[];
	readonly repair: string;
}

const parts: readonly Part[] = [
	{ name: "format and lint", command: ["biome", "check", "--error-on-warnings"], repair: "npm run fix" },
	{ name: "types", command: ["tsc", "-p", "."], repair: "fix what the compiler names" },
	{ name: "types of the page", command: ["tsc", "-p", "web"], repair: "fix what the compiler names" },
	{ name: "generated files", command: ["tsx", "scripts/generate.ts", "--check"], repair: "npm run generate" },
	{ name: "unused code", command: ["knip"], repair: "remove what is named, or use it" },
	{ name: "tests", command: ["vitest", "run", "--project", "fast"], repair: "npx vitest --project fast" },
];

const root = fileURLToPath(new URL("..", import.meta.url));
const red: Part[] = [];
const isStatic = process.argv.includes("--static");
for (const part of parts) {
	if (isStatic && part.name === "tests") continue;
	const started = Date.now();
	const { status } = spawnSync("npx", ["--no-install", ...part.command], { cwd: root, stdio: "inherit" });
	console.log(`${status === 0 ? "ok " : "RED"} ${part.name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
	if (status !== 0) red.push(part);
}
for (const { name, repair } of red) console.log(`${name}: to repair, run: ${repair}`);
process.exitCode = red.length === 0 ? 0 : 1;
