// The reminders that the session's own agent gets at the beginning of a step. Each source says when one is due.

import type { HistoryEntry } from "../../api/values/conversation.ts";
import { awayReminder } from "../../core/definitions/away-reminders.ts";
import type { ApprovalMode } from "../interactions/approval-mode.ts";

export interface Reminders {
	/** The texts that are due now; a text that was given is not due again at once. */
	due(messages: readonly HistoryEntry[]): Promise<readonly string[]>;
	/** The texts given before are no longer in the context. */
	rearm(): void;
}

export const noReminders: Reminders = { due: async () => [], rearm: () => {} };

/** Joins several sources into one. */
export function joinReminders(sources: readonly Reminders[]): Reminders {
	return {
		due: async (messages) => (await Promise.all(sources.map((source) => source.due(messages)))).flat(),
		rearm: () => {
			for (const source of sources) source.rearm();
		},
	};
}

/** Reminds once that nobody is at the keyboard, while the session's state says so. */
export function createAwayReminders(mode: ApprovalMode): Reminders {
	let isGiven = false;
	return {
		async due() {
			if (!mode.isWithheld) isGiven = false;
			if (!mode.isWithheld || isGiven) return [];
			isGiven = true;
			return [awayReminder];
		},
		rearm: () => {
			isGiven = false;
		},
	};
}
