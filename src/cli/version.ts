// The names and versions that the program reports.
import path from "node:path";
import { codexProtocolVersion } from "../frontends/codex/protocol-version.ts";
import { productName, productVersion } from "../host/product.ts";
import { isCalledKimi } from "./arguments/executable-name.ts";

/** The release of `kimi` that this version is compatible with. */
export const emulatedVersion = "1.49.0";
export const agentSpecVersions: readonly string[] = ["1"];

/** The line of `codex --version`: clients take the version from its second word. */
export const codexVersionText = () =>
	`codex-protocol ${codexProtocolVersion} (${productName} ${productVersion}, not the Codex CLI)`;

/** The version that clients of this executable name expect. */
export const versionOf = (executable: string): string => (isCalledKimi(executable) ? emulatedVersion : productVersion);

/**
 * The line of `--version`. Clients that call the program under another one's name parse the version of that program.
 */
export function versionText(executable: string): string {
	if (isCalledKimi(executable)) return `${path.basename(executable)}, version ${emulatedVersion}`;
	return `${productName}, version ${productVersion} (compatible with kimi ${emulatedVersion})`;
}
