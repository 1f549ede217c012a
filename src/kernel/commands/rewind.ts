import type { FilePlan, Rewound } from "../../api/values/file-changes.ts";
import { KernelError } from "../../base/errors.ts";
import type { SessionRewind } from "../rewind/session-rewind.ts";
import { turnLines } from "../rewind/turn-places.ts";
import { answering, type SlashCommand } from "./command.ts";

const usage =
	"`/rewind N` shows what going back to before turn N would do; `/rewind N apply` does it. Add `files` or `conversation` for only one of them, and `skip` or `take` for files that changed since.";
/** Maximum turns to list, and paths to show per kind. */
const listed = 20;
const shown = 30;

const words = ["apply", "files", "conversation", "skip", "take"] as const;
type Word = (typeof words)[number];

export interface RewindCommandSettings {
	readonly rewind: SessionRewind;
	/** The running turn, which belongs to the command. */
	turnId(): string | null;
}

export function createRewindCommand({ rewind, turnId }: RewindCommandSettings): SlashCommand {
	const carryOut = async (argument: string): Promise<string> => {
		const turns = (await rewind.turns()).filter(({ id }) => id !== turnId());
		const [number = "", ...rest] = argument.split(/\s+/);
		if (number === "") {
			if (turns.length === 0) return "There is no turn to go back to.";
			return [...turnLines(turns).slice(-listed), "", usage].join("\n");
		}
		const turn = /^\d+$/.test(number) ? turns[Number(number) - 1] : undefined;
		if (turn === undefined) return `There is no turn ${number}. ${usage}`;
		const given = rest.filter(isWord);
		if (given.length < rest.length) return `/rewind does not know "${rest.find((word) => !isWord(word))}". ${usage}`;
		const has = (word: Word) => given.includes(word);
		const isOne = has("files") !== has("conversation");
		const request = {
			before: turn.id,
			files: !isOne || has("files"),
			conversation: !isOne || has("conversation"),
			conflicts: has("take") ? "take" : has("skip") ? "skip" : "stop",
			dryRun: !has("apply"),
		} as const;
		return describe(await rewind.rewind(request), number, request);
	};
	return {
		name: "rewind",
		description: "Go back to before a turn, files included: without a number it lists the turns",
		aliases: [],
		run: answering(async ({ argument }) => {
			try {
				return await carryOut(argument);
			} catch (thrown) {
				if (thrown instanceof KernelError) return thrown.message;
				throw thrown;
			}
		}),
	};
}

function isWord(word: string): word is Word {
	return words.some((known) => known === word);
}

function describe(
	{ plan, files, messages }: Rewound,
	number: string,
	{ conversation, dryRun }: { readonly conversation: boolean; readonly dryRun: boolean },
): string {
	const lines: string[] = [];
	if (dryRun) {
		lines.push(`Going back to before turn ${number} would do this:`);
		if (conversation) lines.push("The conversation goes on from there; the model no longer sees what followed.");
		if (plan !== null) lines.push(...planLines(plan));
		lines.push(`\`/rewind ${number} apply\` does it.`);
		return lines.join("\n");
	}
	if (files !== null) {
		lines.push(`${files.restored.length} files restored.`);
		lines.push(...some(files.left.map(({ path, reason }) => `Left: ${path}: ${reason}`)));
	}
	if (messages !== null) lines.push(`The conversation is as before turn ${number}: ${messages} messages.`);
	return lines.join("\n");
}

function planLines({ files, uncovered, outside, reasons }: FilePlan): readonly string[] {
	const actions = { create: "Restore", change: "Change back", delete: "Delete" } as const;
	return [
		...(files.length === 0 ? ["No files to restore."] : []),
		...some(
			files.map(({ path, action, lines, conflict }) => {
				const counts = lines === null ? "" : ` (+${lines.added} -${lines.removed})`;
				return `${actions[action]} ${path}${counts}${conflict ? " - changed since by somebody else" : ""}`;
			}),
		),
		...some(uncovered.map(({ path, reason }) => `Cannot restore ${path}: ${reason}`)),
		...some(outside.map((path) => `Kept: ${path}, which somebody else changed`)),
		...some(reasons),
	];
}

function some(lines: readonly string[]): readonly string[] {
	return lines.length <= shown ? lines : [...lines.slice(0, shown), `... and ${lines.length - shown} more`];
}
