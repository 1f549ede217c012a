// The runtime that runs the program, for people and for programs that check before they start a server.

export interface RuntimeInfo {
	readonly name: "node" | "bun";
	/** Such as `20.19.0`. */
	readonly version: string;
}

/** Bun reports a version of Node as well, the one that it imitates. */
export function describeRuntime(
	versions: Readonly<Record<string, string | undefined>> = process.versions,
): RuntimeInfo {
	const { bun, node = "" } = versions;
	return bun === undefined ? { name: "node", version: node } : { name: "bun", version: bun };
}
