// Loads the program's chunks with V8 compiled code from the cache directory, so that startup need not compile them.
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
	/** Bytes of compiled code read from the cache; 0 if none. */
	readonly cachedSize: number;
}

export interface CodeCache {
	/** Loads a chunk by absolute path and returns its exports. */
	require(chunk: string): unknown;
	/** Call it before the program exits. Stops early if it takes too long, but writes at least one chunk. */
	save(): void;
}

/** Milliseconds; writing usually takes a tenth of that. An exiting process must not be killed because of it. */
const savingTime = 400;

type Wrapper = (
	exports: object,
	require: (id: string) => unknown,
	module: { exports: object },
	file: string,
	dir: string,
) => void;

/** The cache owns `directory`; its name should include the version. `now` is a time in milliseconds. */
export function createCodeCache(directory: string, now: () => number = () => performance.now()): CodeCache {
	const modules = new Map<string, { exports: object }>();
	const chunks: LoadedChunk[] = [];

	const load = (file: string): object => {
		const known = modules.get(file);
		if (known !== undefined) return known.exports;
		// Reuse modules that Node has already loaded, such as the program's first file.
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
				if (compiled.length > cachedSize) writeCacheFile(cachePath, withChecksum(compiled));
				if (now() - begun > savingTime) return;
			}
		},
	};
}

/** Fails with a readable error if an update has replaced the running program and renamed its chunks. */
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

/** Decodes plain ASCII, the bundler's output, in half the time. */
function toText(source: Buffer): string {
	return isAscii(source) ? source.toString("latin1") : source.toString("utf8");
}

/** Eight bytes, four of them used: V8 copies code that is not aligned to eight bytes. */
const checksumSize = 8;

/** V8 only compares the source length: the checksum detects truncated files and other builds. */
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
