// The size of an image in pixels, read from the beginning of its file.

/**
 * Formats whose readers in the library come to an end whatever they are given. Those of the others loop for ever over
 * boxes that say they are empty.
 */
const safeFormats: ReadonlySet<string> = new Set(["bmp", "gif", "ico", "jpg", "png", "psd", "tga", "tiff", "webp"]);

/** Bytes that are looked at. Photographs have their size behind a preview; searching more would take long. */
const searchedLength = 256 * 1024;

export interface PixelSize {
	readonly width: number;
	readonly height: number;
}

/** Null when the size is not found. */
export async function readPixelSize(bytes: Buffer): Promise<PixelSize | null> {
	const { disableTypes, imageSize, types } = await import("image-size");
	disableTypes(types.filter((format) => !safeFormats.has(format)));
	try {
		const { width, height } = imageSize(bytes.subarray(0, searchedLength));
		return width > 0 && height > 0 ? { width, height } : null;
	} catch {
		return null;
	}
}
