import { type AgentEvent, type EventBody, statusChanged } from "../../api/values/event.ts";
import { never } from "../../base/abort.ts";
import { OnFirstUse } from "../../base/on-first-use.ts";
import type { TaskOperations } from "../../core/tools/operations.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { SessionState } from "../../ports/store/session-store.ts";
import { startAgentTask } from "../background/agent-task.ts";
import { BackgroundTasks } from "../background/background-tasks.ts";
import { LiveOutput } from "../background/live-output.ts";
import { Notifications } from "../background/notifications.ts";
import { activeViews, createTaskOperations } from "../background/task-operations.ts";
import { describeTaskSource } from "../background/task-source.ts";
import { toCompactionNotes } from "../background/task-view.ts";
import { Budgets } from "../budgets/budgets.ts";
import { type CallClientTool, createClientToolCalls } from "../clients/client-tools.ts";
import { Clients } from "../clients/clients.ts";
import { Emitter } from "../clients/emitter.ts";
import { Observation } from "../clients/observation.ts";
import { ProgressReports } from "../clients/progress-reports.ts";
import { createSlashCommands, type SlashCommands } from "../commands/slash-commands.ts";
import { ApprovalMode } from "../interactions/approval-mode.ts";
import { ApprovalState } from "../interactions/approval-state.ts";
import { Approvals } from "../interactions/approvals.ts";
import { InteractionTable } from "../interactions/interaction-table.ts";
import { PlanMode } from "../plan/plan-mode.ts";
import { SessionFiles } from "../rewind/session-files.ts";
import { SessionRewind } from "../rewind/session-rewind.ts";
import { createSubagents } from "../subagents/subagents.ts";
import { CurrentTurn } from "../turn/current-turn.ts";
import { HookRunner } from "../turn/hook-runner.ts";
import { createMailbox, mailboxOf } from "../turn/mailbox.ts";
import { MainAgent } from "../turn/main-agent.ts";
import { createAwayReminders, joinReminders, noReminders } from "../turn/reminders.ts";
import { createToolBox, type ToolClient } from "../turn/tool-box.ts";
import type { AgentServices } from "../turn/turn-dependencies.ts";
import { createSharedOperations, type SessionOperations, toMediaOperations } from "./operations.ts";
import { type ChosenModel, SessionModel } from "./session-model.ts";
import { SessionModes } from "./session-modes.ts";
import type { SessionParts } from "./session-parts.ts";
import { SessionTitle } from "./session-title.ts";
import { SideQuestions } from "./side-questions.ts";
import { suggestTitle } from "./title-suggestion.ts";
import { type SetLoader, ToolServers } from "./tool-servers.ts";

export interface AssembledSession {
	readonly turn: CurrentTurn;
	readonly mode: ApprovalMode;
	readonly modes: SessionModes;
	readonly model: SessionModel;
	readonly title: SessionTitle;
	readonly emitter: Emitter;
	readonly interactions: InteractionTable;
	readonly clients: Clients;
	readonly progress: ProgressReports;
	readonly plan: PlanMode;
	readonly hooks: HookRunner;
	readonly budgets: Budgets;
	readonly services: AgentServices;
	readonly notifications: Notifications;
	readonly background: BackgroundTasks;
	readonly taskOperations: TaskOperations;
	readonly liveOutput: LiveOutput;
	readonly tools: () => Promise<readonly Tool[]>;
	readonly servers: ToolServers | null;
	readonly main: MainAgent;
	readonly sideQuestions: SideQuestions;
	readonly rewind: SessionRewind;
	readonly commands: SlashCommands;
	readonly callClientTool: CallClientTool;
	/** Another process has written the session: cached data is read again. */
	reload(): void;
	emitPlanMode(enabled: boolean): Promise<void> | undefined;
}

/** What a future client can do for the tools. */
const awaitedClient: ToolClient = { tools: new Map(), capabilities: ["questions", "plan-mode"] };

export function assembleSession(parts: SessionParts): AssembledSession {
	const { stored, identifiers, clock, log, systemPrompt, subagents } = parts;

	const turn = new CurrentTurn();
	const state = new ApprovalState(stored);
	const onSwitched = () => modes.note();
	const { yolo, afk, forbiddenModes } = parts;
	const mode = new ApprovalMode({ stored, state, yolo, afk, forbiddenModes, onSwitched });
	const observation =
		parts.observation === undefined
			? null
			: new Observation({
					...parts.observation,
					main() {
						const { sentName, choice } = turn.running?.chosen ?? model.current;
						return { name: sentName, provider: choice?.provider ?? null };
					},
				});
	const note = (event: AgentEvent) => interactions.noteDelivered(event);
	const noteObserved = (event: AgentEvent) => {
		note(event);
		observation?.take(event);
	};
	const emitter = new Emitter(stored, clock, observation === null ? note : noteObserved);
	const emit = (body: EventBody) => emitter.emit(turn.place, body, {}, turn.signal ?? never);
	/** After a persistence failure, the turn emits nothing more, even if parts of it still run. */
	const persisting = async <T>(work: Promise<T>): Promise<T> => {
		try {
			return await work;
		} catch (thrown) {
			if (turn.id !== null) emitter.fail(turn.id, thrown);
			throw thrown;
		}
	};

	/** Like a snapshot: nothing waits for it, and earlier persistence failures do not stop it. */
	const reportVolatile = (body: EventBody) => {
		const where = { turnId: null, agentPath: [] };
		emitter.emit(where, body, {}, AbortSignal.abort())?.catch(() => emitter.deliverVolatile(where, body));
	};

	const model = new SessionModel({
		stored,
		initial: parts.chosen,
		prepare: (change) => parts.models.prepare(change),
		loadContext: () => main.load(),
		changed: (choice) => reportVolatile({ type: "model.changed", model: choice }),
	});

	/** Whether questions for a person wait for a client that can answer them. */
	const isWaiting = parts.whenUnattended === "wait";
	const clients = new Clients({
		emitter,
		source: { read: (after) => stored.events(after), delivered: () => emitter.delivered, left: () => emitter.left },
		epoch: () => stored.cursor().epoch,
		stamp: (body) => ({ sessionId: stored.id, turnId: null, agentPath: [], at: clock.now(), body }),
		onGone: () => interactions.clientGone(),
	});
	const interactions = new InteractionTable(parts.deadlines, clock, (open) => clients.ableToAnswer(open), isWaiting);
	const progress = new ProgressReports({ emitter, clock, isWanted: () => clients.wantsProgress });
	const plan = new PlanMode({ ...parts.planPlace, stored, identifiers, onSwitched });
	const emitPlanMode = (enabled: boolean) =>
		emitter.emit(turn.place, statusChanged({ plan_mode: enabled }), { sync: true }, never);
	const modes = new SessionModes({
		plan,
		approval: mode,
		agent: () => main,
		isInTurn: () => turn.running !== null,
		changed: (changed) => reportVolatile({ type: "mode.changed", mode: changed }),
		emitPlanMode,
	});
	const hookPlace = { ...parts.hookPlace, sessionId: stored.id, workDir: stored.workDir };
	const hooks = new HookRunner({ ...hookPlace, commands: parts.hooks, interactions, identifiers, clock, log }, () =>
		clients.hooks(),
	);
	const budgets = new Budgets({
		limits: parts.budgets,
		stored,
		clock,
		log,
		warn: (state) => void emit({ type: "budget.warning", ...state })?.catch(() => {}),
	});
	const approvals = new Approvals({
		state,
		identifiers,
		mode,
		interactions,
		canAsk: () => clients.canApprove,
		expectsQuestions: () => clients.expectQuestions,
		whenUnattended: parts.whenUnattended,
		judge: parts.judge,
		policies: parts.policies,
	});
	const sessionFiles = new SessionFiles({
		open: parts.openHistory,
		hasBackgroundWork: async () => (await background.active()).length > 0,
		judge: parts.judge,
		clock,
	});
	const services: AgentServices = {
		stored,
		sessionFiles,
		emitter,
		observation,
		approvals,
		progress,
		sourceKind: "foreground_turn",
		limits: parts.limits,
		budget: budgets.inTurn,
		compaction: parts.compaction,
		clock,
		random: parts.random,
		planMode: () => plan.isOn,
		persisted: persisting,
	};

	const shared = createSharedOperations({
		interactions,
		plan,
		identifiers,
		mode,
		can: (capability) => isWaiting || clients.can(capability),
		reviewsByApproval: () => clients.reviewsByApproval,
		turnId: () => turn.id,
		emit: (body) => emit(body) ?? Promise.resolve(),
	});
	const agents = createSubagents({
		...subagents,
		createTools: (toolPaths, mail, own) =>
			subagents.createTools(toolPaths, { ...shared, agents: null, tasks: null, mail, media: toMediaOperations(own) }),
		chosen: () => turn.running?.chosen ?? model.current,
		toolLimits: () => turn.running?.options.tools,
		systemPrompt,
		stored,
		services,
		hooks,
		identifiers,
		clock,
		turnId: () => turn.id,
	});
	const notifications = new Notifications({
		stored: stored.notifications,
		clock,
		identifiers,
		log,
		claimStaleAfter: parts.background.claimStaleAfter,
		describeSource: (notification) => describeTaskSource(notification, stored.tasks, parts.background.settings),
	});
	const liveOutput = new LiveOutput({ progress, clock, log, isWanted: () => clients.wantsProgress });
	const background = new BackgroundTasks({
		...parts.background,
		stored,
		isClaimed: () => stored.isClaimed,
		runAgent: (work) => startAgentTask(work, { stored, services, clock, log }),
		subagents: agents,
		notifications,
		liveOutput,
		clock,
		identifiers,
		log,
	});
	const taskOperations = createTaskOperations(background, stored.tasks);
	const mailbox = createMailbox();
	const operations: SessionOperations = {
		...shared,
		agents: { ...agents, start: (request, toolCallId) => background.startAgent(request, toolCallId) },
		tasks: taskOperations,
		mail: mailbox,
		media: toMediaOperations(parts.chosen.model),
	};

	/** Media tools and their descriptions depend on the model. */
	const toolsOf = new WeakMap<ChosenModel, OnFirstUse<readonly Tool[]>>();
	const tools = (chosen: ChosenModel = model.current) => {
		const media = toMediaOperations(chosen.model);
		const create = toolsOf.get(chosen) ?? new OnFirstUse(() => parts.createTools({ ...operations, media }));
		toolsOf.set(chosen, create);
		return create.get();
	};
	const servers = createServers(parts, operations, tools, clients);
	const main = new MainAgent({
		stored,
		chosen: () => model.current,
		equip: async (chosen) => {
			const builtin = await tools(chosen);
			return {
				tools: createToolBox(
					builtin,
					() => (isWaiting ? [...clients.toolClients(), awaitedClient] : clients.toolClients()),
					() => servers?.tools() ?? [],
				),
				mailbox: mailboxOf(builtin, mailbox),
			};
		},
		systemPrompt: () => systemPrompt(null),
		reminders: joinReminders([plan, modes, parts.remindsOfAbsence ? createAwayReminders(mode) : noReminders]),
		emit,
		notices: (messages) => notifications.notices(messages, turn.running?.options.events === undefined),
		compactionNotes: async () => toCompactionNotes(await activeViews(background)),
		persisted: persisting,
	});
	const sideQuestions = new SideQuestions({
		identifiers,
		cacheKey: stored.id,
		log,
		hooks,
		agent: () => main.load(),
		budget: budgets.inTurn.outsideTurns(),
		retries: services,
		emit: async (body, signal) => emitter.emit({ turnId: null, agentPath: [] }, body, {}, signal),
		deliverVolatile: (body) => emitter.deliverVolatile({ turnId: null, agentPath: [] }, body),
	});
	/** Takes effect even if no client reads it. */
	const emitOutside = async (body: EventBody, state: Partial<SessionState> = {}) =>
		emitter.emit({ turnId: null, agentPath: [] }, body, { state, sync: true }, AbortSignal.abort());
	const suggestion = {
		async agent() {
			await turn.running?.ended;
			return await main.load();
		},
		budget: budgets.inTurn.outsideTurns(),
		cacheKey: stored.id,
		retries: services,
		emit: emitOutside,
	};
	const title = new SessionTitle({
		stored,
		emit: emitOutside,
		suggest: parts.titles === "model" ? (input, signal) => suggestTitle(input, suggestion, signal) : null,
		log,
	});
	const rewind = new SessionRewind({
		stored,
		files: sessionFiles,
		main: () => main,
		judge: parts.judge,
		identifiers,
		emit: async (body) => emitter.emit(turn.place, body, { sync: true }, never),
	});
	const { files, home } = parts.planPlace;
	const commands = createSlashCommands({
		commands: parts.commands ?? [],
		stored,
		files,
		home,
		clock,
		readContext: parts.readContext,
		plan,
		mode,
		skills: parts.skills,
		identifiers,
		passesUnknown: parts.passesUnknownCommands,
		rewind,
		turnId: () => turn.id,
	});
	return {
		turn,
		mode,
		modes,
		title,
		model,
		emitter,
		interactions,
		clients,
		progress,
		plan,
		hooks,
		budgets,
		services,
		notifications,
		background,
		taskOperations,
		liveOutput,
		tools,
		servers,
		main,
		sideQuestions,
		rewind,
		commands,
		reload() {
			emitter.reload();
			main.forget();
			budgets.reload();
			notifications.forget();
			background.forget();
			sessionFiles.forget();
		},
		callClientTool: createClientToolCalls(interactions, emitter, () => turn.place),
		emitPlanMode,
	};
}

/** A server's tool replaces no tool of another origin. */
function createServers(
	{ loadServers, mcpServers, clock, log }: SessionParts,
	{ questions }: SessionOperations,
	tools: AssembledSession["tools"],
	clients: Clients,
): ToolServers | null {
	if (loadServers === null) return null;
	const load: SetLoader = async (settings) => {
		const builtin = await tools();
		const isTaken = (name: string) =>
			builtin.some((tool) => tool.name === name) || clients.toolClients().some(({ tools }) => tools.has(name));
		return await loadServers({ questions, isTaken }, settings);
	};
	return new ToolServers(load, mcpServers, clock, log);
}
