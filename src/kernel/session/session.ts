// Commands in, events out. assemble.ts builds the parts, session-turns.ts runs the turns.

import { setImmediate as nextTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { CommandOf, CommandType, CommandValues } from "../../api/commands.ts";
import type { Attachment, SessionApi } from "../../api/kernel.ts";
import type { McpServersChange } from "../../api/mcp-servers.ts";
import type { AttachOptions, ClientToolDeclaration, ForkFiles } from "../../api/session-options.ts";
import type { MessageHistory, SessionDescription, SessionSnapshot } from "../../api/session-state.ts";
import { textPart } from "../../api/values/content.ts";
import type { AgentEvent, Cursor } from "../../api/values/event.ts";
import { isFinal } from "../../api/values/task-status.ts";
import { KernelError, toKernelError } from "../../base/errors.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type { FileCheckout } from "../../ports/workspace/file-history.ts";
import { toViews } from "../background/task-view.ts";
import { type CheckedTools, checkClientTools } from "../clients/client-tools.ts";
import { breakOff } from "../turn/main-turn.ts";
import { AssembledSession } from "./assemble.ts";
import type { ForkSource } from "./fork-source.ts";
import type { SessionParts } from "./session-parts.ts";
import { SessionTurns } from "./session-turns.ts";
import { WarmUp } from "./warm-up.ts";

type CommandHandlers = {
	readonly [T in CommandType]: (command: CommandOf<T>) => CommandValues[T] | Promise<CommandValues[T]>;
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
		"plan-mode.set": this.#claimed(({ enabled }) =>
			this.#assembled.decisions.modes.setPlan(enabled, this.#assembled.agent.main),
		),
		"mode.set": this.#claimed(({ mode }) => this.#assembled.decisions.modes.set(mode, this.#assembled.agent.main)),
		"model.set": this.#claimed(({ model, thinking }) =>
			this.#assembled.events.model.set({ model, thinking }, () => this.#assembled.agent.main.load()),
		),
		"title.set": this.#claimed(({ title }) => this.#setTitle(title)),
		"context.add": this.#claimed(({ text, name }) => this.#addToContext(text, name)),
		"notification.add": this.#claimed((event) => this.#assembled.work.notifications.add(event)),
		"turn-options.set": this.#claimed(({ options }) => this.#turns.setOptions(options)),
		"notification.list": () => this.#assembled.work.notifications.externalEvents(),
		"tasks.list": async () => ({
			tasks: await toViews((await this.#assembled.work.background.active()).map(({ stored }) => stored)),
			// In this order: a task that ends in between has published its notification.
			hasNews: await this.#assembled.work.notifications.hasNotices(),
		}),
		"task.stop": this.#claimed(({ id }) => this.#stopTask(id)),
		"tasks.end": () => nothing(this.#assembled.work.background.endEverything()),
		"tasks.wait": async ({ ids, seconds }) => ({
			ended: await this.#assembled.work.background.wait(ids, seconds * 1000, this.#stopping.signal),
		}),
		"files.find": ({ query }) => this.#parts.findFiles(query),
		// Reading the history finishes a restore that a killed process left incomplete.
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
		"session.describe": () => this.#describe(),
		"session.establish": () => nothing(this.#parts.stored.establish()),
		"mcp-servers.change": ({ change }) => this.#changeMcpServers(change),
		"interaction.respond": ({ interactionId, clientId = null, answer }) => {
			const { interactions, clients } = this.#assembled.events;
			const by = { kind: "client", clientId, name: clients.nameOf(clientId) } as const;
			const settled = interactions.answer(interactionId, answer, by);
			return { settled, by: interactions.settledBy(interactionId) };
		},
	};
	readonly #turns: SessionTurns;
	readonly #stopping = new AbortController();
	readonly #additions = createKeyedQueue();
	#begun: Promise<void> = Promise.resolve();
	#closing = false;

	constructor(parts: SessionParts) {
		const { stored, chosen, clock, log } = parts;
		this.id = stored.id;
		this.workDir = stored.workDir;
		this.#parts = parts;
		this.#assembled = new AssembledSession(parts);
		const { events, agent } = this.#assembled;
		this.#turns = new SessionTurns(parts, this.#assembled, () => this.#checkOpen());
		const isNeeded = () => !this.#closing && !this.#turns.hadOne && events.turn.running === null;
		const prepareTools = async (): Promise<void> => {
			for (const tool of await agent.tools()) {
				// A prompt need not wait for all of them.
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

	async send<T extends CommandType>(command: CommandOf<T>): Promise<CommandValues[T]> {
		const handle: CommandHandlers[T] = this.#handlers[command.type as T];
		return handle(command);
	}

	/** A command that writes: this process must first claim the session, unless it already has. */
	#claimed<Given, Value>(handle: (given: Given) => Value | Promise<Value>): (given: Given) => Value | Promise<Value> {
		return (given) => {
			const { stored } = this.#parts;
			return stored.isClaimed ? handle(given) : stored.claim().then(() => handle(given));
		};
	}

	async #checkTools(declarations: readonly ClientToolDeclaration[]): Promise<CheckedTools> {
		const builtin = await this.#assembled.agent.tools();
		return await checkClientTools(
			declarations,
			(name) => [...builtin, ...(this.#assembled.agent.servers?.tools() ?? [])].some((tool) => tool.name === name),
			this.#parts.identifiers,
			this.#assembled.events.callClientTool,
		);
	}

	async attach(options: AttachOptions): Promise<Attachment> {
		await this.#parts.stored.refresh();
		if (options.tools.length === 0) return this.attachPlain(options);
		this.#beginSoon();
		return this.#attach(options, await this.#checkTools(options.tools));
	}

	/** Prepares work for the first client, after it has been answered. */
	#beginSoon(): void {
		this.#assembled.agent.servers?.beginSoon();
		this.#warmUp.beginSoon();
	}

	attachPlain(options: AttachOptions): Attachment {
		this.#beginSoon();
		return this.#attach(options, noTools);
	}

	#attach(options: AttachOptions, tools: CheckedTools): Attachment {
		const attachment = this.#assembled.events.clients.attach(options, tools, this.#snapshot());
		this.#assembled.work.liveOutput.look();
		return attachment;
	}

	clientName(): string | null {
		return this.#assembled.events.clients.name();
	}

	async #describe(): Promise<SessionDescription> {
		const { hooks, modes } = this.#assembled.decisions;
		const slashCommands = this.#assembled.commands.listed.map(({ name, description, aliases }) => ({
			name,
			description,
			aliases,
		}));
		const models = await this.#parts.models.options();
		const { sandbox } = this.#parts;
		return { slashCommands, commandHooks: hooks.commands, models, modes: modes.choosable, sandbox };
	}

	get turnId(): string | null {
		return this.#assembled.events.turn.id;
	}

	get isWaiting(): boolean {
		return this.#assembled.events.interactions.isForPerson;
	}

	/** Whether the last turn in this process ended in an error. */
	get hasFailed(): boolean {
		return this.#turns.hasFailed;
	}

	/** Model of the next turn as named to the provider, and the provider key. Empty without a model. */
	get modelInUse(): { readonly model: string; readonly provider: string } {
		const { sentName, choice } = this.#assembled.events.model.current;
		return { model: sentName, provider: choice?.provider ?? "" };
	}

	get creationOptions(): unknown {
		return this.#parts.stored.state().creationOptions;
	}

	/** Whether this process is the one that writes it. */
	get isClaimed(): boolean {
		return this.#parts.stored.isClaimed;
	}

	get hasHistory(): boolean {
		return this.#parts.stored.existed || this.#turns.hadOne;
	}

	/** Call this first, once: restores plan mode and begins the session start hooks. */
	async start(): Promise<void> {
		const { keys, stored } = this.#parts;
		keys.start();
		stored.onLost((reason) => this.#breakOff(reason));
		stored.onChanged(() => {
			this.#assembled.reload();
			this.#turns.reload();
		});
		// Not awaited: the first answer does not depend on it.
		void this.#assembled.work.background.find();
		await this.#assembled.decisions.plan.start();
		this.#assembled.decisions.modes.begin();
		this.#begun = this.#runStartHooks();
	}

	/** Resolves once the start hooks have run or the session was stopped. */
	get begun(): Promise<void> {
		return this.#begun;
	}

	async #runStartHooks(): Promise<void> {
		const source = this.#parts.stored.existed ? "resume" : "startup";
		const hook = { event: "SessionStart", target: source, input: { source } } as const;
		try {
			await this.#assembled.decisions.hooks.run(hook, null, this.#stopping.signal);
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
		const { emitter, interactions, clients, progress } = this.#assembled.events;
		const { plan, mode } = this.#assembled.decisions;
		return {
			sessionId: this.id,
			workDir: this.workDir,
			turnId: this.turnId,
			hasHistory: this.hasHistory,
			cursor: { epoch: stored.cursor().epoch, seq: emitter.delivered },
			planMode: plan.isOn,
			approvesEverything: mode.isYolo,
			isAway: mode.isAway,
			model: this.#assembled.events.model.current.choice,
			thinkingBudget: this.#turns.thinkingBudget,
			title: stored.state().customTitle,
			openInteractions: interactions.requests(),
			unfinished: [...emitter.unfinished(), ...progress.unfinished()],
			clients: clients.present(),
		};
	}

	#changeMcpServers(change: McpServersChange): null {
		const { servers } = this.#assembled.agent;
		this.#checkOpen();
		if (servers === null) throw new KernelError("unsupported", `The session ${this.id} uses no MCP servers.`);
		servers.change(change);
		return null;
	}

	hasTurn(key: string): boolean {
		return this.#turns.has(key);
	}

	/** Ends an earlier process's unfinished turn as failed, for a session just opened. Idempotent. */
	endInterruptedTurn(): Promise<void> {
		return this.#turns.endInterrupted();
	}

	/** Called when another process has claimed it: here it is read-only until its next turn. */
	onLost(listener: (reason: KernelError) => void): void {
		this.#parts.stored.onLost(listener);
	}

	async idle(): Promise<void> {
		await this.#assembled.events.turn.running?.ended;
	}

	get isArchived(): boolean {
		return this.#parts.stored.state().archivedAt !== null;
	}

	async archive(): Promise<void> {
		await this.#parts.stored.claim();
		await this.#parts.stored.commit({ state: { archivedAt: this.#parts.clock.now() / 1000 } }, { sync: true });
	}

	async unarchive(): Promise<void> {
		await this.#parts.stored.claim();
		await this.#parts.stored.commit({ state: { archivedAt: null } }, { sync: true });
	}

	async conversation(): Promise<MessageHistory> {
		await this.#parts.stored.refresh();
		return this.#assembled.agent.main.conversation();
	}

	/** The content for a fork, up to before a turn. Fails with `busy` while a turn runs. */
	async forkSource(before?: string): Promise<ForkSource> {
		const { stored } = this.#parts;
		const { main } = this.#assembled.agent;
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
		// Leftovers of a crash have to be repaired first, once.
		const isWhole = unfinishedCalls.length === 0 && unretained.length === 0 && !isInStep && startedInputs.length === 0;
		if (!isWhole || openTurn !== null) {
			await stored.claim();
			await main.load();
		}
		const copied = await this.#assembled.decisions.plan.copy();
		refuseTurn();
		const rows = [...main.rows()];
		const messages = before === undefined ? null : await this.#assembled.rewind.messagesBefore(before, rows);
		return { stored, rows, messages, end: stored.cursor().seq, plan: copied };
	}

	async copyFiles(before: string | null, files: ForkFiles): Promise<FileCheckout> {
		// Reading the history finishes a restore that a killed process left incomplete.
		await this.#parts.stored.claim();
		return await this.#assembled.rewind.copyFiles(before, files);
	}

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

	/** Ends the turn after an uncaught exception: waiting code would wait forever. The session continues. */
	fail(thrown: unknown): void {
		this.#breakOff(toKernelError(thrown));
	}

	#breakOff({ code, message, data }: KernelError): void {
		const { running } = this.#assembled.events.turn;
		if (running !== null) breakOff(running, { code, message, data });
	}

	async stop(): Promise<void> {
		const { turn, interactions, clients } = this.#assembled.events;
		const { background } = this.#assembled.work;
		const { sideQuestions, title } = this.#assembled;
		this.#closing = true;
		this.#stopping.abort();
		// Runs concurrently with the other shutdown steps; `close` waits for it.
		void background.end();
		interactions.settleAll();
		turn.running?.controller.abort();
		await Promise.all([turn.running?.ended, background.endAgents(), this.#begun]);
		await Promise.all([sideQuestions.stop(), title.stop()]);
		this.#assembled.agent.servers?.end();
		clients.end();
	}

	/** Stops and releases the stored files. `signal` limits the session end hooks. */
	async close(signal: AbortSignal): Promise<void> {
		await this.stop();
		const hook = { event: "SessionEnd", target: "exit", input: { reason: "exit" } } as const;
		const ended = [this.#assembled.decisions.hooks.run(hook, null, signal), this.#assembled.work.background.end()];
		await Promise.all([...ended, this.#parts.keys.close(signal)]);
		await this.#parts.stored.close({ becomesLast: !this.#parts.isOneOfMany });
	}

	#checkOpen(): void {
		if (this.#closing) throw new KernelError("closed", "The session is closing.");
	}

	async #setTitle(title: string): Promise<{ readonly title: string }> {
		this.#checkOpen();
		return await this.#assembled.title.set(title);
	}

	#addToContext(text: string, name: string | null): Promise<{ readonly added: boolean }> {
		return this.#additions.run("", async () => {
			this.#checkOpen();
			this.#refuseTurn();
			const { context } = await this.#assembled.agent.main.load();
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
		const { taskOperations } = this.#assembled.work;
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
}

async function nothing(work: Promise<void>): Promise<null> {
	await work;
	return null;
}
