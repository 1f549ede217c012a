// Reminders for the main agent at the start of a step. Each source decides when one is due.

import type { HistoryEntry } from "../../api/values/conversation.ts";
import { awayReminder } from "../../core/definitions/away-reminders.ts";
import type { ApprovalMode } from "../interactions/approval-mode.ts";

export interface Reminders {
	/** Texts due now. A delivered text is not due again immediately. */
	due(messages: readonly HistoryEntry[]): Promise<readonly string[]>;
	/** Earlier texts are no longer in the context. */
	rearm(): void;
}

export const noReminders: Reminders = { due: async () => [], rearm: () => {} };

export function joinReminders(sources: readonly Reminders[]): Reminders {
	return {
		due: async (messages) => (await Promise.all(sources.map((source) => source.due(messages)))).flat(),
		rearm: () => {
			for (const source of sources) source.rearm();
		},
	};
}

/** Reminds once that the session is unattended, while its state says so. */
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
