// A digest of a turn's input, which distinguishes a repeated request from a new one.
import { createHash } from "node:crypto";
import type { UserInput } from "../../api/values/content.ts";

/** Deterministic; 16 hex digits. */
export function digestOfInput(input: UserInput): string {
	return createHash("sha256").update(JSON.stringify(input)).digest("hex").slice(0, 16);
}
