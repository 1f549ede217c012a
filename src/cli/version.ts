import path from "node:path";
import { codexProtocolVersion } from "../frontends/codex/protocol-version.ts";
import { productName, productVersion } from "../host/product.ts";
import { isCalledKimi } from "./arguments/executable-name.ts";

/** The `kimi` release this version is compatible with. */
export const emulatedVersion = "1.49.0";
export const agentSpecVersions: readonly string[] = ["1"];

/** Output of `codex --version`: clients parse its second word as the version. */
export const codexVersionText = () =>
	`codex-protocol ${codexProtocolVersion} (${productName} ${productVersion}, not the Codex CLI)`;

export const versionOf = (executable: string): string => (isCalledKimi(executable) ? emulatedVersion : productVersion);

/** Output of `--version`. Clients that call the program under another name expect that program's version. */
export function versionText(executable: string): string {
	if (isCalledKimi(executable)) return `${path.basename(executable)}, version ${emulatedVersion}`;
	return `${productName}, version ${productVersion} (compatible with kimi ${emulatedVersion})`;
}
