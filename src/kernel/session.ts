// One session: commands in, events out, one turn at a time. Owns its stored files while it lives. It is long because its
// constructor is the one place where the parts of a session are joined; what each of them does is in a file of its own.
import { setMaxListeners } from "node:events";
import { KernelError } from "../base/errors.ts";
import type { ClientToolAsk } from "../events/ask.ts";
import type { Command, CommandType, CommandValues } from "../events/command.ts";
import type { ToolReturn, UserInput } from "../events/content.ts";
import { type AgentEvent, type EventBody, statusChanged } from "../events/event.ts";
import type { CommandHook } from "../hooks/hook.ts";
import type { TaskView } from "../tools/operations.ts";
import type { Tool } from "../tools/tool.ts";
import { startAgentTask } from "./agent-task.ts";
import { ApprovalMode } from "./approval-mode.ts";
import { Approvals } from "./approvals.ts";
import { AskTable } from "./asks.ts";
import { BackgroundTasks } from "./background-tasks.ts";
import { Budgets } from "./budgets.ts";
import { type CheckedTools, type ClientToolDeclaration, checkClientTools } from "./client-tools.ts";
import { type Attachment, type AttachOptions, Clients } from "./clients.ts";
import type { SlashCommandInfo } from "./commands/command.ts";
import { createSlashCommands, type SlashCommands } from "./commands/slash-commands.ts";
import { Emitter } from "./emitter.ts";
import { HookRunner } from "./hook-runner.ts";
import { createMailbox, mailboxOf } from "./mailbox.ts";
import { type Conversation, MainAgent } from "./main-agent.ts";
import { type RunningTurn, runMainTurn } from "./main-turn.ts";
import { Notifications } from "./notifications.ts";
import { createSessionOperations, type SessionOperations, toMediaOperations } from "./operations.ts";
import { PlanMode } from "./plan-mode.ts";
import { createAwayReminders, joinReminders, noReminders } from "./reminders.ts";
import type { SessionParts } from "./session-parts.ts";
import { SideQuestions } from "./side-questions.ts";
import { createSteerQueue } from "./steers.ts";
import { createSubagents } from "./subagents.ts";
import { activeViews, createTaskOperations, toCompactionNotes, toViews } from "./task-view.ts";
import { createToolBox } from "./tool-box.ts";
import { ToolServers } from "./tool-servers.ts";
import type { AgentServices } from "./turn-dependencies.ts";

export interface SessionSnapshot {
	readonly sessionId: string;
	readonly workDir: string;
	/** The running turn; null when idle. */
	readonly turnId: string | null;
	/** Whether it was there before or has had a turn. */
	readonly hasHistory: boolean;
}

type CommandHandlers = {
	readonly [T in CommandType]: (command: Extract<Command, { type: T }>) => CommandValues[T] | Promise<CommandValues[T]>;
};

const never = new AbortController().signal;

export class Session {
	readonly id: string;
	readonly workDir: string;
	readonly #parts: SessionParts;
	readonly #emitter: Emitter;
	readonly #asks: AskTable;
	readonly #plan: PlanMode;
	readonly #hooks: HookRunner;
	/** The built-in tools, made when first wanted. */
	readonly #tools: () => Promise<readonly Tool[]>;
	readonly #budgets: Budgets;
	readonly #servers: ToolServers | null;
	readonly #services: AgentServices;
	readonly #sideQuestions: SideQuestions;
	readonly #background: BackgroundTasks;
	readonly #notifications: Notifications;
	readonly #clients: Clients;
	readonly #main: MainAgent;
	readonly #commands: SlashCommands;
	readonly #handlers: CommandHandlers;
	#turn: RunningTurn | null = null;
	#hadTurn = false;
	#isWarmedUp = false;
	#closing = false;

	constructor(parts: SessionParts) {
		const { stored, identifiers, clock, log } = parts;
		const mode = new ApprovalMode(parts);
		this.id = stored.id;
		this.workDir = stored.workDir;
		this.#parts = parts;
		this.#emitter = new Emitter(stored, clock);
		this.#asks = new AskTable(parts.deadlines, clock);
		this.#clients = new Clients(this.#emitter, () => this.#asks.clientGone());
		this.#plan = new PlanMode({ ...parts.planPlace, stored, identifiers });
		this.#commands = createSlashCommands({
			stored,
			files: parts.planPlace.files,
			home: parts.planPlace.home,
			clock,
			readContext: parts.readContext,
			plan: this.#plan,
			mode,
			skills: parts.skills,
		});
		this.#hooks = new HookRunner(
			{
				...parts.hookPlace,
				commands: parts.hooks,
				sessionId: this.id,
				workDir: this.workDir,
				asks: this.#asks,
				identifiers,
				clock,
				log,
			},
			() => this.#clients.hooks(),
		);
		this.#budgets = new Budgets({
			limits: parts.budgets,
			stored,
			clock,
			log,
			warn: (state) => void this.#tell({ type: "budget.warning", ...state })?.catch(() => {}),
		});
		this.#services = {
			stored,
			emitter: this.#emitter,
			approvals: new Approvals({
				stored,
				identifiers,
				mode,
				asks: this.#asks,
				canAsk: () => this.#clients.canApprove,
				whenUnattended: parts.whenUnattended,
			}),
			sourceKind: "foreground_turn",
			limits: parts.limits,
			budget: this.#budgets.inTurn,
			compaction: parts.compaction,
			clock,
			random: parts.random,
			planMode: () => this.#plan.isOn,
			kept: (work) => this.#kept(work),
		};
		const { subagents, model, unsetModelAlias, systemPrompt } = parts;
		const mailbox = createMailbox(() => this.#main.checkpointCount);
		const agents = createSubagents({
			...subagents,
			createTools: (toolPaths, mail, own) =>
				subagents.createTools(toolPaths, { ...operations, mail, media: toMediaOperations(own), tasks: null }),
			model,
			unsetModelAlias,
			systemPrompt,
			stored,
			services: this.#services,
			hooks: this.#hooks,
			identifiers,
			clock,
			turnId: () => this.#turn?.id ?? null,
		});
		this.#notifications = new Notifications({
			stored: stored.notifications,
			clock,
			identifiers,
			log,
			claimStaleAfter: parts.background.claimStaleAfter,
			describeSource: (notification) => this.#background.describeSource(notification),
		});
		this.#background = new BackgroundTasks({
			...parts.background,
			stored,
			runAgent: (work) => startAgentTask(work, { stored, services: this.#services, clock, log }),
			subagents: agents,
			notifications: this.#notifications,
			clock,
			identifiers,
			log,
		});
		const operations: SessionOperations = createSessionOperations({
			agents: { ...agents, start: (request, toolCallId) => this.#background.startAgent(request, toolCallId) },
			tasks: createTaskOperations(this.#background, stored.tasks),
			asks: this.#asks,
			plan: this.#plan,
			mail: mailbox,
			model,
			identifiers,
			mode,
			can: (capability) => this.#clients.can(capability),
			emit: (body) => this.#tell(body) ?? Promise.resolve(),
		});
		let tools: Promise<readonly Tool[]> | null = null;
		this.#tools = () => {
			tools ??= parts.createTools(operations).catch((thrown: unknown) => {
				// They may be made the next time.
				tools = null;
				throw thrown;
			});
			return tools;
		};
		this.#servers = this.#createServers(operations);
		this.#main = new MainAgent({
			stored,
			model,
			unsetModelAlias,
			equip: async () => {
				const builtin = await this.#tools();
				const clients = () => this.#clients.attached();
				return {
					tools: createToolBox(builtin, clients, () => this.#servers?.tools() ?? []),
					mailbox: mailboxOf(builtin, mailbox),
				};
			},
			systemPrompt: () => systemPrompt(null),
			reminders: joinReminders([this.#plan, parts.remindsOfAbsence ? createAwayReminders(mode) : noReminders]),
			notices: (messages) => this.#notifications.notices(messages),
			compactionNotes: async () => toCompactionNotes(await activeViews(this.#background)),
			kept: (work) => this.#kept(work),
		});
		this.#sideQuestions = new SideQuestions({
			identifiers,
			cacheKey: this.id,
			agent: () => this.#main.load(),
			budget: this.#budgets.inTurn.besideTurns(),
			emit: async (body, signal) => this.#emitter.emit({ turnId: null, agentPath: [] }, body, {}, signal),
			tellUnkept: (body) => this.#emitter.tellUnkept({ turnId: null, agentPath: [] }, body),
		});
		this.#handlers = {
			"turn.start": ({ input, isOwn = false }) => this.#startTurn(input, isOwn),
			"turn.steer": ({ input }) => this.#steer(input),
			"turn.cancel": () => this.#cancel(),
			"side-question.start": ({ question }) => this.#startSideQuestion(question),
			"plan-mode.set": ({ enabled }) => this.#setPlanMode(enabled),
			"ask.answer": ({ askId, answer }) => ({ settled: this.#asks.answer(askId, answer, "client") }),
		};
	}

	/** Carries out a command; rejects with a KernelError. */
	async send<T extends CommandType>(command: Extract<Command, { type: T }>): Promise<CommandValues[T]> {
		const handle: CommandHandlers[T] = this.#handlers[command.type as T];
		return handle(command);
	}

	/** Makes tools of a client's declarations, to attach with. */
	async checkTools(declarations: readonly ClientToolDeclaration[]): Promise<CheckedTools> {
		const builtin = declarations.length === 0 ? [] : await this.#tools();
		return await checkClientTools(
			declarations,
			(name) => [...builtin, ...(this.#servers?.tools() ?? [])].some((tool) => tool.name === name),
			this.#parts.identifiers,
			(ask, signal) => this.#askClientTool(ask, signal),
		);
	}

	/** A client arrives; it is told first what is still asked. */
	attach(options: AttachOptions): Attachment {
		this.#servers?.beginSoon();
		this.#warmUp();
		return this.#clients.attach(
			options,
			this.#asks.asks().map((ask) => this.#stamped({ type: "ask.requested", ask })),
		);
	}

	/** Name and version of the client that attached last, for requests that name it. */
	clientName(): string | null {
		return this.#clients.name();
	}

	/** The commands that prompts may be, for clients to list. */
	get slashCommands(): readonly SlashCommandInfo[] {
		return this.#commands.all.map(({ name, description, aliases }) => ({ name, description, aliases }));
	}

	/** The hooks of the settings, which run whatever clients subscribe to. */
	get commandHooks(): readonly CommandHook[] {
		return this.#hooks.commands;
	}

	/** Called once before anything else: takes up plan mode when it is to be on, and runs the hooks of a start. */
	async start(): Promise<void> {
		this.#parts.keys.start();
		// Not waited for: the first answer does not depend on it.
		void this.#background.find();
		await this.#plan.start();
		const source = this.#parts.stored.existed ? "resume" : "startup";
		await this.#hooks.run({ event: "SessionStart", target: source, input: { source } }, null, never);
	}

	snapshot(): SessionSnapshot {
		const { existed } = this.#parts.stored;
		return {
			sessionId: this.id,
			workDir: this.workDir,
			turnId: this.#turn?.id ?? null,
			hasHistory: existed || this.#hadTurn,
		};
	}

	/** The background tasks that are not over, or whose end was not told yet, oldest first. */
	async backgroundTasks(): Promise<readonly TaskView[]> {
		return await toViews((await this.#background.active()).map(({ stored }) => stored));
	}

	/** Whether there is news of background work that the model was not given yet. */
	hasBackgroundNews(): Promise<boolean> {
		return this.#notifications.hasNotices();
	}

	/** Ends all background tasks, also those that might outlive the session. */
	endBackgroundTasks(): Promise<void> {
		return this.#background.endEverything();
	}

	/** Resolves when the next background task ends, or the signal aborts. */
	backgroundTaskEnded(signal: AbortSignal): Promise<void> {
		return this.#background.nextEnd(signal);
	}

	/** Makes it one that a later process finds, although nothing has happened in it yet. */
	establish(): Promise<void> {
		return this.#parts.stored.establish();
	}

	/** Whether it was put out of sight; its files are all there. */
	get isArchived(): boolean {
		return this.#parts.stored.state().archivedAt !== null;
	}

	/** Puts it out of sight. */
	async archive(): Promise<void> {
		await this.#parts.stored.updateState({ archivedAt: this.#parts.clock.now() / 1000 });
	}

	/** The conversation with the model so far. Nothing is made or mended for it. */
	conversation(): Conversation {
		return this.#main.conversation();
	}

	/** The session's log from its beginning. */
	records(): AsyncIterable<AgentEvent> {
		return this.#parts.stored.events();
	}

	/** Ends the running turn as cancelled, settles every ask and ends the clients' events. Idempotent. */
	async stop(): Promise<void> {
		this.#closing = true;
		// Its time runs beside what else has to end; `close` waits for it.
		void this.#background.end();
		this.#asks.settleAll();
		this.#turn?.controller.abort();
		await Promise.all([this.#turn?.ended, this.#background.endAgents()]);
		await this.#sideQuestions.stop();
		this.#servers?.end();
		this.#clients.end();
	}

	/** Stops and gives up the stored files. `signal` bounds the hooks of an end. */
	async close(signal: AbortSignal): Promise<void> {
		await this.stop();
		const hook = { event: "SessionEnd", target: "exit", input: { reason: "exit" } } as const;
		const { keys } = this.#parts;
		await Promise.all([this.#hooks.run(hook, null, signal), this.#background.end(), keys.close(signal)]);
		await this.#parts.stored.close({ becomesLast: !this.#parts.isOneOfMany });
	}

	/** Nobody's tool is replaced by one of a server. */
	#createServers({ questions }: SessionOperations): ToolServers | null {
		const { loadServers, clock, log } = this.#parts;
		if (loadServers === null) return null;
		const load = async () => {
			const builtin = await this.#tools();
			const isTaken = (name: string) =>
				builtin.some((tool) => tool.name === name) || this.#clients.attached().some(({ tools }) => tools.has(name));
			return await loadServers({ questions, isTaken });
		};
		return new ToolServers(load, clock, log);
	}

	/** Behind whatever the client is answered now; a prompt that comes with its arrival finds its own way. */
	#warmUp(): void {
		const { model, clock, log } = this.#parts;
		if (this.#isWarmedUp) return;
		this.#isWarmedUp = true;
		const warmUp = async () => {
			await Promise.all([this.#tools(), model?.warmUp?.()]);
		};
		clock.after(0, () => {
			if (this.#closing || this.#hadTurn || this.#turn !== null) return;
			warmUp().catch((thrown: unknown) => log.debug("The first turn could not be warmed up.", { error: thrown }));
		});
	}

	#startTurn(input: UserInput, isOwn: boolean): { readonly turnId: string } {
		if (this.#closing) throw closing();
		if (this.#turn !== null) throw new KernelError("busy", "An agent turn is already in progress");
		const turn: RunningTurn = {
			id: this.#parts.identifiers.hex(32),
			controller: new AbortController(),
			steers: createSteerQueue(),
			expired: null,
			ended: Promise.resolve(),
		};
		// Every call of an answer, and every event that waits for a slow client, listens to it.
		setMaxListeners(0, turn.controller.signal);
		this.#servers?.turnStarts();
		this.#turn = turn;
		turn.ended = runMainTurn(
			turn,
			{ input, isOwn },
			{
				services: this.#services,
				hooks: this.#hooks,
				main: this.#main,
				servers: this.#servers,
				commands: this.#commands,
				loopIterations: this.#parts.loopIterations,
				keys: this.#parts.keys,
				notifications: {
					openTurn: async (tell) => {
						await this.#background.find();
						await this.#notifications.openTurn(tell);
					},
					closeTurn: () => this.#notifications.closeTurn(),
				},
				budgets: this.#budgets,
				log: this.#parts.log,
				begun: () => {
					this.#hadTurn = true;
				},
				// Whoever hears of the end may start the next turn at once.
				release: () => {
					this.#turn = null;
				},
			},
		);
		return { turnId: turn.id };
	}

	#steer(input: UserInput): null {
		if (this.#turn?.steers.add(input) !== true) throw noTurn();
		return null;
	}

	#cancel(): null {
		if (this.#turn === null) throw noTurn();
		// What is added now would be acknowledged and lost.
		this.#turn.steers.close();
		this.#turn.controller.abort();
		return null;
	}

	#startSideQuestion(question: string): { readonly id: string } {
		if (this.#closing) throw closing();
		return this.#sideQuestions.start(question);
	}

	async #setPlanMode(enabled: boolean): Promise<{ readonly planMode: boolean }> {
		let told: Promise<void> | undefined;
		// A session without a context starts afresh when it is opened again, and would forget what is told here.
		await this.#main.load();
		await this.#plan.set(enabled, true, () => {
			told = this.#emitter.emit(this.#where(), statusChanged({ plan_mode: enabled }), { sync: true }, never);
		});
		await told;
		return { planMode: enabled };
	}

	/** Behind a failure to keep something nothing more of the turn is told, whatever else of it still runs. */
	async #kept<T>(work: Promise<T>): Promise<T> {
		try {
			return await work;
		} catch (thrown) {
			if (this.#turn !== null) this.#emitter.fail(this.#turn.id, thrown);
			throw thrown;
		}
	}

	/** Tells what the session's own agent has part in, within the turn if one runs. */
	#tell(body: EventBody): Promise<void> | undefined {
		return this.#emitter.emit(this.#where(), body, {}, this.#turn?.controller.signal ?? never);
	}

	async #askClientTool(ask: ClientToolAsk, signal: AbortSignal): Promise<ToolReturn> {
		const settlement = this.#asks.wait(ask, "client-tool", signal);
		// The client may have gone between the call and this.
		if (!this.#clients.any) this.#asks.clientGone();
		const where = this.#where();
		await this.#emitter.emit(where, { type: "ask.requested", ask }, {}, signal);
		const { answer } = await settlement;
		await this.#emitter.emit(where, { type: "ask.resolved", askId: ask.id, answer }, {}, signal);
		return answer.result;
	}

	#where() {
		return { turnId: this.#turn?.id ?? null, agentPath: [] };
	}

	#stamped(body: EventBody): AgentEvent {
		return { sessionId: this.id, ...this.#where(), at: this.#parts.clock.now(), body };
	}
}

function closing(): KernelError {
	return new KernelError("closed", "The session is closing.");
}

function noTurn(): KernelError {
	return new KernelError("no-turn", "No agent turn is in progress");
}
