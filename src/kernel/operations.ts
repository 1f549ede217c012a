// What the session does for its tools: asking questions, plan mode, subagents and background work.
import type { Identifiers } from "../base/ids.ts";
import { workflow } from "../definitions/plan-reminders.ts";
import type { EventBody } from "../events/event.ts";
import type {
	AgentOperations,
	MailOperations,
	PlanOperations,
	QuestionOperations,
	TaskOperations,
} from "../tools/operations.ts";
import type { ClientCapability } from "../tools/tool.ts";
import type { ApprovalMode } from "./approval-mode.ts";
import type { AskTable } from "./asks.ts";
import type { PlanMode } from "./plan-mode.ts";

export interface SessionOperations {
	readonly agents: AgentOperations;
	readonly questions: QuestionOperations;
	readonly plan: PlanOperations;
	readonly mail: MailOperations;
	/** Null for subagents. */
	readonly tasks: TaskOperations | null;
}

export interface OperationsSettings {
	readonly agents: AgentOperations;
	readonly tasks: TaskOperations;
	readonly asks: AskTable;
	readonly plan: PlanMode;
	readonly identifiers: Identifiers;
	readonly mode: ApprovalMode;
	readonly mail: MailOperations;
	/** Whether an attached client can do it. */
	can(capability: ClientCapability): boolean;
	emit(body: EventBody): Promise<void>;
}

export function createSessionOperations(settings: OperationsSettings): SessionOperations {
	const { plan, agents, tasks, mail, mode } = settings;
	const isAway = () => mode.isAway;
	const questions = createQuestions(settings, isAway);
	return {
		agents,
		tasks,
		mail,
		questions,
		plan: {
			isOn: () => plan.isOn,
			file: () => plan.file,
			read: () => plan.read(),
			set: (enabled) => plan.set(enabled, false),
			show: (content, file) => settings.emit({ type: "plan.displayed", content, file_path: file }),
			canAsk: () => settings.can("questions") && settings.can("plan-mode"),
			entersFreely: () => mode.isYolo || mode.isAway,
			isAway,
			workflow,
			questions,
		},
	};
}

function createQuestions(settings: OperationsSettings, isAway: () => boolean): QuestionOperations {
	return {
		async ask(asked, toolCallId, signal) {
			if (isAway()) return { kind: "away" };
			if (!settings.can("questions")) return { kind: "unsupported" };
			const questions = asked.map(({ question, header, options, multi_select, other_label = "" }) => ({
				question,
				header,
				options: [...options],
				multi_select,
				body: "",
				other_label,
				other_description: "",
			}));
			const ask = { kind: "question", id: settings.identifiers.uuid(), toolCallId, questions } as const;
			const settlement = settings.asks.wait({ ...ask, questions }, "question", signal);
			await settings.emit({ type: "ask.requested", ask: { ...ask, questions } });
			const { answer } = await settlement;
			await settings.emit({ type: "ask.resolved", askId: ask.id, answer });
			const isAnswered = Object.keys(answer.answers).length > 0;
			return isAnswered ? { kind: "answered", answers: answer.answers } : { kind: "dismissed" };
		},
	};
}
