// The programs that are measured, each with its own sessions and compiled code.
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { binaryPath } from "../scripts/binary/bun.ts";
import type { Target } from "./child.ts";
import type { Choice } from "./choice.ts";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** What the program that is compared with the others is called, the package with Node. */
export const own = "agentwire";
export const oneFile = "one file";
export const bare = "bare node";
export const bareRelay = "bare relay";

/** What measured processes see: their own sessions and compiled code, and no certificates that Node would read. */
export function createEnvironment(folder: string, name: string): NodeJS.ProcessEnv {
	const { NODE_EXTRA_CA_CERTS: _certificates, NODE_OPTIONS: _options, ...rest } = process.env;
	return {
		...rest,
		KIMI_SHARE_DIR: path.join(folder, `${name}-share`),
		XDG_CACHE_HOME: path.join(folder, `${name}-cache`),
	};
}

/** The package, then the peers. */
export function createTargets({ peers, executable }: Choice, folder: string): Target[] {
	const targets: Target[] = [{ name: own, command: [executable], environment: createEnvironment(folder, own) }];
	for (const [index, peer] of peers.entries()) {
		const [, name = index === 0 ? "peer" : `peer ${index + 1}`, command = ""] =
			/^(?:([\w .-]+)=)?(.*)$/s.exec(peer) ?? [];
		const [file = "", ...rest] = command.trim().split(/\s+/);
		if (file === "") throw new Error(`--peer needs NAME=COMMAND, not ${JSON.stringify(peer)}.`);
		targets.push({ name, command: [file, ...rest], environment: createEnvironment(folder, name.replaceAll(" ", "-")) });
	}
	return targets;
}

/** The program as one file, if it is built for this machine. */
export function findOneFile(folder: string): Target[] {
	const binary = binaryPath(root);
	if (existsSync(binary))
		return [{ name: oneFile, command: [binary], environment: createEnvironment(folder, "one-file") }];
	process.stderr.write("Without the one file: build it with npm run build:binary.\n");
	return [];
}

/** What Node needs to carry deltas from a provider to clients without an agent. */
export const createBareRelay = (folder: string): Target => ({
	name: bareRelay,
	command: ["node", path.join(root, "bench", "gateway", "bare-relay.mjs")],
	environment: createEnvironment(folder, "bare-relay"),
});
