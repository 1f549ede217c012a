import type { Component } from "@mariozechner/pi-tui";
import type { Kernel, Session } from "../../client/client.ts";
import type { SessionRewindResult } from "../../client/protocol-types.ts";
import type { Code } from "./code.ts";
import { oneLine } from "./describe.ts";
import { Choice, Panel } from "./panel.ts";
import type { Theme } from "./theme.ts";

export interface PastTurn {
	readonly id: string;
	readonly prompt: string;
}

type Plan = NonNullable<SessionRewindResult["plan"]>;

export interface RewindParts {
	readonly kernel: Kernel;
	readonly session: Session;
	readonly turns: readonly PastTurn[];
	readonly theme: Theme;
	readonly code: Code;
	place(view: Component | null): void;
	write(lines: readonly string[]): void;
	/** Reports the outcome; after a conversation rewind, offers the prompt for editing. */
	done(note: string, prompt: string | null): void;
	report(thrown: unknown): void;
}

const actions = { create: "bring back", change: "restore", delete: "delete" } as const;
const shownFiles = 12;

export async function chooseRewind(parts: RewindParts): Promise<void> {
	const { session, turns, theme, place, report } = parts;
	const restored = (await session.changes()).findLast(({ kind }) => kind === "restore");
	const undo = { value: "", label: "Undo the last restore of files", description: "" };
	const items = [
		...(restored === undefined ? [] : [undo]),
		...turns.toReversed().map(({ id, prompt }) => ({ value: id, label: oneLine(prompt), description: "" })),
	];
	const panel = new Panel();
	const choose = (id: string) => {
		const turn = turns.find((each) => each.id === id);
		const chosen = turn === undefined ? undoRestore(parts, restored?.id ?? "") : preview(parts, turn);
		chosen.catch((thrown: unknown) => {
			place(null);
			report(thrown);
		});
	};
	panel.show(
		[theme.bold("Go back to before which message?"), theme.dim("The last one first. Esc goes back.")],
		new Choice(items, theme, choose, () => place(null)),
	);
	place(panel);
}

async function undoRestore({ kernel, session, place, done }: RewindParts, id: string): Promise<void> {
	const { restored } = await kernel.call("files.restore", { sessionId: session.id, before: id, conflicts: "take" });
	place(null);
	done(`The restore is undone: ${count(restored.length, "file")} changed.`, null);
}

async function preview(parts: RewindParts, turn: PastTurn): Promise<void> {
	const { session, theme, code, place, write, report } = parts;
	const { plan } = await session.rewind({ before: turn.id, conversation: false, dryRun: true });
	const files = plan?.files ?? [];
	const panel = new Panel();
	const items = [
		...(files.length === 0 ? [] : [{ value: "both", label: "Conversation and files" }]),
		{ value: "conversation", label: "Conversation only" },
		...(files.length === 0
			? []
			: [
					{ value: "files", label: "Files only" },
					{ value: "show", label: "Show the changes" },
				]),
	];
	const fail = (thrown: unknown) => {
		place(null);
		report(thrown);
	};
	const choose = (value: string) => {
		if (value === "show") showChanges(parts, turn, files).then(write, fail);
		else if (value === "conversation" || !files.some(({ conflict }) => conflict)) {
			goBack(parts, turn, { files: value !== "conversation", conversation: value !== "files" }).catch(fail);
		} else {
			const conflicts = [
				{ value: "skip", label: "Keep their changes" },
				{ value: "take", label: "Overwrite their changes" },
			];
			const settle = (kept: string) =>
				void goBack(parts, turn, {
					files: true,
					conversation: value === "both",
					conflicts: kept === "take" ? "take" : "skip",
				}).catch(fail);
			panel.show(
				[theme.warn("Files were changed by somebody else since:"), ...conflictLines(files, theme)],
				new Choice(conflicts, theme, settle, () => place(null)),
			);
		}
	};
	panel.show(
		[theme.bold(`Go back to before “${oneLine(turn.prompt)}”?`), ...planLines(plan, theme, code)],
		new Choice(items, theme, choose, () => place(null)),
	);
	place(panel);
}

function planLines(plan: Plan | null, theme: Theme, code: Code): string[] {
	const { files = [], uncovered = [], reasons = [], outside = [] } = plan ?? {};
	const named = (path: string) => code.lines(path, "").join(" ");
	const facts = [
		...uncovered.map(({ path, reason }) => `Cannot be restored: ${named(path)} (${reason})`),
		...reasons.map((reason) => `Not known for certain: ${reason}`),
		...outside.map((path) => `Changed by others, kept: ${named(path)}`),
	];
	return [
		...files.slice(0, shownFiles).map(({ path, action, lines, conflict }) => {
			const size = lines === null ? "" : ` ${theme.good(`+${lines.added}`)} ${theme.bad(`-${lines.removed}`)}`;
			return `${theme.dim(actions[action])} ${named(path)}${size}${conflict ? theme.warn(" conflict") : ""}`;
		}),
		...(files.length > shownFiles ? [theme.dim(`… ${count(files.length - shownFiles, "more file")}`)] : []),
		...(files.length === 0 ? [theme.dim("No files to restore.")] : []),
		...facts.slice(0, shownFiles).map(theme.dim),
	];
}

function conflictLines(files: Plan["files"], { warn }: Theme): string[] {
	return files
		.filter(({ conflict }) => conflict)
		.slice(0, shownFiles)
		.map(({ path }) => warn(`  ${oneLine(path)}`));
}

/** The file changes of this and all later turns, to be undone. */
async function showChanges({ kernel, session, code, theme }: RewindParts, turn: PastTurn, files: Plan["files"]) {
	const all = await session.changes();
	const since = all.slice(
		Math.max(
			0,
			all.findIndex(({ id }) => id === turn.id),
		),
	);
	const paths = new Set(files.map(({ path }) => path));
	const lines = [theme.bold("These changes would be undone:")];
	for (const changes of since) {
		for (const { path } of changes.files.filter((file) => paths.has(file.path))) {
			const { blocks } = await kernel.call("files.diff", { sessionId: session.id, id: changes.id, path });
			lines.push(...(blocks === null ? [`${oneLine(path)}: not a text`] : code.display(blocks)));
		}
	}
	return lines;
}

interface Choices {
	readonly files: boolean;
	readonly conversation: boolean;
	readonly conflicts?: "skip" | "take";
}

async function goBack({ session, place, done }: RewindParts, turn: PastTurn, choices: Choices): Promise<void> {
	const { files } = await session.rewind({ before: turn.id, ...choices });
	const left = files?.left.length ?? 0;
	place(null);
	const note = [
		...(choices.conversation ? ["Conversation rewound."] : []),
		...(files === null
			? []
			: [`${count(files.restored.length, "file")} restored${left === 0 ? "" : `, ${left} left as they are`}.`]),
	].join(" ");
	done(note, choices.conversation ? turn.prompt : null);
}

function count(number: number, what: string): string {
	return `${number} ${what}${number === 1 ? "" : "s"}`;
}
