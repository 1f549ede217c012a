import { Input, matchesKey, type SelectItem } from "@mariozechner/pi-tui";
import type { Approval, Question } from "../../client/client.ts";
import type { Code } from "./code.ts";
import { linesOf } from "./describe.ts";
import { Choice, Panel } from "./panel.ts";
import type { Theme } from "./theme.ts";

const shownLines = 30;

export interface AskOutcome {
	readonly note: string;
	readonly answer: Promise<unknown>;
}

const verbs: Readonly<Record<string, string>> = {
	Shell: "Run this command?",
	WriteFile: "Write this file?",
	StrReplaceFile: "Make this edit?",
};

export function approvalPanel(ask: Approval, theme: Theme, code: Code, settle: (outcome: AskOutcome) => void): Panel {
	const panel = new Panel();
	const lines = code.display(ask.display);
	const shown = lines.length > 0 ? lines : linesOf(ask.description);
	const head = [
		theme.bold(theme.warn(verbs[ask.tool] ?? `Allow ${ask.tool}?`)) +
			(ask.agent === null ? "" : theme.dim("  (a subagent asks)")),
		...(ask.reason === null ? [] : [theme.dim(ask.reason)]),
		...shown.slice(0, shownLines),
		...(shown.length > shownLines ? [theme.warn(`… ${shown.length - shownLines} more lines are not shown`)] : []),
	];
	const items: SelectItem[] = [
		{ value: "once", label: "Yes" },
		...(ask.grants.length === 0
			? []
			: [{ value: "session", label: `Yes, and for this session: ${ask.grants.join(", ")}` }]),
		{ value: "reject", label: "No" },
		{ value: "why", label: "No, and say why" },
	];
	const choose = (value: string) => {
		if (value === "once") settle({ note: "Allowed once.", answer: ask.once() });
		else if (value === "session")
			settle({ note: `Allowed for this session: ${ask.grants.join(", ")}.`, answer: ask.forSession() });
		else if (value === "reject") settle({ note: "Not allowed.", answer: ask.reject() });
		else {
			const input = new Input();
			input.onSubmit = (text) => settle({ note: `Not allowed: ${text}`, answer: ask.reject(text) });
			input.onEscape = () => panel.show(head, choice);
			panel.show([...head, theme.dim("Why not? Enter sends it, Esc goes back.")], input);
		}
	};
	const choice = new Choice(items, theme, choose, () => choose("reject"));
	panel.show(head, choice);
	return panel;
}

/** Asks one question after the other; free text is always possible. */
export function questionPanel(ask: Question, theme: Theme, settle: (outcome: AskOutcome) => void): Panel {
	const panel = new Panel();
	const answers: Record<string, string> = {};
	const dismiss = () => settle({ note: "Not answered.", answer: ask.dismiss() });
	const next = (index: number): void => {
		const item = ask.questions[index];
		if (item === undefined) {
			const told = Object.values(answers).join("; ");
			settle({ note: `Answered: ${told}`, answer: ask.answer(answers) });
			return;
		}
		const take = (text: string) => {
			answers[item.question] = text;
			next(index + 1);
		};
		const head = [
			theme.bold(theme.accent(linesOf(item.question).join(" "))),
			...(item.body === "" ? [] : linesOf(item.body)),
		];
		const write = () => {
			const input = new Input();
			input.onSubmit = take;
			input.onEscape = dismiss;
			panel.show([...head, theme.dim("Enter sends it, Esc answers nothing.")], input);
		};
		if (item.options.length === 0) {
			write();
			return;
		}
		const items = [
			...item.options.map(({ label, description }) => ({ value: label, label, description })),
			{ value: "", label: item.other_label === "" ? "Something else" : item.other_label },
		];
		const choose = (value: string) => (value === "" ? write() : take(value));
		if (item.multi_select)
			panel.show(
				[...head, theme.dim("Choose one or more, separated by commas.")],
				new Choice(items, theme, choose, dismiss),
			);
		else panel.show(head, new Choice(items, theme, choose, dismiss));
	};
	next(0);
	return panel;
}

export function isStop(data: string): boolean {
	return matchesKey(data, "escape") || matchesKey(data, "ctrl+c");
}
