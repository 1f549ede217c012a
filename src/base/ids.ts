import { randomBytes, randomUUID } from "node:crypto";

export interface Identifiers {
	/** A version 4 UUID with dashes. */
	uuid(): string;
	/** `length` lower-case hexadecimal digits. */
	hex(length: number): string;
}

export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

export const randomIdentifiers: Identifiers = {
	uuid: () => randomUUID(),
	hex: (length) =>
		randomBytes(Math.ceil(length / 2))
			.toString("hex")
			.slice(0, length),
};
