import { KernelError } from "../../../base/errors.ts";
import type { ShownQueue } from "../protocol.ts";
import type { QueuedPrompt } from "./queue-store.ts";

/** Maximum queued prompts per session, and maximum total characters including files. */
export const queueLimit = 50;
const queueSize = 32 * 1024 * 1024;

export type PromptList = readonly QueuedPrompt[];

export function findPrompt(prompts: PromptList, id: string): QueuedPrompt {
	const prompt = prompts.find((each) => each.id === id);
	if (prompt !== undefined) return prompt;
	throw new KernelError("invalid-input", "This prompt is no longer queued: it was sent or removed.");
}

export function withPrompt(prompts: PromptList, prompt: QueuedPrompt): PromptList {
	if (prompts.length < queueLimit) return checked([...prompts, prompt]);
	throw new KernelError("overloaded", `A session queues at most ${queueLimit} prompts; remove one.`);
}

export function withInput(prompts: PromptList, id: string, input: string): PromptList {
	const prompt = findPrompt(prompts, id);
	return checked(prompts.map((each) => (each === prompt ? { ...each, input } : each)));
}

export function withoutPrompt(prompts: PromptList, id: string): PromptList {
	const prompt = findPrompt(prompts, id);
	return prompts.filter((each) => each !== prompt);
}

/** As clients see them, with only the names of their files. */
export function toShown(prompts: PromptList): ShownQueue["prompts"] {
	return prompts.map(({ files, ...prompt }) => ({
		...prompt,
		files: files.map(({ name, type }) => ({ name, type })),
	}));
}

function checked(prompts: PromptList): PromptList {
	if (prompts.reduce((sum, each) => sum + sizeOf(each), 0) <= queueSize) return prompts;
	throw new KernelError(
		"overloaded",
		`The queued prompts of a session can have at most ${queueSize / 1024 / 1024} MiB with their files; remove one.`,
	);
}

function sizeOf({ input, files }: QueuedPrompt): number {
	return input.length + files.reduce((sum, { data }) => sum + data.length, 0);
}
