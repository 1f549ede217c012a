// Reads print mode input: one text prompt, or a stream of user messages, one JSON object per line.
import * as v from "valibot";
import { type UserInput, userInputSchema } from "../../api/values/content.ts";
import { errorText } from "../../base/errors.ts";
import type { Line } from "../../base/text/lines.ts";
import { UsageError } from "../arguments/usage-error.ts";

/** Returns the prompt argument, or the result of `readInput`; null if that is blank. Throws UsageError without input. */
export async function readPrompt(
	typed: string | null,
	isTerminal: boolean,
	readInput: () => Promise<string>,
): Promise<string | null> {
	if (typed !== null) return typed;
	if (isTerminal) throw new UsageError("--print needs a prompt: give it with --prompt, or pipe it to stdin.");
	const text = await readInput().catch((thrown: unknown) => {
		throw new UsageError(`--print needs a prompt, and stdin cannot be read: ${errorText(thrown)}`, { cause: thrown });
	});
	return text.trim() || null;
}

/** Reads stream-json messages. Skips invalid lines and reports them to `complain`, one at a time. */
export async function* readMessages(
	lines: AsyncIterable<Line>,
	complain: (text: string) => void,
): AsyncGenerator<UserInput> {
	let number = 0;
	for await (const line of lines) {
		number += 1;
		if (line.kind === "line" && line.text.trim() === "") continue;
		const read = line.kind === "line" ? readMessage(line.text) : { problem: "it is too long" };
		if ("input" in read) yield read.input;
		else complain(`Line ${number} of the input is skipped: ${read.problem}.`);
	}
}

const messageSchema = v.object({ role: v.string(), content: v.unknown() });

export function readMessage(text: string): { readonly input: UserInput } | { readonly problem: string } {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return { problem: "it is not JSON" };
	}
	const message = v.safeParse(messageSchema, value);
	if (!message.success) return { problem: 'it is not a message such as {"role":"user","content":"…"}' };
	const { role, content } = message.output;
	if (role !== "user") return { problem: `its role is ${JSON.stringify(role)}, and only "user" is accepted` };
	const input = v.safeParse(userInputSchema, content);
	if (!input.success) return { problem: "its content is neither a text nor a list of content parts" };
	if (isEmpty(input.output)) return { problem: "its content is empty" };
	return { input: input.output };
}

function isEmpty(input: UserInput): boolean {
	return typeof input === "string" ? input.trim() === "" : input.length === 0;
}
