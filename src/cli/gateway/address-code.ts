// The address of the page as a QR code of half blocks.

/** The escapes of a light code on a dark ground, which cameras expect whatever the colors of the terminal are. */
const colored = (line: string): string => `\x1b[97;40m${line}\x1b[0m`;

/**
 * Returns the QR code as lines of text with an empty line before and after. Without a terminal there are no escape codes, and
 * the reader's own colors apply.
 */
export async function toAddressCode(address: string, isTerminal: boolean): Promise<string> {
	const { renderUnicodeCompact } = await import("uqr");
	const lines = renderUnicodeCompact(address, { ecc: "L", border: 2 }).split("\n");
	return `\n${(isTerminal ? lines.map(colored) : lines).join("\n")}\n\n`;
}
