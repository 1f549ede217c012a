import path from "node:path";
import type { FindDirectories } from "../../frontends/gateway/methods.ts";
import { type Place, toAbsolutePath } from "../../host/place.ts";
import type { Files } from "../../ports/files/port.ts";

const offeredLimit = 12;

export function createDirectoryFinder(place: Place, files: Pick<Files, "list">): FindDirectories {
	return async (typed) => {
		const whole = toAbsolutePath(typed.trim(), place);
		const isInside = typed === "" || typed.endsWith("/") || typed === "~";
		const parent = isInside ? whole : path.dirname(whole);
		const start = isInside ? "" : path.basename(whole);
		const entries = await files.list(parent).catch(() => []);
		const directories = entries
			.filter(
				({ kind, name }) => kind === "directory" && name.startsWith(start) && (start !== "" || !name.startsWith(".")),
			)
			.map(({ name }) => path.join(parent, name))
			.sort()
			.slice(0, offeredLimit);
		return { path: whole, directories };
	};
}
