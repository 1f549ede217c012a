// What a session is made of: models, tools, limits and what it shares with others, without a word on what it does.
import type { TurnLimits } from "../../agent/dependencies.ts";
import type { Clock } from "../../base/clock.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { AgentType } from "../../definitions/agent-types.ts";
import type { Skill } from "../../definitions/skill.ts";
import type { ContextRow } from "../../events/conversation.ts";
import type { CommandHook } from "../../hooks/hook.ts";
import type { Model } from "../../models/model.ts";
import type { StoredSession } from "../../store/session-store.ts";
import type { Tool } from "../../tools/tool.ts";
import type { BackgroundParts } from "../background/background-tasks.ts";
import type { BudgetLimits } from "../budgets/budgets.ts";
import type { SessionKeys } from "../compose/key-ring.ts";
import type { InteractionDeadlines } from "../interactions/interaction-table.ts";
import type { PlanModeSettings } from "../plan/plan-mode.ts";
import type { SubagentParts } from "../subagents/subagents.ts";
import type { HookRunnerSettings } from "../turn/hook-runner.ts";
import type { AgentServices } from "../turn/turn-dependencies.ts";
import type { SessionOperations } from "./operations.ts";
import type { LoadServers } from "./tool-servers.ts";

/** What a session is made of; `compose.ts` fills it from the configuration. */
export interface SessionParts {
	readonly stored: StoredSession;
	/** The context of another session of the work dir; null when there is none. */
	readContext(sessionId: string): Promise<readonly ContextRow[] | null>;
	/** Null when none is configured; `unsetModelAlias` then names what was asked for. */
	readonly model: Model | null;
	readonly unsetModelAlias: string | null;
	/** Makes the built-in tools, in the order in which a model is offered them. */
	createTools(operations: SessionOperations): Promise<readonly Tool[]>;
	/** What the session's subagents are made of; their tools get the same operations. */
	readonly subagents: Pick<SubagentParts, "types" | "findModel" | "describeRepository" | "parallel"> & {
		createTools(toolPaths: readonly string[], operations: SessionOperations): Promise<readonly Tool[]>;
	};
	readonly background: BackgroundParts;
	/** Null for a session without tool servers. */
	readonly loadServers: LoadServers | null;
	readonly limits: TurnLimits;
	readonly budgets: BudgetLimits;
	readonly compaction: AgentServices["compaction"];
	readonly deadlines: InteractionDeadlines;
	readonly yolo: boolean;
	/** Nobody is at the keyboard: approve everything, ask nothing. */
	readonly afk: boolean;
	/** Whether the model is told that nobody is at the keyboard. */
	readonly remindsOfAbsence: boolean;
	/** Whether it does not become the work dir's last session by being closed. */
	readonly isOneOfMany: boolean;
	/** What becomes of a call that needs an approval when no client is there that gives any. */
	readonly whenUnattended: "approve" | "reject";
	readonly hooks: readonly CommandHook[];
	readonly hookPlace: Pick<HookRunnerSettings, "environment" | "processes">;
	readonly planPlace: Pick<PlanModeSettings, "files" | "shareDir" | "home" | "startsOn" | "isSupported">;
	readonly skills: readonly Skill[];
	/** How often a prompt is gone over again behind its first time; 0 for never, -1 for as often as the model wants. */
	readonly loopIterations: number;
	/** The sign-ins that its models use. */
	readonly keys: SessionKeys;
	/** Renders the system prompt of a session that has none yet, or that of a subagent of some type but for its role. */
	readonly systemPrompt: (type: AgentType | null) => Promise<string>;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
	readonly random: () => number;
	readonly log: Log;
}
