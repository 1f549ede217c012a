// The address of the page as a QR code of half blocks.

/** The escapes of a light code on a dark ground, which cameras expect whatever the colours of the terminal are. */
const coloured = (line: string): string => `\x1b[97;40m${line}\x1b[0m`;

/**
 * Lines of text with an empty one around them. What is no terminal is given no escapes: the blocks then are in the colours of
 * whoever shows them.
 */
export async function toAddressCode(address: string, isTerminal: boolean): Promise<string> {
	const { renderUnicodeCompact } = await import("uqr");
	const lines = renderUnicodeCompact(address, { ecc: "L", border: 2 }).split("\n");
	return `\n${(isTerminal ? lines.map(coloured) : lines).join("\n")}\n\n`;
}
