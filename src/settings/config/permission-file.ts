import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Files } from "../../ports/files/port.ts";
import { type PermissionSettings, toPermissionSettings } from "./configuration.ts";
import { ConfigurationError, toProblem } from "./configuration-error.ts";
import { permissionFileSchema } from "./schema.ts";
import { readText } from "./settings-text.ts";
import { parseToml } from "./syntax.ts";

export interface PermissionFile {
	readonly settings: PermissionSettings;
	/** The SHA-256 of the text in hexadecimal; trust in the file is bound to it. */
	readonly hash: string;
}

/** Null if the file is missing. Throws ConfigurationError if it is unreadable or invalid. */
export async function readPermissionFile(files: Files, path: string): Promise<PermissionFile | null> {
	const text = await readText(files, path);
	if (text === null) return null;
	const parsed = await parseToml(text);
	if (!parsed.ok) throw new ConfigurationError("syntax", path, [{ key: "", reason: parsed.reason }]);
	const checked = v.safeParse(permissionFileSchema, parsed.value, { abortPipeEarly: true });
	if (!checked.success) throw new ConfigurationError("schema", path, checked.issues.map(toProblem));
	const hash = createHash("sha256").update(text).digest("hex");
	return { settings: toPermissionSettings(checked.output.permission, text), hash };
}
