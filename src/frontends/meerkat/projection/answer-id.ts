// The ids of a run's answers, the same while they stream and in `session/history`, also in a later process: they follow from
// what the journal has.
import { createHash } from "node:crypto";

/** The id of the answer of a step of a turn, a UUID of version 8; null where the turn has no id, as in sessions of kimi. */
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
