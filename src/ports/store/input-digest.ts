// A short name for the input of a turn, by which a repeated request is distinguished from another one.
import { createHash } from "node:crypto";
import type { UserInput } from "../../api/values/content.ts";

/** The same for the same input; 16 hex digits. */
export function digestOfInput(input: UserInput): string {
	return createHash("sha256").update(JSON.stringify(input)).digest("hex").slice(0, 16);
}
