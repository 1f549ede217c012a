import { type Component, Container, Editor, matchesKey, Spacer, type Terminal, Text, TUI } from "@mariozechner/pi-tui";
import { type Ask, type Kernel, PeerGone, type Session, type Turn } from "../../client/client.ts";
import { originOf, toBody } from "../../client/events.ts";
import type { PublicEvent } from "../../client/protocol-types.ts";
import { type AskOutcome, approvalPanel, isStop, questionPanel } from "./ask-panel.ts";
import { Code } from "./code.ts";
import { Completion } from "./completion.ts";
import { duration, oneLine } from "./describe.ts";
import { Choice, Panel } from "./panel.ts";
import { chooseRewind, type PastTurn } from "./rewind.ts";
import { Status } from "./status.ts";
import type { Theme } from "./theme.ts";
import { Transcript } from "./transcript.ts";

export interface ChatOptions {
	readonly kernel: Kernel;
	readonly terminal: Terminal;
	readonly theme: Theme;
	readonly workDir: string;
	/** A stored session to continue; null for a new one. */
	readonly sessionId: string | null;
	readonly version: string;
	readonly now: () => number;
}

/** Milliseconds between two frames of the activity line, and within which a second Ctrl+C leaves. */
const frameTime = 120;
const leaveTime = 1500;
const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

const ownCommands = [
	{ name: "help", description: "Show keys and commands" },
	{ name: "new", description: "Start a new session" },
	{ name: "resume", description: "Continue another session of this directory" },
	{ name: "model", description: "Choose the model" },
	{ name: "mode", description: "Choose the mode: default, plan, auto or yolo" },
	{ name: "queue", description: "Send a message or command after the current turn" },
	{ name: "rewind", description: "Go back to before a message: conversation, files or both" },
	{ name: "quit", description: "Leave" },
] as const;

const help = `Enter sends; while the agent works, it adds to the running turn. Alt+Enter inserts a line break.
Esc or Ctrl+C stops the agent, Ctrl+C twice or Ctrl+D quits. Tab completes paths, @ finds files, / lists commands.`;

const modes = [
	{ value: "default", label: "default", description: "Asks before it acts" },
	{ value: "plan", label: "plan", description: "Explores and writes a plan; changes nothing" },
	{ value: "auto", label: "auto", description: "Works while you are away, without questions" },
	{ value: "yolo", label: "yolo", description: "Approves everything" },
] as const;

export class Chat {
	readonly #options: ChatOptions;
	readonly #tui: TUI;
	readonly #transcript: Transcript;
	readonly #code: Code;
	readonly #todos = new Text("", 1, 0);
	readonly #activity = new Text("", 1, 0);
	readonly #footer = new Text("", 1, 0);
	readonly #editor: Editor;
	readonly #bottom = new Container();
	readonly #asks: Ask[] = [];
	#shown: Ask | null = null;
	#session: Session | null = null;
	#turn: Turn | null = null;
	#startedAt = 0;
	#timer: NodeJS.Timeout | null = null;
	#status = new Status();
	/** The turns of the conversation, without those that were rewound. */
	#turns: PastTurn[] = [];
	/** The outcome of the last rewind, shown below the conversation until the next message. */
	#outcome: string | null = null;
	readonly #queue: string[] = [];
	#model = "";
	#mode = "default";
	#lastStop = Number.NEGATIVE_INFINITY;
	#leave: () => void = () => {};

	constructor(options: ChatOptions) {
		const { terminal, theme, version, workDir } = options;
		this.#options = options;
		this.#tui = new TUI(terminal);
		this.#code = new Code(theme, () => {
			this.#transcript.invalidate();
			this.#tui.requestRender();
		});
		this.#transcript = new Transcript(theme, this.#code);
		this.#editor = new Editor(this.#tui, theme.editor, { paddingX: 1 });
		this.#editor.onSubmit = (text) => void this.#submit(text);
		this.#tui.addChild(new Text(`${theme.bold("agentwire")} ${theme.dim(`${version} · ${workDir} · /help`)}`, 1, 0));
		for (const view of [new Spacer(1), this.#transcript, this.#todos, this.#activity, this.#bottom, this.#footer])
			this.#tui.addChild(view);
		this.#tui.addInputListener((data) => this.#takeKey(data));
	}

	/** Runs until the person leaves or the server is gone. Returns the session to continue; null when nothing was said. */
	async run(): Promise<string | null> {
		const left = new Promise<void>((resolve) => {
			this.#leave = resolve;
		});
		this.#compose();
		this.#tui.start();
		try {
			await this.#open(this.#options.sessionId);
			await left;
		} finally {
			if (this.#timer !== null) clearInterval(this.#timer);
			this.#tui.stop();
		}
		const hasHistory = (await this.#session?.snapshot().catch(() => null))?.hasHistory === true;
		await this.#session?.close();
		return hasHistory ? (this.#session?.id ?? null) : null;
	}

	async #open(id: string | null): Promise<void> {
		const { kernel, workDir } = this.#options;
		await this.#session?.close();
		this.#asks.length = 0;
		const session = await kernel.open({
			...(id === null ? { workDir } : { id }),
			approve: (ask) => this.#ask(ask),
			question: (ask) => this.#ask(ask),
			onEvent: (event) => {
				this.#notice(event);
				if (event.type === "session.rewound") void this.#showHistory().catch((thrown: unknown) => this.#report(thrown));
				this.#showFooter();
			},
		});
		this.#session = session;
		const { model, planMode, approvesEverything, isAway } = await session.snapshot();
		await this.#nameModel(model?.alias ?? null, model?.name ?? "no model");
		this.#mode = approvesEverything ? "yolo" : planMode ? "plan" : isAway ? "auto" : "default";
		const { slashCommands } = await kernel.call("session.description", { sessionId: session.id });
		const listed = slashCommands.map(({ name, description }) => ({ name, description }));
		const others = listed.filter(({ name }) => !ownCommands.some((own) => own.name === name));
		this.#editor.setAutocompleteProvider(
			new Completion({
				commands: [...ownCommands, ...others],
				workDir: session.workDir,
				findFiles: async (query) => (await kernel.call("files.find", { sessionId: session.id, query })).paths,
			}),
		);
		await this.#showHistory();
		if (model === null) {
			this.#transcript.note(
				"No model is configured. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or run: agentwire setup",
				"warn",
			);
		}
		this.#showFooter();
	}

	#notice(event: PublicEvent): void {
		if (event.type === "mode.changed") this.#mode = event.mode;
		if (event.type === "model.changed") void this.#nameModel(event.model.alias, event.model.name);
		if (event.type === "interaction.resolved") this.#forget(event.interactionId);
		if (event.type === "turn.started" && event.agentPath.length === 0 && event.turnId !== null)
			this.#turns.push({ id: event.turnId, prompt: inputText(event.input) });
		if (event.type === "session.rewound") this.#turns = before(this.#turns, ({ id }) => id === event.before);
	}

	async #nameModel(alias: string | null, name: string): Promise<void> {
		this.#model = name;
		const { options } = await this.#options.kernel.models();
		this.#status.price = options.find((option) => option.alias === alias)?.price ?? null;
	}

	/** Shows the stored conversation, without what was rewound. */
	async #showHistory(): Promise<void> {
		const session = this.#session;
		if (session === null) return;
		let events: PublicEvent[] = [];
		for await (const event of session.history()) {
			if (event.type === "session.rewound")
				events = before(events, (each) => each.type === "turn.started" && each.turnId === event.before);
			else events.push(event);
		}
		const { price } = this.#status;
		this.#status = Object.assign(new Status(), { price });
		this.#transcript.clear();
		this.#turns = [];
		for (const event of events) {
			if (event.type === "turn.started" && event.agentPath.length === 0) {
				this.#turns.push({ id: event.turnId ?? "", prompt: inputText(event.input) });
				this.#transcript.person(inputText(event.input));
			}
			const { part } = event.type === "content.completed" ? event : { part: null };
			const body = part?.type === "text" ? ({ type: "text", text: `${part.text}\n` } as const) : toBody(event);
			if (body === null) continue;
			this.#transcript.take({ ...originOf(event), ...body });
			this.#status.take({ ...originOf(event), ...body });
		}
		if (this.#outcome !== null) this.#transcript.note(this.#outcome);
		this.#showFooter();
	}

	async #submit(text: string): Promise<void> {
		const typed = text.trim();
		if (typed === "") return;
		this.#outcome = null;
		this.#editor.addToHistory(typed);
		this.#editor.setText("");
		await this.#send(typed);
	}

	/** A command, a message for the running turn, or the prompt of a new one. */
	async #send(typed: string): Promise<void> {
		try {
			if (typed.startsWith("/") && (await this.#runCommand(typed))) return;
			if (this.#turn !== null) {
				await this.#turn.steer(typed);
				this.#transcript.person(typed);
			} else if (this.#session !== null) void this.#follow(this.#session.prompt(typed), typed);
		} catch (thrown) {
			this.#report(thrown);
		}
		this.#tui.requestRender();
	}

	async #follow(turn: Turn, typed: string): Promise<void> {
		this.#turn = turn;
		this.#startedAt = this.#options.now();
		this.#transcript.person(typed);
		this.#timer = setInterval(() => this.#showActivity(), frameTime);
		try {
			for await (const event of turn) {
				this.#transcript.take(event);
				this.#status.take(event);
				this.#showFooter();
				if (event.type === "ended" && event.result.error !== null)
					this.#transcript.note(event.result.error.message, "bad");
				if (event.type === "ended" && event.result.outcome === "cancelled") this.#transcript.note("Stopped.");
				this.#tui.requestRender();
			}
		} catch (thrown) {
			this.#report(thrown);
			if (thrown instanceof PeerGone) this.#leave();
		}
		this.#turn = null;
		if (this.#timer !== null) clearInterval(this.#timer);
		this.#timer = null;
		this.#activity.setText("");
		this.#showFooter();
		const next = this.#queue.shift();
		if (next !== undefined) void this.#send(next);
	}

	async #runCommand(typed: string): Promise<boolean> {
		const [name = "", ...rest] = typed.slice(1).split(/\s+/);
		const argument = rest.join(" ");
		const session = this.#session;
		switch (name) {
			case "help":
				this.#transcript.note(`${help}\n${ownCommands.map((each) => `/${each.name}  ${each.description}`).join("\n")}`);
				break;
			case "quit":
			case "exit":
				this.#leave();
				break;
			case "new":
				if (this.#isBusy()) break;
				await this.#open(null);
				this.#transcript.note("A new session.");
				break;
			case "resume":
				await this.#resume();
				break;
			case "model":
				await this.#chooseModel(argument);
				break;
			case "queue":
				if (argument === "") this.#transcript.note("Usage: /queue TEXT");
				else if (this.#turn === null) await this.#send(argument);
				else {
					this.#queue.push(argument);
					this.#transcript.note(`Queued: ${argument}`);
				}
				break;
			case "rewind":
				await this.#rewind();
				break;
			case "mode":
				if (argument === "") {
					const choose = async (mode: string) => void (await this.#runCommand(`/mode ${mode}`));
					this.#choose("Which mode?", modes, choose, this.#mode);
				} else if (argument === "default" || argument === "plan" || argument === "auto" || argument === "yolo") {
					await session?.setMode(argument);
				} else this.#transcript.note("Usage: /mode default|plan|auto|yolo");
				break;
			default:
				return false;
		}
		this.#showFooter();
		return true;
	}

	/** Whether a turn runs here; says so. */
	#isBusy(): boolean {
		if (this.#turn !== null) this.#transcript.note("Stop the agent first: Esc.");
		return this.#turn !== null;
	}

	async #rewind(): Promise<void> {
		const session = this.#session;
		if (session === null) return;
		if (this.#isBusy()) return;
		if (this.#turns.length === 0) return this.#transcript.note("There is nothing to go back to yet.");
		await chooseRewind({
			kernel: this.#options.kernel,
			session,
			turns: this.#turns,
			theme: this.#options.theme,
			code: this.#code,
			place: (view) => this.#place(view ?? this.#editor),
			write: (lines) => {
				this.#transcript.lines(lines);
				this.#tui.requestRender();
			},
			done: (note, prompt) => {
				// The conversation is redrawn by its event, before or after this.
				this.#outcome = note;
				this.#transcript.note(note);
				if (prompt !== null) this.#editor.setText(prompt);
				this.#tui.requestRender();
			},
			report: (thrown) => this.#report(thrown),
		});
	}

	async #resume(): Promise<void> {
		if (this.#isBusy()) return;
		const items: { value: string; label: string; description: string }[] = [];
		const { kernel, workDir } = this.#options;
		for await (const { id, title, updatedAt, archivedAt } of kernel.sessions({ workDir })) {
			if (id !== this.#session?.id && archivedAt === null)
				items.push({ value: id, label: oneLine(title) || id, description: new Date(updatedAt).toLocaleString() });
			if (items.length >= 50) break;
		}
		if (items.length === 0) return this.#transcript.note("There is no other session in this directory.");
		this.#choose("Continue which session?", items, (id) => this.#open(id));
	}

	async #chooseModel(alias: string): Promise<void> {
		const choose = async (model: string) => {
			await this.#session?.setModel(model);
		};
		if (alias !== "") return await choose(alias);
		const { options } = await this.#options.kernel.models();
		if (options.length === 0) return this.#transcript.note("No model is configured.", "warn");
		const chosen = (await this.#session?.snapshot())?.model?.alias ?? null;
		const items = options.map(({ alias, name, provider }) => {
			const words = [...(name === alias ? [] : [name]), provider, ...(alias === chosen ? ["chosen now"] : [])];
			return { value: alias, label: alias, description: words.join(" · ") };
		});
		this.#choose("Which model?", items, choose, chosen);
	}

	#choose(
		question: string,
		items: readonly { value: string; label: string; description: string }[],
		take: (value: string) => Promise<void>,
		chosen: string | null = null,
	): void {
		const { theme } = this.#options;
		const choose = (value: string) => {
			this.#compose();
			take(value).catch((thrown: unknown) => this.#report(thrown));
		};
		const selected = items.findIndex(({ value }) => value === chosen);
		const panel = new Panel();
		panel.show(
			[theme.bold(question), theme.dim("Esc goes back.")],
			new Choice(items, theme, choose, () => this.#compose(), Math.max(0, selected)),
		);
		this.#place(panel);
	}

	#ask(ask: Ask): void {
		this.#asks.push(ask);
		if (this.#shown === null) this.#showNext();
	}

	/** Somebody else has answered. */
	#forget(askId: string): void {
		const index = this.#asks.findIndex(({ id }) => id === askId);
		if (index !== -1) this.#asks.splice(index, 1);
		if (this.#shown?.id === askId) this.#showNext();
	}

	#showNext(): void {
		this.#shown = this.#asks.shift() ?? null;
		if (this.#shown === null) {
			this.#compose();
			return;
		}
		const settle = ({ note, answer }: AskOutcome) => {
			this.#transcript.note(note);
			answer.catch((thrown: unknown) => this.#report(thrown));
			this.#showNext();
		};
		const { theme } = this.#options;
		this.#place(
			this.#shown.kind === "approval"
				? approvalPanel(this.#shown, theme, this.#code, settle)
				: questionPanel(this.#shown, theme, settle),
		);
	}

	#compose(): void {
		this.#place(this.#editor);
	}

	#place(view: Component): void {
		this.#bottom.clear();
		this.#bottom.addChild(view);
		this.#tui.setFocus(view);
		this.#tui.requestRender();
	}

	#takeKey(data: string): { consume: true } | undefined {
		const isInterrupt = matchesKey(data, "ctrl+c");
		if (matchesKey(data, "ctrl+d") && this.#editor.getText() === "" && this.#shown === null) {
			this.#leave();
			return { consume: true };
		}
		// Esc in a panel belongs to the panel; in the composer it may close a list.
		if (!isInterrupt && !(isStop(data) && this.#shown === null && this.#turn !== null)) return undefined;
		const now = this.#options.now();
		if (this.#turn !== null) void this.#turn.cancel().catch((thrown: unknown) => this.#report(thrown));
		else if (isInterrupt && now - this.#lastStop < leaveTime) this.#leave();
		else if (isInterrupt) {
			this.#editor.setText("");
			this.#transcript.note("Press Ctrl+C again to quit.");
		}
		if (isInterrupt) this.#lastStop = now;
		this.#tui.requestRender();
		return { consume: true };
	}

	#showActivity(): void {
		const { theme, now } = this.#options;
		const elapsed = now() - this.#startedAt;
		const frame = frames[Math.floor(elapsed / frameTime) % frames.length] ?? "";
		const what = this.#shown === null ? "Working" : "Waiting for you";
		this.#activity.setText(`${theme.accent(frame)} ${theme.dim(`${what} · ${duration(elapsed)} · Esc stops`)}`);
		this.#tui.requestRender();
	}

	#showFooter(): void {
		const { theme } = this.#options;
		this.#todos.setText(this.#status.todoLines(theme).join("\n"));
		this.#footer.setText(theme.dim(`${this.#model} · ${this.#mode} mode${this.#status.words}`));
		this.#tui.requestRender();
	}

	#report(thrown: unknown): void {
		this.#transcript.note(thrown instanceof Error ? thrown.message : String(thrown), "bad");
		this.#tui.requestRender();
	}
}

function inputText(input: Extract<PublicEvent, { type: "turn.started" }>["input"]): string {
	return typeof input === "string" ? input : "(input with files)";
}

function before<T>(entries: readonly T[], fits: (entry: T) => boolean): T[] {
	const index = entries.findIndex(fits);
	return entries.slice(0, index === -1 ? undefined : index);
}
