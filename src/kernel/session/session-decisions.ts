// What decides whether the agent may act: modes, approvals and hooks, and the questions that it asks.

import { ApprovalMode } from "../interactions/approval-mode.ts";
import { ApprovalState } from "../interactions/approval-state.ts";
import { Approvals } from "../interactions/approvals.ts";
import { PlanMode } from "../plan/plan-mode.ts";
import { HookRunner } from "../turn/hook-runner.ts";
import { createSharedOperations, type SharedOperations } from "./operations.ts";
import type { SessionEvents } from "./session-events.ts";
import { SessionModes } from "./session-modes.ts";
import type { SessionParts } from "./session-parts.ts";

export class SessionDecisions {
	readonly mode: ApprovalMode;
	readonly plan: PlanMode;
	readonly modes: SessionModes;
	readonly approvals: Approvals;
	readonly hooks: HookRunner;
	readonly operations: SharedOperations;

	constructor(parts: SessionParts, events: SessionEvents) {
		const { stored, identifiers, clock, log, yolo, afk, forbiddenModes, judge, policies, whenUnattended } = parts;
		const { clients, interactions } = events;
		const state = new ApprovalState(stored);
		const mode = new ApprovalMode({ stored, state, yolo, afk, forbiddenModes });
		const plan = new PlanMode({ ...parts.planPlace, stored, identifiers });
		this.mode = mode;
		this.plan = plan;
		this.modes = new SessionModes(plan, mode, events);
		const asking = { state, mode, interactions, clients, whenUnattended, identifiers };
		this.approvals = new Approvals({ ...asking, judge, policies });
		const hookPlace = { ...parts.hookPlace, sessionId: stored.id, workDir: stored.workDir };
		const hookSettings = { ...hookPlace, commands: parts.hooks, interactions, identifiers, clock, log };
		this.hooks = new HookRunner(hookSettings, () => clients.hooks());
		this.operations = createSharedOperations({ events, plan, mode, identifiers });
	}
}
