import type { Files } from "../../../files/port.ts";

/** The first of `<path>.damaged-1`, `-2`, … that does not exist. */
export async function damagedPath(files: Files, path: string): Promise<string> {
	for (let n = 1; ; n += 1) {
		const candidate = `${path}.damaged-${n}`;
		if ((await files.status(candidate)) === null) return candidate;
	}
}
