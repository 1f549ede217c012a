// Contents by SHA-256, compressed, readable only by their owner. Writes are atomic, even if the process is killed.
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import { isSystemError } from "../../base/errors.ts";
import type { ContentId } from "./entry.ts";
import type { HistoryPlace } from "./history-place.ts";

const compress = promisify(deflateRaw);
const decompress = promisify(inflateRaw);

export function contentId(bytes: Uint8Array): ContentId {
	return createHash("sha256").update(bytes).digest("hex");
}

export class ObjectStore {
	readonly #directory: string;
	readonly #known = new Set<ContentId>();
	readonly #folders = new Set<string>();
	/** Has contents that are missing here. */
	readonly #place: Pick<HistoryPlace, "content"> | undefined;

	constructor(directory: string, place: Pick<HistoryPlace, "content"> | undefined) {
		this.#directory = directory;
		this.#place = place;
	}

	/** Stores the bytes. Returns the growth of the store. */
	async put(id: ContentId, bytes: Uint8Array): Promise<number> {
		if (await this.has(id)) return 0;
		const packed = await compress(bytes, { level: 1 });
		await this.putPacked(id, packed);
		return packed.length;
	}

	async putPacked(id: ContentId, packed: Uint8Array): Promise<void> {
		const file = this.#fileOf(id);
		const folder = path.dirname(file);
		if (!this.#folders.has(folder)) {
			await mkdir(folder, { mode: 0o700, recursive: true });
			this.#folders.add(folder);
		}
		const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
		try {
			await writeFile(temporary, packed, { mode: 0o600, flag: "wx" });
			await rename(temporary, file);
		} catch (thrown) {
			this.#folders.delete(folder);
			await rm(temporary, { force: true }).catch(() => undefined);
			throw thrown;
		}
		this.#known.add(id);
	}

	async has(id: ContentId): Promise<boolean> {
		if (this.#known.has(id)) return true;
		const isThere = await stat(this.#fileOf(id)).then(
			(status) => status.size > 0,
			() => false,
		);
		if (isThere) this.#known.add(id);
		return isThere;
	}

	/** The bytes; null when missing or damaged. */
	async get(id: ContentId): Promise<Buffer | null> {
		const own = await unpack(id, await this.packed(id));
		if (own !== null || this.#place === undefined) return own;
		const saved = await this.#place.content(id);
		const bytes = await unpack(id, saved);
		if (bytes !== null && saved !== null) await this.putPacked(id, saved);
		return bytes;
	}

	/** The stored bytes, compressed; null when missing. */
	async packed(id: ContentId): Promise<Buffer | null> {
		return await readFile(this.#fileOf(id)).catch((thrown: unknown) => {
			if (isSystemError(thrown)) return null;
			throw thrown;
		});
	}

	/** Removes unneeded contents and leftovers of killed processes. Returns the remaining bytes. */
	async sweep(needed: ReadonlySet<ContentId>): Promise<number> {
		let left = 0;
		this.#known.clear();
		for (const folder of await readdir(this.#directory).catch(() => [])) {
			const directory = path.join(this.#directory, folder);
			for (const name of await readdir(directory).catch(() => [])) {
				const file = path.join(directory, name);
				if (!needed.has(folder + name)) await unlink(file).catch(() => undefined);
				else
					left += await stat(file).then(
						({ size }) => size,
						() => 0,
					);
			}
		}
		return left;
	}

	#fileOf(id: ContentId): string {
		return path.join(this.#directory, id.slice(0, 2), id.slice(2));
	}
}

async function unpack(id: ContentId, packed: Uint8Array | null): Promise<Buffer | null> {
	if (packed === null) return null;
	try {
		const bytes = await decompress(packed);
		return contentId(bytes) === id ? bytes : null;
	} catch (thrown) {
		// A zlib error: it is damaged.
		if (thrown instanceof Error && "code" in thrown) return null;
		throw thrown;
	}
}
