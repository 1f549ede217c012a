// Derives behaviour from the name that the program was called by, such as that of a link to it.
import path from "node:path";
import type { ServeOptions } from "./command-line.ts";

/** Whether the caller expects Kimi Wire without a flag. */
export function isCalledKimi(executable: string): boolean {
	const name = path.basename(executable);
	return name === "kimi" || name === "kimi-agent";
}

/** The mode of a server that was started without one. */
export function impliedMode(executable: string): ServeOptions["mode"] {
	return isCalledKimi(executable) ? "wire" : null;
}
