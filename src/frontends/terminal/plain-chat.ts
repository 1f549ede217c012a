// For screen readers, dumb terminals and `--plain`: lines in, lines out.
import type { Ask, Kernel, Session, Turn } from "../../client/client.ts";
import { callTitle, displayLines, linesOf } from "./describe.ts";

export interface PlainChatOptions {
	readonly kernel: Kernel;
	readonly workDir: string;
	readonly sessionId: string | null;
	readLine(prompt: string): Promise<string | null>;
	write(text: string): void;
	onInterrupt(callback: () => void): () => void;
}

/** Returns the session to continue; null when nothing was said. */
export async function runPlainChat(options: PlainChatOptions): Promise<string | null> {
	const { kernel, workDir, sessionId, readLine, write } = options;
	const session = await kernel.open({
		...(sessionId === null ? { workDir } : { id: sessionId }),
		approve: (ask) => decide(ask, options),
		question: (ask) => decide(ask, options),
	});
	let wasAsked = sessionId !== null;
	for (;;) {
		const typed = await readLine("You: ");
		if (typed === null || typed.trim() === "/quit" || typed.trim() === "/exit") break;
		if (typed.trim() === "") continue;
		wasAsked = true;
		await show(session, session.prompt(typed), options);
	}
	write("\n");
	await session.close();
	return wasAsked ? session.id : null;
}

async function show(_session: Session, turn: Turn, { write, onInterrupt }: PlainChatOptions): Promise<void> {
	const withdraw = onInterrupt(() => void turn.cancel().catch(() => {}));
	let isInLine = false;
	const line = (text: string) => {
		write(`${isInLine ? "\n" : ""}${text}\n`);
		isInLine = false;
	};
	try {
		for await (const event of turn) {
			if (event.type === "text" && event.agent === null) {
				write(linesOf(`${event.text}.`).join("\n").slice(0, -1));
				isInLine = !event.text.endsWith("\n");
			} else if (event.type === "call.started") line(`Tool: ${callTitle(event.call)}`);
			else if (event.type === "call.ended" && event.isError) line(`Tool failed: ${linesOf(event.output)[0] ?? ""}`);
			else if (event.type === "retry") line(`Retrying in ${event.seconds} s: ${event.reason}`);
			else if (event.type === "notice") line(`${event.title}: ${event.text}`);
			else if (event.type === "ended" && event.result.error !== null) line(`Error: ${event.result.error.message}`);
			else if (event.type === "ended" && event.result.outcome === "cancelled") line("Stopped.");
		}
		if (isInLine) write("\n");
	} finally {
		withdraw();
	}
}

async function decide(ask: Ask, { readLine, write }: PlainChatOptions): Promise<unknown> {
	if (ask.kind === "question") {
		const answers: Record<string, string> = {};
		for (const { question, options } of ask.questions) {
			write(`\n${linesOf(question).join("\n")}\n`);
			for (const [index, { label }] of options.entries()) write(`  ${index + 1}. ${label}\n`);
			const typed = (await readLine("Answer: ")) ?? "";
			answers[question] = options[Number(typed) - 1]?.label ?? typed;
		}
		return await ask.answer(answers);
	}
	write(`\nAllow ${ask.tool}?\n`);
	for (const { sign, text } of displayLines(ask.display)) write(`${sign} ${text}\n`);
	const widths = ask.grants.length === 0 ? "" : `, s for this session (${ask.grants.join(", ")})`;
	const typed = ((await readLine(`y for yes${widths}, n for no, or say why not: `)) ?? "n").trim();
	if (/^y(es)?$/i.test(typed)) return await ask.once();
	if (/^s$/i.test(typed) && ask.grants.length > 0) return await ask.forSession();
	return await ask.reject(/^(no?)?$/i.test(typed) ? "" : typed);
}
