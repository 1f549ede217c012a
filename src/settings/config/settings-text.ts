// A file that a person writes, as text.
import { isUtf8 } from "node:buffer";
import { errorText } from "../../base/errors.ts";
import type { Files } from "../../ports/files/port.ts";
import { ConfigurationError } from "./configuration-error.ts";

/** Without the mark that some editors begin a file with; null when there is no file. Throws ConfigurationError. */
export async function readText(files: Files, path: string): Promise<string | null> {
	try {
		const bytes = await files.read(path);
		return bytes === null ? null : bytes.toString("utf8").replace(/^\ufeff/, "");
	} catch (error) {
		throw new ConfigurationError("unreadable", path, [{ key: "", reason: errorText(error) }]);
	}
}

/**
 * The text of a file of settings that is written back with a change: as it is, with the mark. Throws ConfigurationError for
 * bytes that are not UTF-8, which would come back as other characters.
 */
export function textToChange(bytes: Buffer, path: string): string {
	if (isUtf8(bytes)) return bytes.toString("utf8");
	throw new ConfigurationError("syntax", path, [{ key: "", reason: "not UTF-8" }]);
}
