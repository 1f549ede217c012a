import { userRow } from "../../core/agent/context.ts";
import { reminderText } from "../../core/agent/marked-text.ts";
import { backReminder } from "../../core/definitions/away-reminders.ts";
import type { ApprovalMode } from "../interactions/approval-mode.ts";
import { answering, type SlashCommand } from "./command.ts";

export function createApprovalCommands(mode: ApprovalMode): readonly SlashCommand[] {
	return [
		{
			name: "yolo",
			description: "Approve every action without asking, or ask again",
			aliases: [],
			isUnlisted: mode.whoForbids("yolo") !== null,
			run: answering(async () => {
				const forbidding = mode.whoForbids("yolo");
				if (forbidding !== null) return `Yolo is forbidden by ${forbidding}: actions are asked for.`;
				await mode.setYolo(!mode.isYolo);
				if (mode.isYolo) return "Yolo is on: every action is approved without asking.";
				return mode.isAway && mode.approvesWhileAway
					? "Yolo is off. Actions are still approved by themselves, because afk is on."
					: "Yolo is off: actions are asked for again.";
			}),
		},
		{
			name: "afk",
			description: "Say that nobody is at the keyboard, or that somebody is again",
			aliases: [],
			run: answering(async ({ agent }) => {
				await mode.setAway(!mode.isAway);
				if (mode.isAway) {
					const forbidding = mode.whoForbids("auto");
					return forbidding === null
						? "Afk is on: every action that no rule asks about is approved, and questions are left to the agent."
						: `Afk is on: questions are left to the agent. Actions that need an approval are rejected, because ${forbidding} forbids approving them.`;
				}
				await agent.context.append([userRow(reminderText(backReminder))]);
				return mode.isYolo
					? "Afk is off: questions are asked again. Actions are still approved without asking, because yolo is on."
					: "Afk is off: questions and actions are asked for again.";
			}),
		},
	];
}
