// What agents work with: budgets, the file history, background tasks and subagents.

import type { TaskOperations } from "../../core/tools/operations.ts";
import { type AgentStarter, startAgentTask } from "../background/agent-task.ts";
import { BackgroundTasks } from "../background/background-tasks.ts";
import { LiveOutput } from "../background/live-output.ts";
import { Notifications } from "../background/notifications.ts";
import { createTaskOperations } from "../background/task-operations.ts";
import { describeTaskSource } from "../background/task-source.ts";
import type { BudgetState } from "../budgets/budget-meter.ts";
import { Budgets } from "../budgets/budgets.ts";
import { SessionFiles } from "../rewind/session-files.ts";
import { createSubagents, type Subagents } from "../subagents/subagents.ts";
import type { AgentServices } from "../turn/turn-dependencies.ts";
import { toMediaOperations } from "./operations.ts";
import type { SessionDecisions } from "./session-decisions.ts";
import type { SessionEvents } from "./session-events.ts";
import type { SessionOperations, SessionParts } from "./session-parts.ts";

export class SessionWork {
	readonly budgets: Budgets;
	readonly notifications: Notifications;
	readonly liveOutput: LiveOutput;
	readonly background: BackgroundTasks;
	readonly taskOperations: TaskOperations;
	readonly sessionFiles: SessionFiles;
	readonly services: AgentServices;
	readonly operations: Omit<SessionOperations, "mail" | "media">;

	constructor(parts: SessionParts, events: SessionEvents, decisions: SessionDecisions) {
		const { stored, clock, identifiers, log, limits, compaction, random } = parts;
		const { emitter, observation, progress, clients, persisted } = events;
		const { settings, claimStaleAfter } = parts.background;
		const warn = (state: BudgetState) => void events.emit({ type: "budget.warning", ...state })?.catch(() => {});
		this.budgets = new Budgets({ limits: parts.budgets, stored, clock, log, warn });
		const common = { clock, identifiers, log };
		this.notifications = new Notifications({
			...common,
			stored: stored.notifications,
			claimStaleAfter,
			describeSource: (notification) => describeTaskSource(notification, stored.tasks, settings),
		});
		this.liveOutput = new LiveOutput({ progress, clock, log, isWanted: () => clients.wantsProgress });
		const { notifications, liveOutput } = this;
		const isClaimed = () => stored.isClaimed;
		const own = { ...parts.background, ...common };
		const background = new BackgroundTasks({ ...own, stored, isClaimed, notifications, liveOutput });
		this.background = background;
		this.taskOperations = createTaskOperations(background, stored.tasks);
		const hasBackgroundWork = async () => (await background.active()).length > 0;
		this.sessionFiles = new SessionFiles({ open: parts.openHistory, hasBackgroundWork, judge: parts.judge, clock });
		this.services = {
			stored,
			sessionFiles: this.sessionFiles,
			emitter,
			observation,
			approvals: decisions.approvals,
			progress,
			sourceKind: "foreground_turn",
			limits,
			budget: this.budgets.inTurn,
			compaction,
			clock,
			random,
			planMode: () => decisions.plan.isOn,
			persisted,
		};
		const { services } = this;
		const subagents = createOwnSubagents(parts, events, decisions, services);
		const runAgent: AgentStarter["runAgent"] = (work) => startAgentTask(work, services, log);
		this.operations = {
			...decisions.operations,
			agents: {
				...subagents,
				start: (request, toolCallId) => background.startAgent(request, toolCallId, { subagents, runAgent }),
			},
			tasks: this.taskOperations,
		};
	}
}

function createOwnSubagents(
	{ subagents, systemPrompt, identifiers }: SessionParts,
	events: SessionEvents,
	{ operations, hooks }: SessionDecisions,
	services: AgentServices,
): Subagents {
	const { turn } = events;
	return createSubagents({
		...subagents,
		createTools: (toolPaths, mail, model) => {
			const own = { ...operations, agents: null, tasks: null, mail, media: toMediaOperations(model) };
			return subagents.createTools(toolPaths, own);
		},
		chosen: () => events.chosen,
		toolLimits: () => turn.running?.options.tools,
		turnId: () => turn.id,
		systemPrompt,
		services,
		hooks,
		identifiers,
	});
}
