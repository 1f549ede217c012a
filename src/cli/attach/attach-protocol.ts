// The protocol between a relay and a gateway, besides the bytes of the command's stdin and stdout.

/** The socket in the share directory. */
export const socketName = "gateway.sock";

/** The gateway's response to a command, and the result at its end. */
export type Outcome =
	| { readonly taken: true }
	/** Why the relay must run the command itself: a sentence. */
	| { readonly refused: string }
	| { readonly exitCode: number; readonly error: string | null };

/** Null for other lines. */
export function toOutcome(line: string): Outcome | null {
	try {
		const value: unknown = JSON.parse(line);
		if (typeof value !== "object" || value === null) return null;
		if ("taken" in value) return { taken: true };
		if ("refused" in value) return { refused: String(value.refused) };
		if (!("exitCode" in value) || typeof value.exitCode !== "number") return null;
		const error = "error" in value && typeof value.error === "string" ? value.error : null;
		return { exitCode: value.exitCode, error };
	} catch {
		return null;
	}
}
