// `/btw` without a running turn: the answer is emitted as text, and in the event that ends the question.

import type { TurnOutcome } from "../../api/values/event.ts";
import { sideQuestionName } from "../../api/values/slash-command.ts";
import { toKernelError } from "../../base/errors.ts";
import type { Identifiers } from "../../base/ids.ts";
import { type SideAnswer, toEnd, unaskedText } from "../turn/side-question-answer.ts";
import { type CommandRun, finished, type SlashCommand } from "./command.ts";

export function createSideQuestionCommand(identifiers: Identifiers): SlashCommand {
	return {
		name: sideQuestionName,
		description: "Ask a side question; the answer stays out of the conversation",
		aliases: [],
		async run(run) {
			const id = identifiers.hex(12);
			const { argument: question, deliver, end } = run;
			await deliver({ type: "side-question.started", id, question });
			try {
				const answer = await answerAloud(run);
				await deliver({ type: "side-question.ended", id, ...toEnd(answer) });
				return toOutcome(answer);
			} catch (thrown) {
				const error = toKernelError(thrown).message;
				// Report the first failure.
				await end({ type: "side-question.ended", id, response: null, error }).catch(() => {});
				throw thrown;
			}
		},
	};
}

async function answerAloud({ argument, answerSideQuestion, say }: CommandRun): Promise<SideAnswer> {
	const answer = await answerSideQuestion(argument);
	if (answer.kind === "answered") await say(answer.response);
	if (answer.kind === "unasked") await say(unaskedText);
	return answer;
}

function toOutcome(answer: SideAnswer): TurnOutcome {
	switch (answer.kind) {
		case "answered":
		case "unasked":
			return finished;
		case "cancelled":
			return { status: "cancelled" };
		case "failed":
			return { status: "failed", error: answer.error };
	}
}
