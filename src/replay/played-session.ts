import * as v from "valibot";
import type { Clock } from "../base/clock.ts";
import { KernelError } from "../base/errors.ts";
import type { Identifiers } from "../base/ids.ts";
import { silentLog } from "../base/log.ts";
import type { Model } from "../core/models/model.ts";
import type { InteractionDeadlines } from "../kernel/interactions/interaction-table.ts";
import type { SessionParts } from "../kernel/session/session-parts.ts";
import type { Files } from "../ports/files/port.ts";
import type { Processes } from "../ports/processes/port.ts";
import type { SharedSession } from "../ports/store/shared-session.ts";
import { toConfiguration } from "../settings/config/configuration.ts";
import { configurationFileSchema } from "../settings/config/schema.ts";
import type { PlayedLimits } from "./played-model.ts";
import type { PlayedTools } from "./played-tools.ts";

function refuse(): never {
	throw new KernelError("unsupported", "A replay has no effects.");
}
const refuseLater = async () => refuse();

const noFiles: Files = {
	admitting: () => noFiles,
	read: async () => null,
	readRange: async () => null,
	async *readPieces() {},
	status: async () => null,
	list: async () => [],
	resolve: async (path) => path,
	makeDirectory: refuseLater,
	replace: refuseLater,
	replaceByPieces: refuseLater,
	create: refuseLater,
	rename: refuseLater,
	truncate: refuseLater,
	openAppend: refuseLater,
	syncDirectory: refuseLater,
	remove: async () => {},
};

export interface PlayedParts {
	readonly stored: SharedSession;
	readonly model: Model | null;
	/** The requested model if there was none. */
	readonly unsetModelAlias: string | null;
	/** Whether it starts in plan mode, and whether the agent has its tools. */
	readonly startsWithPlan: boolean;
	readonly hasPlanMode: boolean;
	readonly isYolo: boolean;
	/** The model of the subagent that this call starts; null if none. */
	modelOf(toolCallId: string): Model | null;
	readonly subagentTypes: readonly string[];
	readonly tools: PlayedTools;
	readonly commands: SessionParts["commands"];
	readonly budgets: Pick<SessionParts["budgets"], "session" | "turn">;
	readonly limits: PlayedLimits;
	readonly hooks: SessionParts["hooks"];
	readonly processes: Processes;
	readonly deadlines: InteractionDeadlines;
	readonly clock: Clock;
	readonly identifiers: Identifiers;
}

export function toSessionParts(played: PlayedParts): SessionParts {
	const { stored, model, modelOf, subagentTypes, tools, limits, hooks, processes, deadlines, clock, identifiers } =
		played;
	const home = "/";
	const choice = model === null ? null : { alias: null, name: model.name, provider: "", thinking: false };
	return {
		stored,
		takesOver: false,
		allRunning: new Set(),
		readContext: async () => null,
		chosen: { model, unsetModelAlias: played.unsetModelAlias, choice, sentName: model?.name ?? "" },
		models: { options: async () => [], prepare: refuseLater },
		createTools: async (operations) => tools.create(operations, false),
		subagents: {
			types: subagentTypes.map((name) => ({
				name,
				whenToUse: "",
				toolPaths: [],
				model: null,
				role: "",
				startsWithGit: false,
			})),
			createTools: async (_, operations) => tools.create(operations, true),
			findModel: async (alias) => modelOf(alias),
			describeRepository: async () => "",
			parallel: Number.MAX_SAFE_INTEGER,
		},
		background: {
			settings: toConfiguration(v.parse(configurationFileSchema, {})).background,
			startWorker: refuseLater,
			claimStaleAfter: 0,
		},
		openHistory: "A replay changes no files.",
		loadServers: null,
		mcpServers: [],
		limits,
		budgets: { ...played.budgets, warningRatio: 1 },
		// The played model says when a compaction is due.
		compaction: { triggerRatio: Number.MAX_SAFE_INTEGER, reservedTokens: Number.NEGATIVE_INFINITY },
		deadlines,
		yolo: played.isYolo,
		afk: false,
		remindsOfAbsence: false,
		isOneOfMany: false,
		passesUnknownCommands: false,
		titles: "prompt",
		whenUnattended: "wait",
		judge: tools.judge,
		policies: [],
		sandbox: null,
		forbiddenModes: new Map(),
		hooks,
		findFiles: async () => ({ paths: [], isPartial: false }),
		hookPlace: { environment: {}, processes, fetch: refuseLater, sessionHooks: [] },
		planPlace: {
			files: noFiles,
			shareDir: home,
			home,
			startsOn: played.startsWithPlan,
			isSupported: played.hasPlanMode,
		},
		skills: [],
		...(played.commands === undefined ? {} : { commands: played.commands }),
		loopIterations: 0,
		keys: { start() {}, renewDue: () => undefined, close: async () => {} },
		systemPrompt: async () => "",
		clock,
		identifiers,
		random: () => 0,
		log: silentLog,
	};
}
