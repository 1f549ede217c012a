/** Formats whose parsers in the library always terminate. The others loop endlessly on zero-size boxes. */
const safeFormats: ReadonlySet<string> = new Set(["bmp", "gif", "ico", "jpg", "png", "psd", "tga", "tiff", "webp"]);

/** Bytes to search. Photos have their size after a preview; searching more would take too long. */
const searchedLength = 256 * 1024;

export interface PixelSize {
	readonly width: number;
	readonly height: number;
}

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
