import type { Identifiers } from "./ids.ts";

/** `now` is milliseconds since the epoch. */
export function timeOrderedUuid(now: number, identifiers: Identifiers): string {
	const time = now.toString(16).padStart(12, "0").slice(-12);
	const random = identifiers.hex(19).padStart(19, "0");
	// The two variant bits, then the rest of that digit.
	const variant = (8 + (Number.parseInt(random.slice(3, 4), 16) % 4)).toString(16);
	return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}
