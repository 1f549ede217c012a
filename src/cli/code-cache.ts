// Loads the program's own chunks with V8's compiled code from the user's cache directory, so that a start does not
// compile them again. Node loads everything else. Without a usable cache directory it just compiles.
import { isAscii } from "node:buffer";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { errorText } from "../base/errors.ts";
import { writeCacheFile } from "./cache-file.ts";

interface LoadedChunk {
	readonly script: Script;
	readonly cachePath: string;
	/** Bytes of the compiled code that came from the cache; 0 where none did. */
	readonly cachedSize: number;
}

export interface CodeCache {
	/** Loads a chunk by absolute path and returns its exports. */
	require(chunk: string): unknown;
	/**
	 * Writes the compiled code if some chunk was not cached: of that one, and of those of which more is compiled now, since this
	 * process came further than the one that wrote them. Call it before the program exits. Where that takes long it stops early,
	 * after one chunk at least.
	 */
	save(): void;
}

/** Milliseconds for the writing: usually a tenth of that. A process that is due to exit must not be killed for it. */
const savingTime = 400;

type Wrapper = (
	exports: object,
	require: (id: string) => unknown,
	module: { exports: object },
	file: string,
	dir: string,
) => void;

/** `directory` belongs to the cache; its name should include the version. `now` is a time in milliseconds. */
export function createCodeCache(directory: string, now: () => number = () => performance.now()): CodeCache {
	const modules = new Map<string, { exports: object }>();
	const chunks: LoadedChunk[] = [];

	const load = (file: string): object => {
		const known = modules.get(file);
		if (known !== undefined) return known.exports;
		// The first file of the program, and what Node has loaded for it, exist once.
		const loaded = createRequire(file).cache[file];
		if (loaded?.loaded === true) return loaded.exports;
		const module = { exports: {} };
		modules.set(file, module);
		try {
			run(file, module);
		} catch (thrown) {
			// A later `require` must not get a half-loaded module.
			modules.delete(file);
			throw thrown;
		}
		return module.exports;
	};

	const run = (file: string, module: { exports: object }): void => {
		const source = readChunk(file);
		const cachePath = path.join(directory, `${path.basename(file)}.${crc32(source).toString(16)}.bin`);
		const cachedData = readCompiled(cachePath);
		const script = new Script(`(function (exports, require, module, __filename, __dirname) { ${toText(source)}\n})`, {
			filename: file,
			...(cachedData === null ? {} : { cachedData }),
		});
		const isCached = cachedData !== null && script.cachedDataRejected !== true;
		chunks.push({ script, cachePath, cachedSize: isCached ? cachedData.length : 0 });
		const wrapper: Wrapper = script.runInThisContext();
		const nodeRequire = createRequire(file);
		const requireFrom = (id: string): unknown =>
			id.startsWith(".") && id.endsWith(".cjs") ? load(path.resolve(path.dirname(file), id)) : nodeRequire(id);
		wrapper(module.exports, requireFrom, module, file, path.dirname(file));
	};

	return {
		require: load,
		save() {
			const begun = now();
			const isMissing = ({ cachedSize }: LoadedChunk) => cachedSize === 0;
			if (!chunks.some(isMissing)) return;
			const missingFirst = chunks.toSorted((one, other) => Number(isMissing(other)) - Number(isMissing(one)));
			for (const { script, cachePath, cachedSize } of missingFirst) {
				const compiled = script.createCachedData();
				// V8 drops what has not run for long, also what every start needs.
				if (compiled.length > cachedSize) writeCacheFile(cachePath, withChecksum(compiled));
				if (now() - begun > savingTime) return;
			}
		},
	};
}

/** Fails with a sentence for people where an update has replaced the program that runs: its parts have other names then. */
function readChunk(file: string): Buffer {
	try {
		return readFileSync(file);
	} catch (thrown) {
		throw new Error(
			`A part of the program cannot be read: it was updated or removed while it runs, or its files are damaged. Start it again. (${errorText(thrown)})`,
			{ cause: thrown },
		);
	}
}

/** Plain ASCII, as the bundler writes it, is decoded in half the time. */
function toText(source: Buffer): string {
	return isAscii(source) ? source.toString("latin1") : source.toString("utf8");
}

/** Eight bytes, of which four are used: V8 would copy code that does not begin at a multiple of eight. */
const checksumSize = 8;

/**
 * A cache file is a checksum and the compiled code; its name identifies the source. V8 itself compares only the length
 * of the source, would run the code of another build, and crashes on a file that a power failure has left half written.
 */
function readCompiled(file: string): Buffer | null {
	try {
		const content = readFileSync(file);
		const compiled = content.subarray(checksumSize);
		return content.readUInt32LE() === crc32(compiled) ? compiled : null;
	} catch {
		return null;
	}
}

function withChecksum(compiled: Buffer): Buffer {
	const checksum = Buffer.alloc(checksumSize);
	checksum.writeUInt32LE(crc32(compiled));
	return Buffer.concat([checksum, compiled]);
}
