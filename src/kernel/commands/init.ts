import path from "node:path";
import { Context, type ContextLog, userRow } from "../../core/agent/context.ts";
import { systemText } from "../../core/agent/marked-text.ts";
import type { Files } from "../../ports/files/port.ts";
import { noReminders } from "../turn/reminders.ts";
import { finished, type SlashCommand } from "./command.ts";

const task = `\
Write the file AGENTS.md in the root of this project: what an agent, or a new colleague, must know to work here.

Look before you write: the listing, the build files and their scripts, the tests, the continuous integration, the README and other documents, and enough of the code to know how it is laid out and what its habits are. If AGENTS.md is there already, keep what still holds and correct the rest.

It should say, as far as it is true of this project and not obvious:
- what the project is, in a sentence or two, and what it is built with;
- the commands to install, build, run, check and test, the test of a single file included, each as it really is;
- how the code is laid out, where what belongs, and which way dependencies run;
- the habits of the code: names, style, errors, tests, commits;
- what is easily done wrong.

Write only what you have seen. Be short: a page or two, in the language of the project's own documents.`;

const unpersisted: ContextLog = { change: async () => {} };

/** Maximum bytes of the file shown to the main agent. */
const sizeLimit = 32 * 1024;

/** Maximum bytes compared to detect a change. */
const comparedSize = 1024 * 1024;

function toNews(file: string, before: Buffer | null, after: Buffer | null): string {
	if (after === null) return `The person had /init run to write AGENTS.md, but there is no ${file}.`;
	if (before?.equals(after)) return `The person had /init run to write AGENTS.md, but it left ${file} as it was.`;
	const content = after.subarray(0, sizeLimit).toString("utf8").trim();
	return `The person had /init run, which wrote ${file}. Follow it from now on:\n\n${content}`;
}

export function createInitCommand(workDir: string, files: Files): SlashCommand {
	return {
		name: "init",
		description: "Study the project and write AGENTS.md, which explains to agents how to work in it",
		aliases: [],
		async run({ agent, runWithin }) {
			const context = new Context(unpersisted, [], agent.context.systemPrompt);
			const file = path.join(workDir, "AGENTS.md");
			const read = () => files.readRange(file, 0, comparedSize).catch(() => null);
			const before = await read();
			const { outcome } = await runWithin(task, { ...agent, context, reminders: noReminders, mailbox: null });
			if (outcome.status !== "finished") return outcome;
			await agent.context.append([userRow(systemText(toNews(file, before, await read())))]);
			return finished;
		},
	};
}
