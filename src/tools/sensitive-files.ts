// Files that hold secrets by their name: their content is not given to a model.
import path from "node:path";

const exemptNames: ReadonlySet<string> = new Set([".env.example", ".env.sample", ".env.template"]);
const sensitiveNames: ReadonlySet<string> = new Set([".env", "id_rsa", "id_ed25519", "id_ecdsa", "credentials"]);
const sensitiveEnds: readonly string[] = ["/.aws/credentials", "/.gcp/credentials"];

/** Judges a path by its spelling; give the resolved path as well where a link may hide the name. */
export function isSensitiveFile(filePath: string): boolean {
	const name = path.basename(filePath);
	if (exemptNames.has(name)) return false;
	if (sensitiveNames.has(name) || name.startsWith(".env.")) return true;
	return sensitiveEnds.some((end) => `/${filePath}`.endsWith(end));
}
