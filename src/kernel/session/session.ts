// One session: commands in, events out. It owns its stored files while it is loaded. assemble.ts builds its parts,
// session-turns.ts runs its turns; this file has its other commands and its lifecycle.
import { setImmediate as nextTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Command, CommandType, CommandValues } from "../../api/values/command.ts";
import { textPart } from "../../api/values/content.ts";
import type { AgentEvent, Cursor } from "../../api/values/event.ts";
import { isFinal } from "../../api/values/task-status.ts";
import { KernelError, toKernelError } from "../../base/errors.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { TaskView } from "../../core/tools/operations.ts";
import type {
	Attachment,
	AttachOptions,
	ClientToolDeclaration,
	ExternalEvent,
	McpServersChange,
	MessageHistory,
	SessionApi,
	SessionDescription,
	SessionSnapshot,
} from "../api.ts";
import { toViews } from "../background/task-view.ts";
import { type CheckedTools, checkClientTools } from "../clients/client-tools.ts";
import { breakOff } from "../turn/main-turn.ts";
import { type AssembledSession, assembleSession } from "./assemble.ts";
import type { ForkSource } from "./fork-source.ts";
import type { SessionParts } from "./session-parts.ts";
import { SessionTurns } from "./session-turns.ts";
import { WarmUp } from "./warm-up.ts";

type CommandHandlers = {
	readonly [T in CommandType]: (command: Extract<Command, { type: T }>) => CommandValues[T] | Promise<CommandValues[T]>;
};

const noTools: CheckedTools = { tools: new Map(), rejected: [] };

export class Session implements SessionApi {
	readonly id: string;
	readonly workDir: string;
	readonly #parts: SessionParts;
	readonly #assembled: AssembledSession;
	readonly #warmUp: WarmUp;
	readonly #handlers: CommandHandlers = {
		"turn.start": (command) => this.#turns.start(command),
		"turn.steer": ({ input }) => this.#turns.steer(input),
		"turn.cancel": () => this.#turns.cancel(),
		"side-question.start": this.#claimed(({ question }) => this.#startSideQuestion(question)),
		"side-question.cancel": ({ id }) => this.#assembled.sideQuestions.cancel(id),
		"plan-mode.set": this.#claimed(({ enabled }) => this.#setPlanMode(enabled)),
		"mode.set": this.#claimed(({ mode }) => this.#assembled.modes.set(mode)),
		"model.set": this.#claimed(({ model, thinking }) => this.#assembled.model.set({ model, thinking })),
		"title.set": this.#claimed(({ title }) => this.#setTitle(title)),
		"context.add": this.#claimed(({ text, name }) => this.#addToContext(text, name)),
		"notification.add": this.#claimed((event) => this.#assembled.notifications.add(event)),
		"turn-options.set": this.#claimed(({ options }) => this.#turns.setOptions(options)),
		"task.stop": this.#claimed(({ id }) => this.#stopTask(id)),
		"files.find": ({ query }) => this.#parts.findFiles(query),
		// What a killed process left of a restore is finished when its history is read.
		"files.changes": this.#claimed(({ id }) => this.#assembled.rewind.changes(id)),
		"files.diff": this.#claimed(({ id, path }) => this.#assembled.rewind.diff(id, path)),
		"files.plan": this.#claimed(({ before }) => this.#assembled.rewind.plan(before)),
		"files.restore": this.#claimed(({ before, conflicts }) => {
			this.#checkOpen();
			this.#refuseTurn();
			return this.#assembled.rewind.restore(before, conflicts);
		}),
		"session.rewind": this.#claimed((request) => {
			this.#checkOpen();
			if (!request.dryRun) this.#refuseTurn();
			return this.#assembled.rewind.rewind(request);
		}),
		"interaction.respond": ({ interactionId, clientId = null, answer }) => {
			const { interactions, clients } = this.#assembled;
			const by = { kind: "client", clientId, name: clients.nameOf(clientId) } as const;
			const settled = interactions.answer(interactionId, answer, by);
			return { settled, by: interactions.settledBy(interactionId) };
		},
	};
	readonly #turns: SessionTurns;
	readonly #startHooks = new AbortController();
	readonly #additions = createKeyedQueue();
	#begun: Promise<void> = Promise.resolve();
	#closing = false;

	constructor(parts: SessionParts) {
		const { stored, chosen, clock, log } = parts;
		this.id = stored.id;
		this.workDir = stored.workDir;
		this.#parts = parts;
		this.#assembled = assembleSession(parts);
		this.#turns = new SessionTurns(parts, this.#assembled, () => this.#checkOpen());
		const { tools, turn } = this.#assembled;
		const isNeeded = () => !this.#closing && !this.#turns.hadOne && turn.running === null;
		const prepareTools = async (): Promise<void> => {
			for (const tool of await tools()) {
				// A prompt does not wait for all of them.
				await nextTurn();
				if (!isNeeded()) return;
				await tool.parameters();
			}
		};
		this.#warmUp = new WarmUp({
			work: async () => void (await Promise.all([prepareTools(), chosen.model?.warmUp?.(), stored.warmUp?.()])),
			isNeeded,
			clock,
			log,
		});
	}

	/** Executes a command; rejects with a KernelError. */
	async send<T extends CommandType>(command: Extract<Command, { type: T }>): Promise<CommandValues[T]> {
		const handle: CommandHandlers[T] = this.#handlers[command.type as T];
		return handle(command);
	}

	/** A command that writes: this process has to be the one that writes the session. One that it writes already is not looked at. */
	#claimed<Given, Value>(handle: (given: Given) => Value | Promise<Value>): (given: Given) => Value | Promise<Value> {
		return (given) => {
			const { stored } = this.#parts;
			return stored.isClaimed ? handle(given) : stored.claim().then(() => handle(given));
		};
	}

	async #checkTools(declarations: readonly ClientToolDeclaration[]): Promise<CheckedTools> {
		const builtin = await this.#assembled.tools();
		return await checkClientTools(
			declarations,
			(name) => [...builtin, ...(this.#assembled.servers?.tools() ?? [])].some((tool) => tool.name === name),
			this.#parts.identifiers,
			this.#assembled.callClientTool,
		);
	}

	/** Attaches a client. */
	async attach(options: AttachOptions): Promise<Attachment> {
		await this.#parts.stored.refresh();
		if (options.tools.length === 0) return this.attachPlain(options);
		this.#beginSoon();
		return this.#attach(options, await this.#checkTools(options.tools));
	}

	/** What a first client makes worth while to prepare, once it has its answer. */
	#beginSoon(): void {
		this.#assembled.servers?.beginSoon();
		this.#warmUp.beginSoon();
	}

	/** Attaches a client without tools of its own, at once. */
	attachPlain(options: AttachOptions): Attachment {
		this.#beginSoon();
		return this.#attach(options, noTools);
	}

	#attach(options: AttachOptions, tools: CheckedTools): Attachment {
		const { clients, liveOutput } = this.#assembled;
		const attachment = clients.attach(options, tools, this.#snapshot());
		liveOutput.look();
		return attachment;
	}

	/** Name and version of the client that attached last, for requests that name the client. */
	clientName(): string | null {
		return this.#assembled.clients.name();
	}

	async description(): Promise<SessionDescription> {
		const { commands, hooks, modes } = this.#assembled;
		const slashCommands = commands.listed.map(({ name, description, aliases }) => ({ name, description, aliases }));
		const models = await this.#parts.models.options();
		const { sandbox } = this.#parts;
		return { slashCommands, commandHooks: hooks.commands, models, modes: modes.choosable, sandbox };
	}

	/** The running turn; null when idle. */
	get turnId(): string | null {
		return this.#assembled.turn.id;
	}

	/** Whether an approval or a question is open. */
	get isWaiting(): boolean {
		return this.#assembled.interactions.isForPerson;
	}

	/** Whether its last turn ended in an error, as far as this process knows. */
	get hasFailed(): boolean {
		return this.#turns.hasFailed;
	}

	/** The model of its next turn by the name sent to the provider, and the provider's key; empty without one. */
	get modelInUse(): { readonly model: string; readonly provider: string } {
		const { sentName, choice } = this.#assembled.model.current;
		return { model: sentName, provider: choice?.provider ?? "" };
	}

	/** What it was created with, and the model that was chosen since; null when that is not stored. */
	get creationOptions(): unknown {
		return this.#parts.stored.state().creationOptions;
	}

	/** Whether it was loaded from disk or has had a turn. */
	get hasHistory(): boolean {
		return this.#parts.stored.existed || this.#turns.hadOne;
	}

	/** Called once before anything else: restores plan mode and begins the hooks of a session start. */
	async start(): Promise<void> {
		const { keys, stored } = this.#parts;
		keys.start();
		stored.onLost((reason) => this.#breakOff(reason));
		stored.onChanged(() => {
			this.#assembled.reload();
			this.#turns.reload();
		});
		// Not awaited: the first answer does not depend on it.
		void this.#assembled.background.find();
		await this.#assembled.plan.start();
		this.#assembled.modes.begin();
		this.#begun = this.#runStartHooks();
	}

	/** Resolves once the hooks of its start have run, or the session was stopped meanwhile. */
	get begun(): Promise<void> {
		return this.#begun;
	}

	async #runStartHooks(): Promise<void> {
		const source = this.#parts.stored.existed ? "resume" : "startup";
		const hook = { event: "SessionStart", target: source, input: { source } } as const;
		try {
			await this.#assembled.hooks.run(hook, null, this.#startHooks.signal);
		} catch (thrown) {
			this.#parts.log.error("The hooks of a session's start could not be run.", { session: this.id, error: thrown });
		}
	}

	async snapshot(): Promise<SessionSnapshot> {
		await this.#parts.stored.refresh();
		return this.#snapshot();
	}

	#snapshot(): SessionSnapshot {
		const { stored } = this.#parts;
		const { emitter, plan, mode, interactions, clients, progress } = this.#assembled;
		return {
			sessionId: this.id,
			workDir: this.workDir,
			turnId: this.turnId,
			hasHistory: this.hasHistory,
			cursor: { epoch: stored.cursor().epoch, seq: emitter.delivered },
			planMode: plan.isOn,
			approvesEverything: mode.isYolo,
			isAway: mode.isAway,
			model: this.#assembled.model.current.choice,
			thinkingBudget: this.#turns.thinkingBudget,
			title: stored.state().customTitle,
			openInteractions: interactions.requests(),
			unfinished: [...emitter.unfinished(), ...progress.unfinished()],
			clients: clients.present(),
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

	/** What happened elsewhere and the model has not received yet. */
	externalEvents(): Promise<readonly ExternalEvent[]> {
		return this.#assembled.notifications.externalEvents();
	}

	/** Changes which MCP servers it uses, from its next turn on. */
	async changeMcpServers(change: McpServersChange): Promise<void> {
		const { servers } = this.#assembled;
		this.#checkOpen();
		if (servers === null) throw new KernelError("unsupported", `The session ${this.id} uses no MCP servers.`);
		servers.change(change);
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

	/** Whether a turn was started with this key. */
	hasTurn(key: string): boolean {
		return this.#turns.has(key);
	}

	/**
	 * Ends the turn that an earlier process left without an end, as failed, once the context has what it said and did. For a
	 * session that was just opened; nothing happens without such a turn, and it is ended once however often this is called.
	 */
	endInterruptedTurn(): Promise<void> {
		return this.#turns.endInterrupted();
	}

	/** Called when another process has claimed it: here it is only read until its next turn. */
	onLost(listener: (reason: KernelError) => void): void {
		this.#parts.stored.onLost(listener);
	}

	/** Resolves when no turn runs. */
	async idle(): Promise<void> {
		await this.#assembled.turn.running?.ended;
	}

	/** Whether it is archived; its files are all there. */
	get isArchived(): boolean {
		return this.#parts.stored.state().archivedAt !== null;
	}

	/** Archives it. */
	async archive(): Promise<void> {
		await this.#parts.stored.claim();
		await this.#parts.stored.commit({ state: { archivedAt: this.#parts.clock.now() / 1000 } }, { sync: true });
	}

	async unarchive(): Promise<void> {
		await this.#parts.stored.claim();
		await this.#parts.stored.commit({ state: { archivedAt: null } }, { sync: true });
	}

	/** The message history so far. Creates and repairs nothing. */
	async conversation(): Promise<MessageHistory> {
		await this.#parts.stored.refresh();
		return this.#assembled.main.conversation();
	}

	/** What a fork of it begins with. Fails `busy` while a turn runs. */
	async forkSource(): Promise<ForkSource> {
		const { stored } = this.#parts;
		const { main, plan } = this.#assembled;
		const refuseTurn = () => {
			if (this.turnId === null) return;
			throw new KernelError(
				"busy",
				`A turn runs in the session ${this.id}: wait for its end, or cancel it, before the session is forked.`,
			);
		};
		refuseTurn();
		await stored.refresh();
		const { unfinishedCalls, unretained, isInStep, startedInputs, openTurn } = stored.summary;
		// What a crash left has to be repaired first, once.
		const isWhole = unfinishedCalls.length === 0 && unretained.length === 0 && !isInStep && startedInputs.length === 0;
		if (!isWhole || openTurn !== null) {
			await stored.claim();
			await main.load();
		}
		const copied = await plan.copy();
		refuseTurn();
		return { stored, rows: [...main.rows()], end: stored.cursor().seq, plan: copied };
	}

	/** The stored events after a cursor, or from the first. */
	events(after?: Cursor): AsyncIterable<readonly AgentEvent[]> {
		const { stored } = this.#parts;
		const { epoch } = stored.cursor();
		if (after !== undefined && after.epoch !== epoch) {
			throw new KernelError(
				"invalid-input",
				`The history of the session was rewritten: ask for all of it (now ${epoch}).`,
			);
		}
		return stored.events(after?.seq);
	}

	/**
	 * Ends the running turn as failed after an uncaught exception in the session's work, because what waits for that
	 * work would wait for ever. The session continues.
	 */
	fail(thrown: unknown): void {
		this.#breakOff(toKernelError(thrown));
	}

	/** Ends the running turn as failed, with this error. */
	#breakOff({ code, message, data }: KernelError): void {
		const { running } = this.#assembled.turn;
		if (running !== null) breakOff(running, { code, message, data });
	}

	/** Ends the running turn as cancelled, settles every interaction and ends the clients' events. Idempotent. */
	async stop(): Promise<void> {
		const { turn, background, interactions, sideQuestions, servers, clients } = this.#assembled;
		this.#closing = true;
		this.#startHooks.abort();
		// Runs concurrently with the other ends; `close` waits for it.
		void background.end();
		interactions.settleAll();
		turn.running?.controller.abort();
		await Promise.all([turn.running?.ended, background.endAgents(), this.#begun]);
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

	#checkOpen(): void {
		if (this.#closing) throw new KernelError("closed", "The session is closing.");
	}

	async #setTitle(title: string): Promise<{ readonly title: string }> {
		this.#checkOpen();
		return await this.#assembled.title.set(title);
	}

	/** One after the other: what comes twice at once under one name is added once. */
	#addToContext(text: string, name: string | null): Promise<{ readonly added: boolean }> {
		return this.#additions.run("", async () => {
			this.#checkOpen();
			this.#refuseTurn();
			const { context } = await this.#assembled.main.load();
			this.#refuseTurn();
			const content = [textPart(text)];
			const known =
				name === null ? undefined : context.messages.find((each) => each.role === "system" && each.name === name);
			if (known !== undefined) {
				if (isDeepStrictEqual(known.content, content)) return { added: false };
				throw new KernelError("invalid-input", `Another text was added under the name ${name}.`);
			}
			const message = { role: "system", content, ...(name === null ? {} : { name }) } as const;
			await context.append([{ type: "message", message }]);
			await this.#parts.stored.commit({}, { sync: true });
			return { added: true };
		});
	}

	#refuseTurn(): void {
		if (this.turnId !== null) throw new KernelError("busy", "An agent turn is in progress: wait for its end.");
	}

	async #stopTask(id: string): Promise<{ readonly stopped: boolean }> {
		const { taskOperations } = this.#assembled;
		const task = await taskOperations.find(id);
		if (task === null) throw new KernelError("invalid-input", `There is no background task ${JSON.stringify(id)}.`);
		if (isFinal(task.status)) return { stopped: false };
		await taskOperations.stop(id, "Stopped by a person.");
		return { stopped: true };
	}

	#startSideQuestion(question: string): { readonly id: string } {
		this.#checkOpen();
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
}
