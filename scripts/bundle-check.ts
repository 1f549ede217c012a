// Who could make a request past the network: code that names the platform's `fetch`, or another client of HTTP.
import { readFileSync } from "node:fs";
import path from "node:path";
import { rolldown } from "rolldown";

/** What stands for the platform's client where it is named without being declared. */
const names = ["fetch", "globalThis.fetch", "global.fetch", "self.fetch", "window.fetch"];
const marker = "\0platform-fetch";

/** Those of the files, and of the files that they import, in which the platform's `fetch` is named; sorted. */
export async function findPlatformFetch(files: readonly string[]): Promise<string[]> {
	const found = new Set<string>();
	const bundle = await rolldown({
		input: [...files],
		platform: "node",
		logLevel: "silent",
		external: (id) => !id.startsWith(".") && !path.isAbsolute(id) && id !== marker,
		transform: { inject: Object.fromEntries(names.map((name) => [name, [marker, "used"] as [string, string]])) },
		plugins: [
			{
				name: "platform-fetch",
				resolveId(source, importer) {
					if (source !== marker) return null;
					if (importer !== undefined) found.add(importer);
					return marker;
				},
				load: (id) => (id === marker ? "export const used = null;" : null),
			},
		],
	});
	try {
		await bundle.generate({ format: "esm" });
	} finally {
		await bundle.close();
	}
	return [...found].sort();
}

/** Traces of clients of HTTP that nothing of ours imports any more; the libraries that may be in a bundle have none. */
const traces = [/require\(["'](?:undici|node-fetch)["']\)/, /["']undici["']/, /assert\(!this\.paused\)/];

/** Those of the files that hold another client than Node's own. */
export function findOtherClients(files: readonly string[]): string[] {
	return files.filter((file) => {
		const text = readFileSync(file, "utf8");
		return traces.some((trace) => trace.test(text));
	});
}
