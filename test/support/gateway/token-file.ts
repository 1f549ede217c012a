// The file with the tokens of a gateway that runs.
import { readFileSync } from "node:fs";

/** The tokens by what they allow. */
export function readTokens(file: string): Readonly<Partial<Record<"control" | "observe", string>>> {
	const { tokens } = JSON.parse(readFileSync(file, "utf8"));
	return Object.fromEntries(tokens.map(({ token, scope }: { token: string; scope: string }) => [scope, token]));
}
