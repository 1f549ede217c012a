// Asks the person at the terminal whether the agent may act.
import { createInterface } from "node:readline/promises";
import type { Terminal } from "./terminal.ts";

export type Decision =
	| { readonly allow: "once" }
	| { readonly allow: "session" }
	| { readonly allow: "no"; readonly feedback: string };

/** Asks until the answer is one of y, a and n; without anyone to ask, approves. The end of input rejects. */
export async function askDecision(terminal: Terminal, approvesAll: boolean): Promise<Decision> {
	if (approvesAll || !terminal.isAttended) {
		terminal.line("", `allowed by ${approvesAll ? "--yes" : "default: no terminal to ask at"}`, "green");
		return { allow: "once" };
	}
	const reader = createInterface({ input: process.stdin, output: process.stdout });
	const ended = new AbortController();
	reader.on("close", () => ended.abort());
	reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
	const ask = async (question: string): Promise<string | null> => {
		try {
			return (await reader.question(`${" ".repeat(10)}${question} `, { signal: ended.signal })).trim();
		} catch {
			return null;
		}
	};
	try {
		while (true) {
			const typed = await ask(terminal.styled("yellow", "allow? [y]es, [a]lways in this session, [n]o ›"));
			const word = typed?.toLowerCase() ?? "no";
			if (["y", "yes"].includes(word)) return { allow: "once" };
			if (["a", "always"].includes(word)) return { allow: "session" };
			if (!["n", "no"].includes(word)) continue;
			const feedback = typed === null ? null : await ask("what should it do instead? (Enter: just stop) ›");
			return { allow: "no", feedback: feedback ?? "" };
		}
	} finally {
		reader.close();
	}
}
