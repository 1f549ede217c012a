import type { McpServerSettings } from "../../api/mcp-servers.ts";
import type { ModelOption } from "../../api/models.ts";
import type { SandboxDescription } from "../../api/session-state.ts";
import type { ContextRow } from "../../api/values/conversation.ts";
import type { CommandHook } from "../../api/values/hooks/hook.ts";
import type { WhenUnattended } from "../../api/values/session-mode.ts";
import type { TurnOptions } from "../../api/values/turn-options.ts";
import type { Clock } from "../../base/clock.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { TurnLimits } from "../../core/agent/dependencies.ts";
import type { AgentType } from "../../core/definitions/agent-types.ts";
import type { Skill } from "../../core/definitions/skill.ts";
import type { Judge } from "../../core/permissions/judge.ts";
import type { Policy } from "../../core/permissions/policy.ts";
import type { FoundFiles } from "../../core/tools/search/file-finder.ts";
import type { Tool, ToolEnvironment } from "../../core/tools/tool.ts";
import type { SharedSession } from "../../ports/store/shared-session.ts";
import type { BackgroundParts } from "../background/background-tasks.ts";
import type { BudgetLimits } from "../budgets/budgets.ts";
import type { ObservationSettings } from "../clients/observation.ts";
import type { SlashCommand } from "../commands/command.ts";
import type { SessionKeys } from "../compose/key-ring.ts";
import type { InteractionDeadlines } from "../interactions/interaction-table.ts";
import type { PlanModeSettings } from "../plan/plan-mode.ts";
import type { OpenHistory } from "../rewind/session-files.ts";
import type { SubagentParts } from "../subagents/subagents.ts";
import type { HookRunnerSettings } from "../turn/hook-runner.ts";
import type { StartNotice } from "../turn/start-notices.ts";
import type { AgentServices } from "../turn/turn-dependencies.ts";
import type { ChosenModel, ModelChange, PreparedChange } from "./session-model.ts";
import type { LoadServers } from "./tool-servers.ts";

/** What a session does for the tools of an agent. */
export type SessionOperations = Pick<ToolEnvironment, "agents" | "questions" | "plan" | "mail" | "media" | "tasks">;

export interface LimitParts {
	readonly limits: TurnLimits;
	readonly budgets: BudgetLimits;
	readonly compaction: AgentServices["compaction"];
	readonly deadlines: InteractionDeadlines;
	/** Repetitions of a prompt after the first run; 0 for none, -1 lets the model decide. */
	readonly loopIterations: number;
}

export interface DecisionParts {
	readonly yolo: boolean;
	/** Unattended: approve everything, ask nothing. */
	readonly afk: boolean;
	readonly remindsOfAbsence: boolean;
	/** What happens to a call that needs approval when no attached client answers approvals. */
	readonly whenUnattended: WhenUnattended;
	readonly judge: Judge;
	readonly policies: readonly Policy[];
	readonly sandbox: SandboxDescription | null;
	readonly forbiddenModes: ReadonlyMap<"auto" | "yolo", string>;
	readonly hooks: readonly CommandHook[];
	readonly hookPlace: Pick<HookRunnerSettings, "environment" | "processes" | "fetch" | "sessionHooks">;
	readonly planPlace: Pick<PlanModeSettings, "files" | "shareDir" | "home" | "startsOn" | "isSupported">;
}

export interface SessionParts extends LimitParts, DecisionParts {
	readonly stored: SharedSession;
	readonly takesOver: boolean;
	/** Gets an object while the session's turn runs. */
	readonly allRunning: Set<object>;
	readContext(sessionId: string): Promise<readonly ContextRow[] | null>;
	readonly chosen: ChosenModel;
	readonly models: {
		options(): Promise<readonly ModelOption[]>;
		prepare(change: ModelChange): Promise<PreparedChange>;
	};
	/** Creates the built-in tools in the order offered to models. */
	createTools(operations: SessionOperations): Promise<readonly Tool[]>;
	readonly subagents: Pick<SubagentParts, "types" | "findModel" | "describeRepository" | "parallel"> & {
		createTools(toolPaths: readonly string[], operations: SessionOperations): Promise<readonly Tool[]>;
	};
	readonly observation?: Omit<ObservationSettings, "main">;
	readonly background: BackgroundParts;
	/** Opens the file history, or a sentence that explains why there is none. */
	readonly openHistory: OpenHistory | string;
	readonly loadServers: LoadServers | null;
	readonly mcpServers: readonly McpServerSettings[];
	/** Whether closing the session does not make it the working directory's last session. */
	readonly isOneOfMany: boolean;
	readonly passesUnknownCommands: boolean;
	findFiles(query: string): Promise<FoundFiles>;
	readonly skills: readonly Skill[];
	/** How the session is named after its first answered prompt: by the beginning of the prompt, or by the model in a separate request. */
	readonly titles: "prompt" | "model";
	readonly commands?: readonly SlashCommand[];
	/** Notices for clients in the first turn of this process. */
	readonly startNotices?: readonly StartNotice[];
	readonly turns?: TurnOptions;
	readonly keys: SessionKeys;
	/** Renders the system prompt of a new session, or that of a subagent type without its role. */
	readonly systemPrompt: (type: AgentType | null) => Promise<string>;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
	readonly random: () => number;
	readonly log: Log;
}
