// A client's only session: prompts one after the other, events as messages.
import path from "node:path";
import type { Attachment, SessionHandle } from "../../api/kernel.ts";
import type { ModelOption } from "../../api/models.ts";
import type { SessionDescription } from "../../api/session-state.ts";
import { inputText } from "../../api/values/content.ts";
import type { AgentEvent, TurnOutcome } from "../../api/values/event.ts";
import type { TurnOptions } from "../../api/values/turn-options.ts";
import { unlessAborted, workIsOver } from "../../base/abort.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { KernelError, toKernelError } from "../../base/errors.ts";
import type { HostApi } from "../shared/dialect.ts";
import { ClientTools } from "./client-tools.ts";
import type { Frames } from "./frames.ts";
import { ClientHooks } from "./hooks.ts";
import { Interactions } from "./interactions.ts";
import { afterModeChange, toSessionMode } from "./modes.ts";
import { openSession } from "./opening.ts";
import type { ClaudeOptions } from "./options.ts";
import { Permissions } from "./permissions.ts";
import { Projection } from "./projection.ts";
import { toUserInput } from "./prompts.ts";
import { countsDollars, type Result, TurnCount, toEnding, toResult } from "./results.ts";
import { KeyedTurns } from "./rewind.ts";
import { clientToolNames, toOwnName } from "./tool-names.ts";
import { claudeVersionText } from "./version.ts";
import type { Initialize, PermissionMode, UserFrame } from "./wire.ts";

/** Requests after an answer without the required form. */
const formRetries = 3;

interface RunningTurn {
	readonly count: TurnCount;
	readonly outcome: Deferred<TurnOutcome>;
	isOverBudget: boolean;
}

interface Opened {
	readonly handle: SessionHandle;
	readonly attachment: Attachment;
	readonly description: SessionDescription;
	readonly projection: Projection;
	readonly turns: KeyedTurns;
}

export class Conversation {
	readonly #host: HostApi;
	readonly #frames: Frames;
	readonly #options: ClaudeOptions;
	readonly #output: (result: Result) => void;
	readonly #clientTools: ClientTools;
	readonly #permissions: Permissions;
	readonly #gone = new AbortController();
	#hooks: ClientHooks;
	#systemPrompt: string | null;
	#instructions: readonly string[];
	#answerSchema: ClaudeOptions["answerSchema"];
	#servers: readonly string[];
	#opening: Promise<Opened> | null = null;
	#opened: Opened | null = null;
	#interactions: Interactions | null = null;
	#running: RunningTurn | null = null;
	/** Interrupts each prompt that has no result, the current one first. */
	readonly #prompts: AbortController[] = [];
	#last: Promise<void> = Promise.resolve();
	#delivering: Promise<void> = Promise.resolve();
	#thinkingBudget: number | null;
	#dollars = 0;
	#model: ModelOption | null = null;
	#isClosing = false;
	#contexts: readonly string[] = [];

	constructor(host: HostApi, frames: Frames, options: ClaudeOptions, output: (result: Result) => void) {
		this.#host = host;
		this.#frames = frames;
		this.#options = options;
		this.#output = output;
		this.#clientTools = new ClientTools(frames);
		this.#hooks = new ClientHooks(frames, null);
		this.#systemPrompt = options.systemPrompt;
		this.#instructions = options.instructions;
		this.#answerSchema = options.answerSchema;
		this.#servers = options.clientServers;
		this.#thinkingBudget = options.thinkingBudget;
		this.#permissions = new Permissions(options.permissionMode, options.allowedTools, {
			frames,
			asksClient: options.asksClient,
			isInside: (file) => [options.workDir, ...options.additionalDirs].some((root) => isBelow(root, file)),
			setMode: (mode) => this.setMode(mode),
			interrupt: () => this.interrupt(),
			denied: ({ name, id, input }) =>
				this.#running?.count.denials.push({ tool_name: name, tool_use_id: id, tool_input: input }),
		});
	}

	get hooks(): ClientHooks {
		return this.#hooks;
	}

	/** Fails once the session is open. */
	declare({ hooks, sdkMcpServers, systemPrompt, appendSystemPrompt, jsonSchema, agents }: Initialize): void {
		if (this.#opening !== null) throw new KernelError("invalid-input", "initialize comes before the first prompt.");
		if (Object.keys(agents ?? {}).length > 0)
			throw new KernelError(
				"invalid-input",
				"agentwire does not support agents that a client defines (option 'agents').",
			);
		this.#hooks = new ClientHooks(this.#frames, hooks);
		this.#servers = [...this.#servers, ...sdkMcpServers];
		const prompt = Array.isArray(systemPrompt) ? systemPrompt.join("\n\n") : (systemPrompt ?? "");
		if (prompt !== "") this.#systemPrompt = prompt;
		if (appendSystemPrompt) this.#instructions = [...this.#instructions, appendSystemPrompt];
		if (jsonSchema) this.#answerSchema = jsonSchema;
	}

	open(): Promise<Opened> {
		this.#opening ??= this.#open();
		return this.#opening;
	}

	prompt(frame: UserFrame): void {
		const interruption = new AbortController();
		this.#prompts.push(interruption);
		this.#last = this.#last.then(() => this.#turn(frame, interruption.signal)).then(() => void this.#prompts.shift());
	}

	refusePrompt(reason: string): void {
		this.#last = this.#last.then(() => this.#fail(new TurnCount(this.#host.clock.now()), reason));
	}

	/** Ends the current prompt, also one whose turn has not begun. */
	async interrupt(): Promise<void> {
		const [current] = this.#prompts;
		if (current === undefined) return;
		current.abort(workIsOver);
		await this.#cancelTurn();
	}

	async #cancelTurn(): Promise<void> {
		await this.#opened?.handle.session.send({ type: "turn.cancel" }).catch((thrown: unknown) => {
			if (toKernelError(thrown).code !== "no-turn") throw thrown;
		});
	}

	async setMode(mode: PermissionMode): Promise<void> {
		const { handle } = await this.open();
		await handle.session.send({ type: "mode.set", mode: toSessionMode(mode) });
		this.#permissions.mode = mode;
	}

	/** Null for the configured model. */
	async setModel(model: string | null): Promise<void> {
		const { handle } = await this.open();
		const chosen = model ?? (await this.#host.sessions.models()).chosen;
		await handle.session.send({ type: "model.set", model: chosen, thinking: null });
		await this.#noteModel();
	}

	setThinkingBudget(tokens: number | null): void {
		this.#thinkingBudget = tokens;
	}

	async servers(): Promise<readonly { readonly name: string; readonly status: string }[]> {
		await this.open();
		return [...this.#clientTools.servers, ...(this.#interactions?.servers ?? [])];
	}

	async idle(): Promise<void> {
		let seen: Promise<void>;
		do {
			seen = this.#last;
			await seen;
		} while (seen !== this.#last);
	}

	async close(reason: string): Promise<void> {
		this.#isClosing = true;
		// In a process with other clients the turn would continue.
		await this.interrupt();
		if (this.#opened !== null) {
			const { session } = this.#opened.handle;
			await this.#hooks.run("SessionEnd", reason, { ...this.#hookBase(session.id), reason }, null, this.#gone.signal);
		}
		this.#gone.abort();
		this.#opened?.attachment.close();
		this.#opened?.handle.release();
		await this.#delivering;
	}

	async #open(): Promise<Opened> {
		await this.#clientTools.connect(this.#servers, this.#gone.signal);
		const { handle, source } = await openSession(this.#host.sessions, this.#options);
		const { session } = handle;
		const description = await session.send({ type: "session.describe" });
		const attachment = await session.attach({
			client: { name: "claude-sdk", version: null },
			tools: this.#clientTools.declarations,
			capabilities: this.#options.asksClient ? ["questions", "plan-mode"] : [],
			hooks: this.#hooks.subscriptions(),
		});
		const projection = new Projection({
			sessionId: session.id,
			uuid: () => this.#host.identifiers.uuid(),
			model: () => this.#modelName(),
			wantsPartial: this.#options.wantsPartial,
		});
		this.#interactions = new Interactions({
			session,
			clientId: attachment.id,
			hooks: () => this.#hooks,
			permissions: this.#permissions,
			tools: this.#clientTools,
			hookBase: () => this.#hookBase(session.id),
			log: this.#host.log,
		});
		const opened = { handle, attachment, description, projection, turns: new KeyedTurns(session) };
		this.#opened = opened;
		await this.#noteModel();
		if (this.#options.maxBudgetDollars !== null && !countsDollars(this.#model?.price ?? null)) {
			throw new KernelError(
				"invalid-input",
				`--max-budget-usd cannot be honored: the settings have no price in USD for the model ${this.#modelName()}.`,
			);
		}
		const base = { ...this.#hookBase(session.id), source };
		const { contexts } = await this.#hooks.run("SessionStart", source, base, null, this.#gone.signal);
		this.#contexts = contexts;
		this.#delivering = this.#deliver(opened);
		return opened;
	}

	async #deliver({ attachment, projection, turns }: Opened): Promise<void> {
		try {
			for await (const batch of attachment.events) {
				for (const event of batch) {
					turns.take(event);
					for (const message of projection.take(event)) this.#frames.send(message);
					this.#note(event);
				}
				await this.#frames.ready();
			}
		} catch (thrown) {
			this.#host.log.error("The events of a session cannot be sent.", { error: thrown });
		}
		const message = "The session has ended; the end of the turn is not known.";
		this.#running?.outcome.resolve({ status: "failed", error: { code: "closed", message, data: null } });
	}

	#note(event: AgentEvent): void {
		const { body, agentPath } = event;
		const running = this.#running;
		this.#interactions?.take(event);
		if (body.type === "mode.changed") {
			this.#permissions.mode = afterModeChange(this.#permissions.mode, body.mode);
			return;
		}
		if (running === null) return;
		if (body.type === "status.changed" && body.token_usage !== null) {
			running.count.count(body.token_usage, this.#model?.price ?? null);
			this.#checkBudget(running);
		}
		if (agentPath.length > 0) return;
		if (body.type === "step.started") {
			running.count.steps += 1;
			running.count.text = "";
		}
		if (body.type === "content.completed" && body.part.type === "text") running.count.text += body.part.text;
		if (body.type === "turn.ended" && body.outcome !== null) running.outcome.resolve(body.outcome);
	}

	#checkBudget(running: RunningTurn): void {
		const { maxBudgetDollars } = this.#options;
		if (maxBudgetDollars === null || running.isOverBudget || this.#dollars + running.count.cost < maxBudgetDollars)
			return;
		running.isOverBudget = true;
		this.interrupt().catch((thrown: unknown) => this.#host.log.error("A turn over budget goes on.", { error: thrown }));
	}

	async #turn(frame: UserFrame, interrupted: AbortSignal): Promise<void> {
		if (this.#isClosing) return;
		const count = new TurnCount(this.#host.clock.now());
		const running: RunningTurn = { count, outcome: createDeferred<TurnOutcome>(), isOverBudget: false };
		try {
			const opened = await unlessAborted(this.open(), interrupted);
			if (opened === null) return this.#finish(count, { status: "cancelled" }, false);
			const { handle, description, turns } = opened;
			const { session } = handle;
			const uuid = frame.uuid ?? this.#host.identifiers.uuid();
			if (frame.uuid && (await turns.find(uuid)) !== null)
				throw new KernelError("invalid-input", `An earlier prompt of this session has the uuid ${uuid}.`);
			this.#running = running;
			this.#sendInit(session.id, description);
			const input = toUserInput(frame.message.content);
			if (this.#options.repeatsPrompts)
				this.#frames.send({ ...frame, uuid, parent_tool_use_id: null, session_id: session.id, isReplay: true });
			const prompt = inputText(input);
			const base = { ...this.#hookBase(session.id), prompt };
			const left = AbortSignal.any([interrupted, this.#gone.signal]);
			const submitted = await this.#hooks.run("UserPromptSubmit", prompt, base, null, left);
			if (interrupted.aborted) return this.#finish(count, { status: "cancelled" }, false);
			if (submitted.blocked !== null) {
				count.text = submitted.blocked;
				this.#finish(count, { status: "finished" }, false);
				return;
			}
			const context = [...this.#contexts, ...submitted.contexts];
			this.#contexts = [];
			await handle.startTurn(input, { ...this.#turnOptions(context), key: uuid });
			if (interrupted.aborted) await this.#cancelTurn();
			const outcome = await running.outcome.promise;
			this.#finish(count, outcome, running.isOverBudget);
		} catch (thrown) {
			this.#fail(count, toKernelError(thrown).message);
		} finally {
			this.#running = null;
		}
	}

	#turnOptions(context: readonly string[]): TurnOptions {
		const { tools, blockedTools } = this.#options;
		const allowed = tools === null ? null : [...tools, ...this.#clientTools.declarations.map(({ name }) => name)];
		return {
			...(context.length === 0 ? {} : { context: [...context] }),
			...(this.#systemPrompt === null ? {} : { systemPrompt: this.#systemPrompt }),
			...(this.#instructions.length === 0 ? {} : { instructions: [...this.#instructions] }),
			...(allowed === null && blockedTools.length === 0 ? {} : { tools: { allowed, blocked: [...blockedTools] } }),
			...(this.#answerSchema === null ? {} : { answerForm: { schema: this.#answerSchema, retries: formRetries } }),
			...(this.#thinkingBudget === null ? {} : { sampling: { thinkingBudget: this.#thinkingBudget } }),
		};
	}

	#finish(count: TurnCount, outcome: TurnOutcome, isOverBudget: boolean): void {
		this.#send(count, toEnding(outcome, isOverBudget));
	}

	#fail(count: TurnCount, message: string): void {
		this.#send(count, { subtype: "error_during_execution", stopReason: null, errors: [message] });
	}

	#send(count: TurnCount, ending: ReturnType<typeof toEnding>): void {
		this.#dollars += count.cost;
		const result = toResult(count, ending, {
			sessionId: this.#opened?.handle.session.id ?? "",
			uuid: this.#host.identifiers.uuid(),
			now: this.#host.clock.now(),
			model: this.#model === null ? null : { name: this.#model.name, contextWindow: this.#model.maxContextSize },
		});
		this.#frames.send(result);
		this.#output(result);
	}

	#sendInit(sessionId: string, { slashCommands }: SessionDescription): void {
		const { tools, blockedTools, workDir } = this.#options;
		const isOffered = (name: string) =>
			!blockedTools.includes(toOwnName(name)) && (tools === null || tools.includes(toOwnName(name)));
		this.#frames.send({
			type: "system",
			subtype: "init",
			cwd: workDir,
			session_id: sessionId,
			tools: [...clientToolNames.filter(isOffered), ...this.#clientTools.declarations.map(({ name }) => name)],
			mcp_servers: [...this.#clientTools.servers, ...(this.#interactions?.servers ?? [])],
			model: this.#modelName(),
			permissionMode: this.#permissions.mode,
			slash_commands: slashCommands.map(({ name }) => name),
			apiKeySource: "none",
			claude_code_version: claudeVersionText,
			agentwire_version: this.#host.server.version,
			output_style: "default",
			agents: [],
			skills: [],
			plugins: [],
			uuid: this.#host.identifiers.uuid(),
		});
	}

	#hookBase(sessionId: string) {
		const { workDir } = this.#options;
		return { session_id: sessionId, transcript_path: "", cwd: workDir, permission_mode: this.#permissions.mode };
	}

	async #noteModel(): Promise<void> {
		if (this.#opened === null) return;
		const { handle, description } = this.#opened;
		const { model } = await handle.session.snapshot();
		this.#model = description.models.find(({ alias }) => alias === model?.alias) ?? null;
	}

	#modelName(): string {
		return this.#model?.name ?? this.#options.model ?? "";
	}
}

function isBelow(root: string, file: string): boolean {
	const relative = path.relative(root, file);
	return relative !== "" && !relative.startsWith("..") && !path.isAbsolute(relative);
}
