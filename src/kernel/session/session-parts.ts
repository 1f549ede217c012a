// The parts that a session is made of: models, tools, limits, and what it shares with other sessions. Types only.

import type { ContextRow } from "../../api/values/conversation.ts";
import type { TurnOptions } from "../../api/values/turn-options.ts";
import type { Clock } from "../../base/clock.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { TurnLimits } from "../../core/agent/dependencies.ts";
import type { AgentType } from "../../core/definitions/agent-types.ts";
import type { Skill } from "../../core/definitions/skill.ts";
import type { CommandHook } from "../../core/hooks/hook.ts";
import type { Judge } from "../../core/permissions/judge.ts";
import type { WhenUnattended } from "../../core/permissions/modes.ts";
import type { Policy } from "../../core/permissions/policy.ts";
import type { FoundFiles } from "../../core/tools/search/file-finder.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { SharedSession } from "../../ports/store/shared-session.ts";
import type { McpServerSettings } from "../../settings/config/mcp-servers.ts";
import type { ModelOption, SandboxDescription } from "../api.ts";
import type { BackgroundParts } from "../background/background-tasks.ts";
import type { BudgetLimits } from "../budgets/budgets.ts";
import type { ObservationSettings } from "../clients/observation.ts";
import type { SessionKeys } from "../compose/key-ring.ts";
import type { InteractionDeadlines } from "../interactions/interaction-table.ts";
import type { PlanModeSettings } from "../plan/plan-mode.ts";
import type { OpenHistory } from "../rewind/session-files.ts";
import type { SubagentParts } from "../subagents/subagents.ts";
import type { HookRunnerSettings } from "../turn/hook-runner.ts";
import type { StartNotice } from "../turn/start-notices.ts";
import type { AgentServices } from "../turn/turn-dependencies.ts";
import type { SessionOperations } from "./operations.ts";
import type { ChosenModel, ModelChange, PreparedChange } from "./session-model.ts";
import type { LoadServers } from "./tool-servers.ts";

/** The parts of a session; `compose.ts` creates them from the configuration. */
export interface SessionParts {
	readonly stored: SharedSession;
	/** Whether a turn that runs in another process is ended for one that starts here. */
	readonly takesOver: boolean;
	/** The context of another session of the work dir; null when there is none. */
	readContext(sessionId: string): Promise<readonly ContextRow[] | null>;
	/** The model that it begins with. */
	readonly chosen: ChosenModel;
	readonly models: {
		/** What else can be chosen. */
		options(): Promise<readonly ModelOption[]>;
		/** Makes the model of another choice; fails with a KernelError for what cannot be chosen. */
		prepare(change: ModelChange): Promise<PreparedChange>;
	};
	/** Creates the built-in tools, in the order in which a model is offered them. */
	createTools(operations: SessionOperations): Promise<readonly Tool[]>;
	/** The parts of subagents; their tools get the same operations. */
	readonly subagents: Pick<SubagentParts, "types" | "findModel" | "describeRepository" | "parallel"> & {
		createTools(toolPaths: readonly string[], operations: SessionOperations): Promise<readonly Tool[]>;
	};
	/** What observes the events of all sessions; absent where nothing does. */
	readonly observation?: Omit<ObservationSettings, "main">;
	readonly background: BackgroundParts;
	/** Opens the history of the session's files, or says why there is none: a sentence. */
	readonly openHistory: OpenHistory | string;
	/** Null for a session without tool servers. */
	readonly loadServers: LoadServers | null;
	/** The servers that it begins with. */
	readonly mcpServers: readonly McpServerSettings[];
	readonly limits: TurnLimits;
	readonly budgets: BudgetLimits;
	readonly compaction: AgentServices["compaction"];
	readonly deadlines: InteractionDeadlines;
	readonly yolo: boolean;
	/** Nobody is at the keyboard: approve everything, ask nothing. */
	readonly afk: boolean;
	/** Whether the model is reminded that nobody is at the keyboard. */
	readonly remindsOfAbsence: boolean;
	/** Whether closing the session does not make it the work dir's last one. */
	readonly isOneOfMany: boolean;
	/** Whether a prompt that names an unknown slash command goes to the model. */
	readonly passesUnknownCommands: boolean;
	/** What happens to a call that needs an approval when no attached client answers approvals. */
	readonly whenUnattended: WhenUnattended;
	/** The rules over tool calls, with the approvals given for the session. */
	readonly judge: Judge;
	/** Policies besides the rules. */
	readonly policies: readonly Policy[];
	/** Null when the settings ask for no sandbox. */
	readonly sandbox: SandboxDescription | null;
	/** The modes that may not be switched on, each with the file that forbids it. */
	readonly forbiddenModes: ReadonlyMap<"auto" | "yolo", string>;
	readonly hooks: readonly CommandHook[];
	/** Finds files of the work directory for a person who types a part of a path. */
	findFiles(query: string): Promise<FoundFiles>;
	readonly hookPlace: Pick<HookRunnerSettings, "environment" | "processes" | "fetch" | "sessionHooks">;
	readonly planPlace: Pick<PlanModeSettings, "files" | "shareDir" | "home" | "startsOn" | "isSupported">;
	readonly skills: readonly Skill[];
	/** What its clients are told in its first turn of this process; absent for nothing. */
	readonly startNotices?: readonly StartNotice[];
	/** How often a prompt is repeated after its first time; 0 for never, -1 for as often as the model decides. */
	readonly loopIterations: number;
	/** Options of each turn that does not have them itself; absent for none. */
	readonly turns?: TurnOptions;
	/** The sign-ins that its models use. */
	readonly keys: SessionKeys;
	/** Renders the system prompt of a session that has none yet, or that of a subagent type without its role. */
	readonly systemPrompt: (type: AgentType | null) => Promise<string>;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
	readonly random: () => number;
	readonly log: Log;
}
