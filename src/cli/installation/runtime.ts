// The runtime, for users and for programs that check it before starting a server.

export interface RuntimeInfo {
	readonly name: "node" | "bun";
	/** Such as `20.19.0`. */
	readonly version: string;
}

/** Bun also reports the Node version that it emulates. */
export function describeRuntime(
	versions: Readonly<Record<string, string | undefined>> = process.versions,
): RuntimeInfo {
	const { bun, node = "" } = versions;
	return bun === undefined ? { name: "node", version: node } : { name: "bun", version: bun };
}
