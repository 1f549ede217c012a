// One session: commands in, events out, one turn at a time. It owns its stored files while it is loaded. assemble.ts
// builds its parts; this file has its commands and its lifecycle.

import { setMaxListeners } from "node:events";
import { KernelError, toKernelError } from "../../base/errors.ts";
import type { Command, CommandType, CommandValues } from "../../events/command.ts";
import type { UserInput } from "../../events/content.ts";
import type { AgentEvent, EventBody } from "../../events/event.ts";
import type { CommandHook } from "../../hooks/hook.ts";
import type { TaskView } from "../../tools/operations.ts";
import type {
	Attachment,
	AttachOptions,
	CheckedTools,
	ClientToolDeclaration,
	MessageHistory,
	SessionApi,
	SessionSnapshot,
} from "../api.ts";
import { toViews } from "../background/task-view.ts";
import { checkClientTools } from "../clients/client-tools.ts";
import type { SlashCommandInfo } from "../commands/command.ts";
import { breakOff, type RunningTurn, runMainTurn } from "../turn/main-turn.ts";
import { createSteerQueue } from "../turn/steers.ts";
import { type AssembledSession, assembleSession } from "./assemble.ts";
import type { SessionParts } from "./session-parts.ts";
import { WarmUp } from "./warm-up.ts";

type CommandHandlers = {
	readonly [T in CommandType]: (command: Extract<Command, { type: T }>) => CommandValues[T] | Promise<CommandValues[T]>;
};

const never = new AbortController().signal;

export class Session implements SessionApi {
	readonly id: string;
	readonly workDir: string;
	readonly #parts: SessionParts;
	readonly #assembled: AssembledSession;
	readonly #warmUp: WarmUp;
	readonly #handlers: CommandHandlers = {
		"turn.start": ({ input, isOwn = false }) => this.#startTurn(input, isOwn),
		"turn.steer": ({ input }) => this.#steer(input),
		"turn.cancel": () => this.#cancel(),
		"side-question.start": ({ question }) => this.#startSideQuestion(question),
		"plan-mode.set": ({ enabled }) => this.#setPlanMode(enabled),
		"interaction.respond": ({ interactionId, answer }) => ({
			settled: this.#assembled.interactions.answer(interactionId, answer, "client"),
		}),
	};
	#hadTurn = false;
	#closing = false;

	constructor(parts: SessionParts) {
		const { stored, model, clock, log } = parts;
		this.id = stored.id;
		this.workDir = stored.workDir;
		this.#parts = parts;
		this.#assembled = assembleSession(parts);
		const { tools, turn } = this.#assembled;
		this.#warmUp = new WarmUp({
			work: async () => void (await Promise.all([tools(), model?.warmUp?.()])),
			isNeeded: () => !this.#closing && !this.#hadTurn && turn.running === null,
			clock,
			log,
		});
	}

	/** Executes a command; rejects with a KernelError. */
	async send<T extends CommandType>(command: Extract<Command, { type: T }>): Promise<CommandValues[T]> {
		const handle: CommandHandlers[T] = this.#handlers[command.type as T];
		return handle(command);
	}

	/** Creates tools from a client's declarations, to attach with. */
	async checkTools(declarations: readonly ClientToolDeclaration[]): Promise<CheckedTools> {
		const builtin = declarations.length === 0 ? [] : await this.#assembled.tools();
		return await checkClientTools(
			declarations,
			(name) => [...builtin, ...(this.#assembled.servers?.tools() ?? [])].some((tool) => tool.name === name),
			this.#parts.identifiers,
			this.#assembled.callClientTool,
		);
	}

	/** Attaches a client and first delivers the open interactions to it. */
	attach(options: AttachOptions): Attachment {
		this.#assembled.servers?.beginSoon();
		this.#warmUp.beginSoon();
		return this.#assembled.clients.attach(
			options,
			this.#assembled.interactions
				.interactions()
				.map((interaction) => this.#stamped({ type: "interaction.requested", interaction })),
		);
	}

	/** Name and version of the client that attached last, for requests that name the client. */
	clientName(): string | null {
		return this.#assembled.clients.name();
	}

	/** The slash commands, for clients to list. */
	get slashCommands(): readonly SlashCommandInfo[] {
		return this.#assembled.commands.all.map(({ name, description, aliases }) => ({ name, description, aliases }));
	}

	/** The hooks of the settings, which run whatever clients subscribe to. */
	get commandHooks(): readonly CommandHook[] {
		return this.#assembled.hooks.commands;
	}

	/** Called once before anything else: restores plan mode and runs the hooks of a session start. */
	async start(): Promise<void> {
		this.#parts.keys.start();
		// Not awaited: the first answer does not depend on it.
		void this.#assembled.background.find();
		await this.#assembled.plan.start();
		const source = this.#parts.stored.existed ? "resume" : "startup";
		await this.#assembled.hooks.run({ event: "SessionStart", target: source, input: { source } }, null, never);
	}

	snapshot(): SessionSnapshot {
		const { existed } = this.#parts.stored;
		return {
			sessionId: this.id,
			workDir: this.workDir,
			turnId: this.#assembled.turn.id,
			hasHistory: existed || this.#hadTurn,
		};
	}

	/** The background tasks that run, or whose end was not delivered yet, oldest first. */
	async backgroundTasks(): Promise<readonly TaskView[]> {
		return await toViews((await this.#assembled.background.active()).map(({ stored }) => stored));
	}

	/** Whether notifications of background tasks wait for the model. */
	hasBackgroundNews(): Promise<boolean> {
		return this.#assembled.notifications.hasNotices();
	}

	/** Ends all background tasks, even those that may outlive the session. */
	endBackgroundTasks(): Promise<void> {
		return this.#assembled.background.endEverything();
	}

	/** Resolves when the next background task ends, or the signal aborts. */
	backgroundTaskEnded(signal: AbortSignal): Promise<void> {
		return this.#assembled.background.nextEnd(signal);
	}

	/** Persists the session although nothing has happened in it yet, so that a later process finds it. */
	establish(): Promise<void> {
		return this.#parts.stored.establish();
	}

	/** Whether it is archived; its files are all there. */
	get isArchived(): boolean {
		return this.#parts.stored.state().archivedAt !== null;
	}

	/** Archives it. */
	async archive(): Promise<void> {
		await this.#parts.stored.updateState({ archivedAt: this.#parts.clock.now() / 1000 });
	}

	/** The message history so far. Creates and repairs nothing. */
	conversation(): MessageHistory {
		return this.#assembled.main.conversation();
	}

	/** The stored events of the session from the first. */
	records(): AsyncIterable<AgentEvent> {
		return this.#parts.stored.events();
	}

	/**
	 * Ends the running turn as failed after an uncaught exception in the session's work, because what waits for that
	 * work would wait for ever. The session continues.
	 */
	fail(thrown: unknown): void {
		const { code, message, data } = toKernelError(thrown);
		const { running } = this.#assembled.turn;
		if (running !== null) breakOff(running, { code, message, data });
	}

	/** Ends the running turn as cancelled, settles every interaction and ends the clients' events. Idempotent. */
	async stop(): Promise<void> {
		const { turn, background, interactions, sideQuestions, servers, clients } = this.#assembled;
		this.#closing = true;
		// Runs concurrently with the other ends; `close` waits for it.
		void background.end();
		interactions.settleAll();
		turn.running?.controller.abort();
		await Promise.all([turn.running?.ended, background.endAgents()]);
		await sideQuestions.stop();
		servers?.end();
		clients.end();
	}

	/** Stops and releases the stored files. `signal` limits the hooks of the session's end. */
	async close(signal: AbortSignal): Promise<void> {
		await this.stop();
		const hook = { event: "SessionEnd", target: "exit", input: { reason: "exit" } } as const;
		const { hooks, background } = this.#assembled;
		await Promise.all([hooks.run(hook, null, signal), background.end(), this.#parts.keys.close(signal)]);
		await this.#parts.stored.close({ becomesLast: !this.#parts.isOneOfMany });
	}

	#startTurn(input: UserInput, isOwn: boolean): { readonly turnId: string } {
		if (this.#closing) throw closing();
		const { turn: current, servers, background, notifications, ...others } = this.#assembled;
		if (current.running !== null) throw new KernelError("busy", "An agent turn is already in progress");
		const turn: RunningTurn = {
			id: this.#parts.identifiers.hex(32),
			controller: new AbortController(),
			steers: createSteerQueue(),
			broken: null,
			ended: Promise.resolve(),
		};
		// Every call of an answer, and every event that waits for a slow client, listens to it.
		setMaxListeners(0, turn.controller.signal);
		servers?.turnStarts();
		current.running = turn;
		turn.ended = runMainTurn(
			turn,
			{ input, isOwn },
			{
				...others,
				servers,
				loopIterations: this.#parts.loopIterations,
				keys: this.#parts.keys,
				notifications: {
					openTurn: async (deliver) => {
						await background.find();
						await notifications.openTurn(deliver);
					},
					closeTurn: () => notifications.closeTurn(),
				},
				log: this.#parts.log,
				seal: (error) => this.#assembled.emitter.fail(turn.id, error),
				begun: () => {
					this.#hadTurn = true;
				},
				// A client that receives the end may start the next turn at once.
				release: () => {
					current.running = null;
				},
			},
		);
		return { turnId: turn.id };
	}

	#steer(input: UserInput): null {
		if (this.#assembled.turn.running?.steers.add(input) !== true) throw noTurn();
		return null;
	}

	#cancel(): null {
		const { running } = this.#assembled.turn;
		if (running === null) throw noTurn();
		// Input added now would be acknowledged and lost.
		running.steers.close();
		running.controller.abort();
		return null;
	}

	#startSideQuestion(question: string): { readonly id: string } {
		if (this.#closing) throw closing();
		return this.#assembled.sideQuestions.start(question);
	}

	async #setPlanMode(enabled: boolean): Promise<{ readonly planMode: boolean }> {
		this.#assembled.plan.check(enabled);
		let delivered: Promise<void> | undefined;
		// A session without a context starts afresh when it is opened again, and would forget the change.
		const { main, plan, emitPlanMode } = this.#assembled;
		await main.load();
		await plan.set(enabled, true, () => {
			delivered = emitPlanMode(enabled);
		});
		await delivered;
		return { planMode: enabled };
	}

	#stamped(body: EventBody): AgentEvent {
		return { sessionId: this.id, ...this.#assembled.turn.place, at: this.#parts.clock.now(), body };
	}
}

function closing(): KernelError {
	return new KernelError("closed", "The session is closing.");
}

function noTurn(): KernelError {
	return new KernelError("no-turn", "No agent turn is in progress");
}
