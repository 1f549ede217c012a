import * as v from "valibot";
import { toolError, toolSuccess } from "../../../api/values/content.ts";
import { beginning } from "../../../base/text/well-formed.ts";
import { boolean } from "../argument-schemas.ts";
import type { QuestionOutcome } from "../operations.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { defineTool, readOnly } from "../tool-definition.ts";

const description = `Ask the user one to four questions, each with two to four options to choose from. They can always answer in words of their own.

- Ask when the answer changes what you will do and cannot be found out with other tools: a choice between approaches, an unclear requirement, a preference.
- Do not ask for permission to use a tool; that happens by itself.
- Put the option you would recommend first and say so in its label.
- Use \`multi_select\` where several options can hold at once.`;

/** Maximum header length in characters that the protocols guarantee. */
const longestHeader = 12;
const toHeader = (text: string): string => beginning(text.trim(), longestHeader).trimEnd();

const schema = v.object({
	questions: v.pipe(
		v.array(
			v.object({
				question: v.pipe(v.string(), v.minLength(1), v.description("The question, as a full sentence.")),
				header: v.optional(v.pipe(v.string(), v.description(`A label of at most ${longestHeader} characters.`)), ""),
				options: v.pipe(
					v.array(
						v.object({
							label: v.pipe(v.string(), v.minLength(1), v.description("The option in one to five words.")),
							description: v.optional(v.pipe(v.string(), v.description("What choosing it means.")), ""),
						}),
					),
					v.minLength(2),
					v.maxLength(4),
					v.description("The options; an option for other answers is added by the client."),
				),
				multi_select: v.optional(v.pipe(boolean(), v.description("Whether several options may be chosen.")), false),
			}),
		),
		v.minLength(1),
		v.maxLength(4),
		v.description("The questions."),
	),
});

export function createAskUserQuestion({ questions: operations }: ToolEnvironment): Tool {
	return defineTool({
		name: "AskUserQuestion",
		description,
		needs: ["questions"],
		schema,
		prepare: ({ questions }, { toolCallId }) => {
			const asked = questions.map((question) => ({ ...question, header: toHeader(question.header) }));
			return readOnly(async (signal) => toResult(await operations.ask(asked, toolCallId, signal)));
		},
	});
}

/** Clients recognize this text. */
const dismissed = "User dismissed the question without answering.";

function toResult(outcome: QuestionOutcome) {
	const brief = (text: string) => [{ type: "brief", text }] as const;
	switch (outcome.kind) {
		case "answered":
			return toolSuccess({
				output: answersJson(outcome.answers),
				message: "User has answered.",
				display: [...brief("User answered")],
			});
		case "dismissed":
			return toolSuccess({
				output: answersJson({}, dismissed),
				message: dismissed,
				display: [...brief("User dismissed")],
			});
		case "away":
			return toolSuccess({
				output: answersJson(
					{},
					"The session runs in afk mode: nobody is there to answer. Decide yourself and say what you assumed.",
				),
				display: [...brief("Auto-dismissed (afk)")],
			});
		case "unsupported":
			return toolError(
				"The connected client does not support interactive questions. Do NOT call this tool again. Ask in your answer instead, or decide and say what you assumed.",
				"Client unsupported",
			);
	}
}

/** Matches the reference implementation's spacing: one space after separators. */
function answersJson(answers: Readonly<Record<string, string>>, note?: string): string {
	const pairs = Object.entries(answers).map(
		([question, answer]) => `${JSON.stringify(question)}: ${JSON.stringify(answer)}`,
	);
	const noteText = note === undefined ? "" : `, "note": ${JSON.stringify(note)}`;
	return `{"answers": {${pairs.join(", ")}}${noteText}}`;
}
