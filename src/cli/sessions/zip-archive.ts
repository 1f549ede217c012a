export interface ArchiveEntry {
	readonly name: string;
	readonly modifiedAt: number;
	readonly pieces: AsyncIterable<Uint8Array>;
}

/** Maximum archive bytes: the format without extensions cannot express more than four gigabytes. */
export const archiveLimit = 4_000_000_000;
export const entryLimit = 65_535;

const firstTime = new Date(1980, 0, 2).getTime();
const lastTime = new Date(2099, 11, 30).getTime();

/** Streams the archive; reads each entry in turn. Fails if reading an entry fails. */
export async function* zipPieces(entries: AsyncIterable<ArchiveEntry>): AsyncGenerator<Uint8Array> {
	const { Zip, ZipDeflate } = await import("fflate");
	let waiting: Uint8Array[] = [];
	let failure: Error | null = null;
	const zip = new Zip((error, data) => {
		if (error !== null) failure = error;
		else waiting.push(data);
	});
	const take = (): Uint8Array[] => {
		if (failure !== null) throw failure;
		const taken = waiting;
		waiting = [];
		return taken;
	};
	for await (const { name, modifiedAt, pieces } of entries) {
		const entry = new ZipDeflate(name);
		entry.mtime = Math.min(Math.max(modifiedAt, firstTime), lastTime);
		zip.add(entry);
		for await (const piece of pieces) {
			entry.push(piece);
			yield* take();
		}
		entry.push(new Uint8Array(), true);
		yield* take();
	}
	zip.end();
	yield* take();
}
