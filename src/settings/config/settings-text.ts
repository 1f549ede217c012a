import { isUtf8 } from "node:buffer";
import { errorText } from "../../base/errors.ts";
import type { Files } from "../../ports/files/port.ts";
import { ConfigurationError } from "./configuration-error.ts";

/** Removes the byte order mark; returns null if the file is missing. Throws ConfigurationError. */
export async function readText(files: Files, path: string): Promise<string | null> {
	try {
		const bytes = await files.read(path);
		return bytes === null ? null : bytes.toString("utf8").replace(/^\ufeff/, "");
	} catch (error) {
		throw new ConfigurationError("unreadable", path, [{ key: "", reason: errorText(error) }]);
	}
}

/** Includes the byte order mark. Throws ConfigurationError for bytes that are not UTF-8. */
export function textToChange(bytes: Buffer, path: string): string {
	if (isUtf8(bytes)) return bytes.toString("utf8");
	throw new ConfigurationError("syntax", path, [{ key: "", reason: "not UTF-8" }]);
}
