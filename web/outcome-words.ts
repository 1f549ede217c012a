// What people read of decisions and of ends of turns.

import type { TurnError, TurnOutcome } from "../src/api/values/event.ts";
import type { Answer, SettledBy } from "../src/api/values/interaction.ts";
import { modelAdvice } from "../src/api/values/model-advice.ts";
import type { TurnEnd } from "./blocks.ts";
import { shownName } from "./texts.ts";

/** How a turn ended; null when it simply did. */
export function endOf(outcome: TurnOutcome): TurnEnd | null {
	switch (outcome.status) {
		case "finished":
			if (outcome.stoppedBy === "refusal")
				return { text: "Stopped, because you rejected a call.", tone: "plain", help: null };
			if (outcome.stoppedBy === "repetition")
				return { text: "Stopped: the model repeated the same call.", tone: "warning", help: null };
			return null;
		case "cancelled":
			return { text: "Interrupted.", tone: "plain", help: null };
		case "truncated":
			return {
				text: `The answer is incomplete: it reached a token limit (${outcome.reason}).`,
				tone: "warning",
				help: "Ask it to continue.",
			};
		case "max-steps": {
			const text = `Stopped after ${outcome.steps} steps, the limit.`;
			return { text, tone: "warning", help: "Ask it to continue." };
		}
		case "failed":
			return { tone: "danger", ...explain(outcome.error) };
	}
}

/** The end of a turn that nothing ended. */
export const brokenEnd: TurnEnd = {
	text: "The program ended in the middle of this turn.",
	tone: "danger",
	help: "Ask it to continue.",
};

/** A failure in words for people who can act on it. */
function explain(error: TurnError): { readonly text: string; readonly help: string | null } {
	if (error.code === "model-not-set") {
		const help = `Choose another one above, or add one where a session begins. The model of a demo ends with its gateway. For the gateway itself: ${modelAdvice}`;
		return { text: "This session has no model.", help };
	}
	const help = error.retryable === true ? "Sending the prompt again may succeed." : null;
	return { text: error.message, help };
}

const verbs = { approve: "Allowed once", approve_for_session: "Allowed in this session", reject: "Rejected" } as const;

/** What was answered, and by whom. */
export function decisionWords(answer: Extract<Answer, { kind: "approval" | "question" }>, who: string): string {
	if (answer.kind === "question") {
		const given = Object.values(answer.answers);
		return given.length === 0 ? `Dismissed ${who}` : `Answered ${who}: ${given.join("; ")}`;
	}
	return `${verbs[answer.decision]} ${who}${answer.feedback === "" ? "" : `: “${answer.feedback}”`}`;
}

/** Who settled something, as the end of a sentence; `windowName` is the window that shows it. */
export function settledWords(by: SettledBy | undefined, windowName: string): string {
	switch (by?.kind) {
		case undefined:
			return "";
		case "client":
			return by.name === windowName ? "in this window" : `by ${shownName(by.name ?? "another program")}`;
		case "session-grant":
			return "by an earlier approval for this session";
		case "error-reply":
			return `because a program failed to answer: ${by.message}`;
		case "malformed":
			return "because a program's answer made no sense";
		case "deadline":
			return `because nobody answered within ${by.seconds} s`;
		case "cancelled":
			return "because the turn was stopped";
		case "client-gone":
			return "because nobody was there to answer";
		case "shutdown":
			return "because the program ended";
	}
}
