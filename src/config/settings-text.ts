// A file that a person writes, as text.
import { errorText } from "../base/errors.ts";
import type { Files } from "../files/port.ts";
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
