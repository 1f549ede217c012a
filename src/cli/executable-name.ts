// What the program takes the name for by which it is called: that of a link to it, where there is one.
import path from "node:path";
import type { ServeOptions } from "./command-line.ts";

/** Whether a program is expected that serves Kimi Wire without being told. */
export function isCalledKimi(executable: string): boolean {
	const name = path.basename(executable);
	return name === "kimi" || name === "kimi-agent";
}

/** The mode of a server that was given none. */
export function impliedMode(executable: string): ServeOptions["mode"] {
	return isCalledKimi(executable) ? "wire" : null;
}
