/** Escapes for a light code on a dark background, which cameras expect in any color scheme. */
const colored = (line: string): string => `\x1b[97;40m${line}\x1b[0m`;

/** Without a terminal it uses no escape codes and keeps the reader's colors. */
export async function toAddressCode(address: string, isTerminal: boolean): Promise<string> {
	const { renderUnicodeCompact } = await import("uqr");
	const lines = renderUnicodeCompact(address, { ecc: "L", border: 2 }).split("\n");
	return `\n${(isTerminal ? lines.map(colored) : lines).join("\n")}\n\n`;
}
