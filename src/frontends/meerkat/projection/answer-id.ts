// Ids of a run's answers, derived from the journal: the same while streaming and in `session/history`, in any process.
import { createHash } from "node:crypto";

/** The id of a step's answer, a UUID of version 8; null if the turn has no id, as in kimi's sessions. */
export function toAnswerId(turnId: string | null, step: number): string | null {
	if (turnId === null) return null;
	const digits = createHash("sha256").update(`${turnId}:${step}`).digest("hex");
	const variant = ((Number.parseInt(digits.charAt(16), 16) & 0x3) | 0x8).toString(16);
	return [
		digits.slice(0, 8),
		digits.slice(8, 12),
		`8${digits.slice(13, 16)}`,
		`${variant}${digits.slice(17, 20)}`,
		digits.slice(20, 32),
	].join("-");
}
