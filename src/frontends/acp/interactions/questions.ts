import * as v from "valibot";
import type { Answer, Interaction } from "../../../api/values/interaction.ts";
import { elicitationResultSchema, type FormProperty, type PermissionOption } from "../wire-updates.ts";
import { readChoice } from "./permissions.ts";

type Questions = Extract<Interaction, { kind: "question" }>["questions"];
type Question = Questions[number];

const answer = (answers: Readonly<Record<string, string>>): Answer => ({ kind: "question", answers });

/** The form's properties: one per question, and one for a free-text answer. */
export function toForm(questions: Questions): Readonly<Record<string, FormProperty>> {
	return Object.fromEntries(
		questions.flatMap((question, index) => [
			[`q${index}`, toProperty(question)],
			[`q${index}_other`, otherProperty(question)],
		]),
	);
}

function toProperty({ question, body, options, multi_select }: Question): FormProperty {
	const choices = options.map(({ label, description }) => ({
		const: label,
		title: label,
		...(description === "" ? {} : { description }),
	}));
	const titled = { title: question, ...(body === "" ? {} : { description: body }) };
	if (multi_select) return { type: "array", ...titled, items: { anyOf: choices } };
	return { type: "string", ...titled, oneOf: choices };
}

function otherProperty({ header, other_label, other_description }: Question): FormProperty {
	const about = header === "" ? "" : `${header}: `;
	return {
		type: "string",
		title: `${about}${other_label === "" ? "Other" : other_label}`,
		description: other_description === "" ? "An answer in your own words, instead of the options." : other_description,
	};
}

export function readForm(result: unknown, questions: Questions): Answer | null {
	const parsed = v.safeParse(elicitationResultSchema, result);
	if (!parsed.success) return null;
	const { action, content } = parsed.output;
	if (action !== "accept" || content === null) return answer({});
	const given = questions.flatMap(({ question }, index) => {
		const text = toText(content[`q${index}_other`]) ?? toText(content[`q${index}`]);
		return text === null ? [] : [[question, text] as const];
	});
	return answer(Object.fromEntries(given));
}

function toText(value: unknown): string | null {
	if (typeof value === "string") return value.trim() === "" ? null : value;
	if (!Array.isArray(value)) return null;
	const texts = value.filter((each) => typeof each === "string" && each !== "");
	return texts.length === 0 ? null : texts.join(", ");
}

interface Choice extends PermissionOption {
	readonly answer: string | null;
}

export function toChoices({ options }: Question): readonly Choice[] {
	return [
		...options.map(({ label }, index) => ({
			optionId: `option_${index}`,
			name: label,
			kind: "allow_once" as const,
			answer: label,
		})),
		{ optionId: "skip", name: "Skip", kind: "reject_once", answer: null },
	];
}

/** The labels of the last two options in the plan question. */
const keepPlanning = "Reject";
const leavePlanning = "Reject and Exit";

/** The options for a submitted plan, under the ids that clients know. */
export function toPlanChoices({ options }: Question): readonly Choice[] {
	const approvals = options.filter(({ label }) => label !== keepPlanning && label !== leavePlanning);
	return options.map(({ label }): Choice => {
		if (label === keepPlanning)
			return { optionId: "plan_revise", name: "Keep planning", kind: "reject_once", answer: label };
		if (label === leavePlanning)
			return {
				optionId: "plan_reject_and_exit",
				name: "Reject and leave plan mode",
				kind: "reject_once",
				answer: label,
			};
		const optionId =
			approvals.length === 1 ? "plan_approve" : `plan_opt_${approvals.findIndex((each) => each.label === label)}`;
		return { optionId, name: label, kind: "allow_once", answer: label };
	});
}

export function readChosen(result: unknown, { question }: Question, choices: readonly Choice[]): Answer | null {
	const chosen = readChoice(result);
	if (chosen === null) return null;
	const text = choices.find(({ optionId }) => optionId === chosen)?.answer ?? null;
	return answer(text === null ? {} : { [question]: text });
}

export const toOptions = (choices: readonly Choice[]): readonly PermissionOption[] =>
	choices.map(({ optionId, name, kind }) => ({ optionId, name, kind }));
