// A relay opens two connections: one for stdin and stdout, and one that stands for the process and its signals.

import type { Socket } from "node:net";

export const socketName = "gateway.sock";

/** The gateway's response to a command, and the result at its end. */
export type Outcome =
	/** `command` is its name; `notice` is for stderr. */
	| { readonly taken: true; readonly command: string; readonly notice: string }
	/** Why the relay must run the command itself: a sentence. */
	| { readonly refused: string }
	| { readonly exitCode: number; readonly error: string | null };

export function toOutcome(line: string): Outcome | null {
	try {
		const value: unknown = JSON.parse(line);
		if (typeof value !== "object" || value === null) return null;
		const text = (key: string) => (key in value ? String(Reflect.get(value, key)) : "");
		if ("taken" in value) return { taken: true, command: text("command"), notice: text("notice") };
		if ("refused" in value) return { refused: String(value.refused) };
		if (!("exitCode" in value) || typeof value.exitCode !== "number") return null;
		const error = "error" in value && typeof value.error === "string" ? value.error : null;
		return { exitCode: value.exitCode, error };
	} catch {
		return null;
	}
}

/** A line of more characters is not read to its end. */
const lineLimit = 4_194_304;

const endings = ["error", "close", "end"] as const;

/** `rest` follows the line, which is empty if it is too long. */
export interface FirstLine {
	readonly line: string;
	readonly rest: Buffer;
}

/** The first line of these bytes; null if they do not contain its end. */
export function toFirstLine(seen: Buffer): FirstLine | null {
	const end = seen.indexOf("\n");
	if (end !== -1) return { line: seen.toString("utf8", 0, end), rest: seen.subarray(end + 1) };
	return seen.length > lineLimit ? { line: "", rest: Buffer.alloc(0) } : null;
}

/** Pauses the connection. Null after a disconnect. */
export function readFirstLine(socket: Socket): Promise<FirstLine | null> {
	return new Promise((resolve) => {
		let seen = Buffer.alloc(0);
		const settle = (result: FirstLine | null) => {
			socket.off("data", take);
			for (const event of endings) socket.off(event, giveUp);
			socket.pause();
			resolve(result);
		};
		const take = (bytes: Buffer) => {
			seen = Buffer.concat([seen, bytes]);
			const first = toFirstLine(seen);
			if (first !== null) settle(first);
		};
		const giveUp = () => settle(null);
		socket.on("data", take);
		for (const event of endings) socket.on(event, giveUp);
	});
}
