// Identifiers as a port, so that transcripts are reproducible.
import { randomBytes, randomUUID } from "node:crypto";

export interface Identifiers {
	/** A version 4 UUID with dashes. */
	uuid(): string;
	/** `length` lower-case hexadecimal digits. */
	hex(length: number): string;
}

export const randomIdentifiers: Identifiers = {
	uuid: () => randomUUID(),
	hex: (length) =>
		randomBytes(Math.ceil(length / 2))
			.toString("hex")
			.slice(0, length),
};
