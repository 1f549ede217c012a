import type { ContextRow, HistoryEntry } from "../../api/values/conversation.ts";
import type { Clock } from "../../base/clock.ts";
import { estimateTokens, userRow } from "../../core/agent/context.ts";
import { listDirectoryTree } from "../../core/definitions/directory-listing.ts";
import type { Files } from "../../ports/files/port.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";
import { additionalDirectoryMessage, checkAdditionalDirectory } from "./additional-directory.ts";
import { answering, type CommandRun, finished, type SlashCommand } from "./command.ts";

export interface FileCommandSettings {
	readonly stored: StoredSession;
	readonly files: Files;
	readonly home: string;
	readonly clock: Clock;
	/** Context of another session in the working directory, or null. */
	readContext(sessionId: string): Promise<readonly ContextRow[] | null>;
}

export function createFileCommands(settings: FileCommandSettings): readonly SlashCommand[] {
	return [
		{
			name: "add-dir",
			description: "Add a directory to the workspace; without one, list those that were added",
			aliases: [],
			run: answering((run) => addDirectory(run, settings)),
		},
		{
			name: "export",
			description: "Write the conversation to a Markdown file, in the work directory or where you say",
			aliases: [],
			async run(run) {
				for (const text of await exportTo(run, settings)) await run.say(text);
				return finished;
			},
		},
		{
			name: "import",
			description: "Import a text file, or another session by its id, into the conversation",
			aliases: [],
			run: answering((run) => importFrom(run, settings)),
		},
	];
}

async function addDirectory({ argument, agent }: CommandRun, settings: FileCommandSettings): Promise<string> {
	const { stored, files, home } = settings;
	const { additionalDirs } = stored.state();
	if (argument === "") {
		if (additionalDirs.length === 0) return "No directory was added. Name one behind /add-dir.";
		return ["Directories that were added to the workspace:", ...additionalDirs.map((name) => `- ${name}`)].join("\n");
	}
	const checked = await checkAdditionalDirectory(argument, { files, home, workDir: stored.workDir, additionalDirs });
	if (!checked.ok) return checked.reason;
	await stored.commit({ state: { additionalDirs: [...additionalDirs, checked.path] } }, { sync: true });
	const message = additionalDirectoryMessage(checked.path, await listDirectoryTree(files, checked.path));
	await agent.context.append([userRow(message)]);
	return `${checked.path} belongs to the workspace now.`;
}

const privacyNote =
	"It contains the whole conversation, including file contents and command output. Review it before you share it.";

async function exportTo({ argument, agent }: CommandRun, settings: FileCommandSettings): Promise<readonly string[]> {
	const { stored, files, home, clock } = settings;
	const { context, model } = agent;
	const now = clock.now();
	const { id: sessionId, workDir } = stored;
	if (context.messages.length === 0) return ["There is nothing to export: the context is empty."];
	const { exportConversation, toMarkdown } = await import("./conversation-export.ts");
	const markdown = toMarkdown({
		sessionId,
		title: stored.state().customTitle,
		workDir,
		now,
		tokenCount: context.tokenCount,
		modelName: model?.name ?? null,
		messages: context.messages,
	});
	const written = await exportConversation(argument, { files, workDir, home, now, sessionId }, markdown);
	return written.ok ? [`The conversation was written to ${written.path}.\n`, privacyNote] : [written.reason];
}

async function importFrom({ argument, agent }: CommandRun, settings: FileCommandSettings): Promise<string> {
	const { stored, files, home, readContext } = settings;
	const openSession = async (id: string): Promise<readonly HistoryEntry[] | null> =>
		(await readContext(id))?.flatMap((row) => (row.type === "message" ? [row.message] : [])) ?? null;
	const place = { files, home, workDir: stored.workDir, sessionId: stored.id, openSession };
	const { importedContext, readImport } = await import("./conversation-import.ts");
	const read = await readImport(argument, place);
	if (!read.ok) return read.reason;
	const row = userRow(importedContext(read.source, read.text));
	const tokens = estimateTokens([row.message]);
	const capacity = (agent.model?.maxContextSize ?? Number.POSITIVE_INFINITY) - agent.context.expectedTokenCount;
	if (tokens > capacity) {
		return `${read.source} is too long: about ${tokens} tokens, and the model has room for ${Math.max(0, capacity)}. Import a part of it, or make room with /compact or /clear.`;
	}
	await agent.context.append([row]);
	return `${read.source} was imported: about ${tokens} tokens.`;
}
