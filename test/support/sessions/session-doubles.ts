// Parts of a session and of its tools that do nothing: no hooks, no plan mode, no subagents, nobody to ask.
import * as v from "valibot";
import type { AttachOptions } from "../../../src/api/session-options.ts";
import { toolError } from "../../../src/api/values/content.ts";
import type { Model } from "../../../src/core/models/model.ts";
import { createRuleJudge } from "../../../src/core/permissions/rules/rule-judge.ts";
import type {
	AgentOperations,
	MailOperations,
	MediaOperations,
	PlanOperations,
	QuestionOperations,
	TaskOperations,
} from "../../../src/core/tools/operations.ts";
import type { WebAccess, WebService } from "../../../src/core/tools/tool.ts";
import type { ReadPage } from "../../../src/core/tools/web/page-reader.ts";
import { readPageText } from "../../../src/core/tools/web/web-page.ts";
import type { ChosenModel } from "../../../src/kernel/session/session-model.ts";
import type { SessionParts } from "../../../src/kernel/session/session-parts.ts";
import type { SecretPaths } from "../../../src/ports/files/secret-paths.ts";
import type { Processes } from "../../../src/ports/processes/port.ts";
import type { StoredSession } from "../../../src/ports/store/session-store.ts";
import { toConfiguration } from "../../../src/settings/config/configuration.ts";
import { configurationFileSchema } from "../../../src/settings/config/schema.ts";
import { plainNetwork } from "../host/network.ts";
import { noWorkers } from "../host/task-workers.ts";
import { createMemoryFiles } from "../store/memory-files.ts";

/** Starts nothing, and says so. */
export const noProcesses: Processes = {
	run: async () => ({
		ended: { kind: "not-started", reason: "there are no processes here" },
		output: "",
		errorOutput: "",
		outputBytes: 0,
		truncated: false,
		spilledTo: null,
	}),
	endAll: async () => {},
};

/** The settings of background work when nothing is set. */
export const backgroundSettings: SessionParts["background"]["settings"] = toConfiguration(
	v.parse(configurationFileSchema, {}),
).background;

export const noLimits = { tokens: null, time: null, "tool-calls": null } as const;

/** The model that a session begins with; without one, the alias that was requested. */
export function chosenModel(model: Model | null, unsetModelAlias: string | null = null): ChosenModel {
	const choice = model === null ? null : { alias: null, name: model.name, provider: "p", thinking: false };
	return { model, unsetModelAlias, choice, sentName: model?.name ?? "" };
}

/** What a session needs for hooks, plan mode, subagents and background work when none is used. */
export function createQuietParts(
	stored: StoredSession,
): Pick<
	SessionParts,
	| "skills"
	| "loopIterations"
	| "takesOver"
	| "allRunning"
	| "readContext"
	| "afk"
	| "remindsOfAbsence"
	| "whenUnattended"
	| "judge"
	| "policies"
	| "sandbox"
	| "forbiddenModes"
	| "isOneOfMany"
	| "passesUnknownCommands"
	| "titles"
	| "compaction"
	| "budgets"
	| "hooks"
	| "hookPlace"
	| "findFiles"
	| "planPlace"
	| "subagents"
	| "background"
	| "keys"
	| "models"
	| "loadServers"
	| "openHistory"
	| "mcpServers"
> {
	return {
		skills: [],
		takesOver: false,
		allRunning: new Set(),
		loopIterations: 0,
		models: { options: async () => [], prepare: () => Promise.reject(new Error("there is one model")) },
		readContext: async () => null,
		loadServers: null,
		openHistory: "Nothing is recorded here.",
		mcpServers: [],
		background: { settings: backgroundSettings, startWorker: noWorkers, claimStaleAfter: 15_000 },
		afk: false,
		remindsOfAbsence: true,
		whenUnattended: "reject",
		judge: createRuleJudge({
			rules: [],
			grants: () => stored.state().approval.autoApproveActions,
			allowsReadOnly: "never",
			place: {
				home: "/home/me",
				roots: async () => [stored.workDir],
				resolve: async (path) => path,
				repositoryProgram: async () => null,
			},
		}),
		policies: [],
		sandbox: null,
		forbiddenModes: new Map(),
		isOneOfMany: false,
		passesUnknownCommands: false,
		titles: "prompt",
		compaction: { triggerRatio: 0.85, reservedTokens: 0 },
		budgets: { session: noLimits, turn: noLimits, warningRatio: 0.8 },
		hooks: [],
		findFiles: async () => ({ paths: [], isPartial: false }),
		hookPlace: {
			environment: {},
			processes: noProcesses,
			fetch: () => Promise.reject(new Error("no network")),
			sessionHooks: [],
		},
		planPlace: { files: createMemoryFiles(), shareDir: "/share", home: "/home/me", startsOn: false, isSupported: true },
		subagents: {
			types: [],
			createTools: async () => [],
			findModel: async () => null,
			describeRepository: async () => "",
			parallel: 1,
		},
		keys: { start: () => {}, renewDue: () => undefined, close: async () => {} },
	};
}

/** A client without a handshake. */
export const plainAttachment: AttachOptions = { client: null, tools: [], capabilities: [], hooks: null };

export const noAgents: AgentOperations = {
	types: [],
	run: async () => toolError("There are no subagents here.", "Agent failed"),
	start: async () => ({ ok: false, result: toolError("There are no subagents here.", "Background start failed") }),
};

export const noTasks: TaskOperations = {
	startCommand: async () => ({ ok: false, result: toolError("There are no background tasks here.", "Start failed") }),
	list: async () => [],
	find: async () => null,
	wait: async () => {},
	output: async () => null,
	stop: async () => null,
};

export const nobodyToAsk: QuestionOperations = { ask: async () => ({ kind: "unsupported" }) };

/** A model of words alone. */
export const noMedia: MediaOperations = { takesImages: false, takesVideos: false, uploadVideo: null };

export const allMedia: MediaOperations = { takesImages: true, takesVideos: true, uploadVideo: null };

/** Every file may be read. */
export const noSecrets: SecretPaths = {
	kindOf: async () => null,
	forMany: () => noSecrets,
	admit: async () => {},
};

/** Reads pages in this thread. */
export const readPageHere: ReadPage = async (source) => ({ kind: "read", page: await readPageText(source) });

/** Nothing but the public web, which tests leave alone. */
export const noWeb: WebAccess = {
	refuses: async () => null,
	network: plainNetwork,
	allowed: [],
	fetchService: null,
	searchService: null,
	readPage: readPageHere,
};

export const searchService: WebService = {
	baseUrl: "https://search.example.org",
	customHeaders: {},
	token: async () => "key",
};

/** No checkpoint to send anything to. */
export const noMail: MailOperations = { send: () => "no-such-checkpoint" };

/** Plan mode that is off and cannot be asked about. */
export const noPlanMode: PlanOperations = {
	isOn: () => false,
	file: () => null,
	read: async () => null,
	set: async () => {},
	show: async () => {},
	canShow: () => false,
	canAsk: () => false,
	entersUnasked: () => false,
	isAway: () => false,
	instructions: (file) => `Plan to ${file}.`,
	ask: async () => ({ kind: "unsupported" }),
};
