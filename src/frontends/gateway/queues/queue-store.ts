// Stores queued prompts on disk, one file per session with any, so that they survive a restart.
import path from "node:path";
import * as v from "valibot";
import { promptFileSchema } from "../../../api/values/prompt-file.ts";
import { parseJsonFile } from "../../../base/json.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../../ports/files/port.ts";

export const queuedPromptSchema = v.strictObject({
	id: v.string(),
	input: v.string(),
	files: v.array(promptFileSchema),
	/** Milliseconds since 1970. */
	at: v.number(),
});
export type QueuedPrompt = v.InferOutput<typeof queuedPromptSchema>;

const fileSchema = v.object({ prompts: v.array(queuedPromptSchema) });

export interface QueueStore {
	read(sessionId: string): Promise<readonly QueuedPrompt[]>;
	write(sessionId: string, prompts: readonly QueuedPrompt[]): Promise<void>;
}

/** Stores them in this directory, in files readable only by the owner. */
export function createQueueStore(directory: string, files: Files, log: Log): QueueStore {
	const fileOf = (sessionId: string) => path.join(directory, `${encodeURIComponent(sessionId)}.json`);
	return {
		async read(sessionId) {
			const file = fileOf(sessionId);
			try {
				const bytes = await files.read(file);
				return bytes === null ? [] : v.parse(fileSchema, parseJsonFile(bytes)).prompts;
			} catch (error) {
				log.warn("The queued prompts of a session cannot be read.", { file, error });
				return [];
			}
		},
		async write(sessionId, prompts) {
			const file = fileOf(sessionId);
			if (prompts.length === 0) return await files.remove(file);
			await files.makeDirectory(directory, 0o700);
			await files.replace(file, `${JSON.stringify({ prompts })}\n`, { mode: 0o600, sync: true });
		},
	};
}
