// The Bun that makes the executable: the program in the package of this platform, or where the install script of Bun has moved
// it to, if that was allowed to run.
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** A platform that there are executables for. */
export interface Platform {
	readonly os: "linux" | "darwin" | "win32";
	readonly cpu: "x64" | "arm64";
}

export const platforms: readonly Platform[] = [
	{ os: "linux", cpu: "x64" },
	{ os: "linux", cpu: "arm64" },
	{ os: "darwin", cpu: "x64" },
	{ os: "darwin", cpu: "arm64" },
	{ os: "win32", cpu: "x64" },
	{ os: "win32", cpu: "arm64" },
];

/** As in the names of packages and archives. */
export const nameOf = ({ os, cpu }: Platform): string => `${os}-${cpu}`;

/** Throws for a name that is none. */
export function parsePlatform(name: string): Platform {
	const found = platforms.find((platform) => nameOf(platform) === name);
	if (found !== undefined) return found;
	throw new Error(`There is no platform ${name}; there are ${platforms.map(nameOf).join(", ")}.`);
}

/** The platform of this machine. Throws when there are no executables for it. */
export const ownPlatform = (): Platform => parsePlatform(`${process.platform}-${process.arch}`);

/** The file of a program in a package of a platform, seen from the package that depends on it: the one that `owner` is a module of. */
function findInPackage(owner: string, file: string): string | null {
	const require = createRequire(import.meta.url);
	try {
		const found = createRequire(require.resolve(owner)).resolve(file);
		return existsSync(found) ? found : null;
	} catch {
		return null;
	}
}

/** Bytes that a placeholder of the program does not have. */
const leastProgram = 1_000_000;

/** The program in the package of Bun itself, where a placeholder was before. */
function findMoved(): string | null {
	const found = findInPackage("bun/package.json", "./bin/bun.exe");
	return found !== null && statSync(found).size >= leastProgram ? found : null;
}

/** Bun for this machine, or the one that `BUN_EXECUTABLE` names. Throws with what to do when it is not installed. */
export function findBun({ os, cpu } = ownPlatform()): string {
	const named = process.env["BUN_EXECUTABLE"];
	if (named !== undefined) return named;
	const program = os === "win32" ? "bun.exe" : "bun";
	const cpuName = cpu === "arm64" ? "aarch64" : "x64";
	const osName = os === "win32" ? "windows" : os;
	const name = `@oven/bun-${osName}-${cpuName}`;
	const found = findInPackage("bun/package.json", `${name}/bin/${program}`) ?? findMoved();
	if (found !== null) return found;
	throw new Error(`Bun is not installed: ${name} is missing. Run: npm ci --include=optional`);
}

/** ripgrep for this machine. Throws with what to do when it is not installed. */
export function findRipgrepProgram({ os, cpu } = ownPlatform()): string {
	const name = `@vscode/ripgrep-${os}-${cpu}`;
	const found = findInPackage("@vscode/ripgrep", `${name}/bin/${os === "win32" ? "rg.exe" : "rg"}`);
	if (found !== null) return found;
	throw new Error(`ripgrep is not installed: ${name} is missing. Run: npm ci --include=optional`);
}

/** Where the executable of this machine is built. */
export const binaryPath = (root: string, { os } = ownPlatform()): string =>
	path.join(root, "build", "binary", os === "win32" ? "agentwire.exe" : "agentwire");
