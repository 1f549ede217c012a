// A call that never returns occupies a thread, so the pool is larger than Node's default of four.
import { access } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { runsOnBun } from "../../base/program-form.ts";

const threadCount = 12;

/** At most one in this many threads may be blocked by an unresponsive file; name lookups take half at most. */
const threadsPerPlace = 3;

const variable = "UV_THREADPOOL_SIZE";

let placesMade: number | null = null;

/** Call it before any file access. Returns how many calls may wait for foreign files. */
export function makeThreadPool(): number {
	placesMade ??= createThreads();
	return placesMade;
}

function createThreads(): number {
	const wanted = Number(process.env[variable]);
	if (Number.isInteger(wanted) && wanted > 0) return toPlaces(wanted);
	const threads = runsOnBun ? sizeBunsPool() : threadCount;
	process.env[variable] = String(threads);
	// The first call creates them. Children must not inherit the variable.
	access("/", () => {});
	delete process.env[variable];
	return toPlaces(threads);
}

/** Bun reads the number from the process environment, which only the C library can change. */
function sizeBunsPool(): number {
	// One more, which waits for stdin.
	const wanted = threadCount + 1;
	return setVariable(variable, String(wanted)) ? threadCount : availableParallelism();
}

const libraries: Readonly<Record<string, string>> = { linux: "libc.so.6", darwin: "libSystem.B.dylib" };

function setVariable(name: string, value: string): boolean {
	const file = libraries[process.platform];
	const { dlopen } = createRequire(import.meta.url)("bun:ffi") as BunFunctions;
	if (file === undefined) return false;
	try {
		const { symbols } = dlopen(file, { setenv: { args: ["cstring", "cstring", "i32"], returns: "i32" } });
		return symbols["setenv"]?.(Buffer.from(`${name}\0`), Buffer.from(`${value}\0`), 1) === 0;
	} catch {
		return false;
	}
}

interface BunFunctions {
	dlopen(
		file: string,
		functions: Readonly<Record<string, { readonly args: readonly string[]; readonly returns: string }>>,
	): { readonly symbols: Readonly<Record<string, (...values: readonly unknown[]) => unknown>> };
}

function toPlaces(threads: number): number {
	return Math.max(1, Math.floor(threads / threadsPerPlace));
}
