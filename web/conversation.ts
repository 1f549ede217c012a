// What a session's events come to: turns of blocks. Each event is taken once, by its number; volatile text goes where its offset
// says. The same events always give the same conversation, so that a page that comes late shows what others show, and one that reads
// what came before shows what it would have shown had it begun there.
import type { UserInput } from "../src/api/values/content.ts";
import type { Interaction } from "../src/api/values/interaction.ts";
import { retryText } from "../src/api/values/retry-text.ts";
import type { PublicEvent } from "../src/frontends/shared/public-event.ts";
import { type Block, interrupt, type NoteBlock, putBefore, type ToolBlock, type Turn, without } from "./blocks.ts";
import { Calls } from "./calls.ts";
import { brokenEnd, endOf } from "./outcome-words.ts";
import { laneOf, SpokenTexts } from "./spoken-texts.ts";
import { headline, plainInput, readArguments } from "./texts.ts";
import { verbOf } from "./tool-words.ts";
import { Totals } from "./totals.ts";
import type { EventOf, Snapshot } from "./wire.ts";

export class SessionView {
	readonly turns: Turn[] = [];
	/** What waits for an answer, the oldest first. */
	readonly openInteractions = new Map<string, Interaction>();
	readonly totals = new Totals();
	activity = "idle";
	/** When that began, in milliseconds since the epoch. */
	activeSince = 0;
	last = 0;
	epoch = "";
	/** Answers to what was asked before the events that are known. */
	#unasked: EventOf<"interaction.resolved">[] = [];
	/** Whether no turn runs; null while that is not known. */
	#isIdle: boolean | null = null;
	/** How often the conversation went back: to before which turn, and the last turn that there was then. */
	readonly #rewinds: { readonly before: string; readonly last: Turn | undefined }[] = [];
	readonly #nextKey: () => number;
	readonly #calls: Calls;
	readonly #texts: SpokenTexts;
	readonly #windowName: string;

	/** `windowName` is what answers of this window are recorded as. */
	constructor(windowName: string, nextKey = createKeys()) {
		this.#windowName = windowName;
		this.#nextKey = nextKey;
		this.#calls = new Calls(nextKey);
		this.#texts = new SpokenTexts(nextKey);
	}

	get isRunning(): boolean {
		return this.turns.at(-1)?.isRunning ?? false;
	}

	/** Takes an event; false for one that was taken before. */
	take(event: PublicEvent): boolean {
		if (event.seq !== undefined) {
			if (event.seq <= this.last && event.epoch === this.epoch) return false;
			this.last = event.seq;
			this.epoch = event.epoch ?? this.epoch;
		}
		this.#apply(event);
		return true;
	}

	/** What the session is at this moment, once every event before it was taken. */
	settle(snapshot: Snapshot): void {
		this.#isIdle = snapshot.turnId === null;
		this.openInteractions.clear();
		for (const event of snapshot.openInteractions) this.#apply(event);
		this.#resume(snapshot);
		if (this.#isIdle) {
			this.#endBroken();
			this.#act("idle", 0);
			return;
		}
		// It may have begun before the events that are known.
		const turn = this.turns.at(-1) ?? this.#begin(null);
		turn.isRunning = true;
		if (this.activity === "idle") this.#act("thinking", Date.now());
	}

	/** Puts the events before these that are known, whose blocks and turns stay the same objects. */
	prepend(events: readonly PublicEvent[]): void {
		const earlier = new SessionView(this.#windowName, this.#nextKey);
		for (const event of events) earlier.take(event);
		for (const event of this.#unasked) earlier.#resolve(event);
		this.#unasked = earlier.#unasked;
		const [first] = this.turns;
		const last = earlier.turns.at(-1);
		if (last !== undefined && first?.hasEnded === true && first.prompt === null) interrupt(last.blocks);
		const { replaced, shown } = this.#calls.follow(earlier.#calls);
		earlier.totals.change(shown);
		this.totals.follow(earlier.totals);
		for (const turn of earlier.turns) turn.blocks.splice(0, turn.blocks.length, ...without(turn.blocks, replaced));
		if (first !== undefined) first.extensions += 1;
		if (last !== undefined && first?.prompt === null) {
			earlier.turns.pop();
			putBefore(first.blocks, last.blocks);
			first.prompt = last.prompt;
			first.id = last.id;
			first.startedAt = last.startedAt;
			first.end ??= last.end;
			first.isRunning ||= last.isRunning && !first.hasEnded && this.turns.length === 1;
			first.hasEnded ||= last.hasEnded;
		}
		this.turns.unshift(...earlier.turns);
		for (const { before, last: end } of this.#rewinds) this.#rewind(before, end);
		if (this.#isIdle === true) this.#endBroken();
	}

	/** Marks the turns from this one to the last one; all before that if this one is not known yet. */
	#rewind(before: string, last: Turn | undefined): void {
		const from = Math.max(
			0,
			this.turns.findIndex(({ id }) => id === before),
		);
		const to = last === undefined ? -1 : this.turns.indexOf(last);
		for (const turn of this.turns.slice(from, to + 1)) turn.isRewound = true;
	}

	/** Ends the last turn if it runs no more, although nothing ended it. */
	#endBroken(): void {
		const turn = this.turns.at(-1);
		if (turn?.isRunning !== true) return;
		turn.isRunning = false;
		turn.end ??= brokenEnd;
		interrupt(turn.blocks);
	}

	/** What the running turn has said of texts and calls that are not complete: they go on from there. */
	#resume({ unfinished, sessionId, turnId }: Snapshot): void {
		this.#calls.forgetWriting();
		const events = unfinished.map((part) => ({ ...part, sessionId, turnId, at: Date.now() }));
		const texts = events.filter((event) => event.type === "content.completed");
		this.#texts.resume(texts, (event) => this.#place(event));
		for (const event of events) {
			if (event.type === "content.completed") continue;
			if (event.type !== "tool.requested") this.#apply(event);
			else {
				const block = this.#call(event);
				block.arguments = event.call.function.arguments ?? "";
				this.#calls.write(laneOf(event), block);
			}
		}
	}

	#act(activity: string, at: number): void {
		if (activity !== this.activity) this.activeSince = at;
		this.activity = activity;
	}

	#turn(): Turn {
		return this.turns.at(-1) ?? this.#begin(null);
	}

	#begin(prompt: UserInput | null, id: string | null = null, startedAt: number | null = null): Turn {
		const turn: Turn = {
			key: this.#nextKey(),
			id,
			startedAt,
			endedAt: null,
			isRewound: false,
			prompt,
			blocks: [],
			end: null,
			isRunning: prompt !== null,
			hasEnded: false,
			extensions: 0,
		};
		this.turns.push(turn);
		return turn;
	}

	/** Where the blocks of the agent that speaks go. */
	#place(event: PublicEvent): Block[] {
		return this.#host(event)?.children ?? this.#turn().blocks;
	}

	/** The call that the agent of the event works for, of the agents on this path; undefined for the session's own agent. */
	#host(event: PublicEvent, path = event.agentPath): ToolBlock | undefined {
		const at = path.findLastIndex((entry) => entry.parentToolCallId !== null);
		const parent = path[at]?.parentToolCallId ?? null;
		if (parent === null) return undefined;
		return this.#calls.host(() => this.#host(event, path.slice(0, at))?.children ?? this.#turn().blocks, parent);
	}

	#note(event: PublicEvent, text: string, tone: NoteBlock["tone"] = "plain", kind: NoteBlock["kind"] = "note"): void {
		this.#place(event).push({ kind, key: this.#nextKey(), tone, text });
	}

	#call(event: EventOf<"tool.requested"> | EventOf<"tool-call.started">): ToolBlock {
		const { id, function: called } = event.call;
		return this.#calls.begin(() => this.#place(event), id, called.name, called.arguments);
	}

	#apply(event: PublicEvent): void {
		switch (event.type) {
			case "turn.started":
				if (event.agentPath.length > 0) return;
				this.#begin(event.input, event.turnId, event.at);
				this.#isIdle = false;
				this.#act("thinking", event.at);
				return;
			case "turn.ended":
				if (event.agentPath.length > 0) return;
				this.#end(event);
				return;
			case "step.started": {
				const host = this.#host(event);
				if (host !== undefined) host.steps = event.n;
				else this.#act("thinking", event.at);
				return;
			}
			case "step.interrupted":
				this.#texts.breakOff(laneOf(event));
				return;
			case "step.retrying":
				this.#act(`retrying in ${Math.ceil(event.wait_s)} s`, event.at);
				this.#note(event, `${retryText(event)}.`, "warning");
				return;
			case "compaction.started":
				this.#act("summarizing the conversation", event.at);
				return;
			case "compaction.ended":
				this.#note(event, "The conversation so far was summarized to make room", "plain", "mark");
				if (this.isRunning) this.#act("thinking", event.at);
				return;
			case "mcp.loading-started":
				this.#act("connecting tool servers", event.at);
				return;
			case "mcp.loading-ended":
				return;
			case "status.changed":
				this.totals.count(event, event.agentPath.length > 0);
				return;
			case "usage.counted":
				return;
			case "budget.warning":
				this.#note(event, `${this.totals.warn(event)}.`, "warning");
				return;
			case "notification.raised":
				this.#note(event, event.body === "" ? event.title : `${event.title}: ${event.body}`);
				return;
			case "content.delta":
				this.#texts.add(event, () => this.#place(event));
				return;
			case "content.completed":
				if (this.#texts.complete(event, () => this.#place(event))) return;
				this.#note(event, event.part.type === "image_url" ? event.part.image_url.url : "", "plain", "media");
				return;
			case "tool-call.started":
				this.#calls.write(laneOf(event), this.#call(event));
				return;
			case "tool-call.delta":
				this.#calls.addArguments(laneOf(event), event);
				return;
			case "tool.requested":
				this.#calls.request(laneOf(event), this.#call(event), event.call.function.arguments);
				return;
			case "tool-call.fragment":
				return;
			case "permission.decided":
				this.#calls.decide(event);
				return;
			case "tool.started": {
				const block = this.#calls.begin(() => this.#place(event), event.toolCallId, event.name, event.arguments);
				this.#calls.start(block, event.at);
				if (event.agentPath.length === 0) this.#act(runningWords(block), event.at);
				return;
			}
			case "tool.progress":
				this.#calls.addProgress(event);
				return;
			case "tool.ended":
				this.#calls.end(event.toolCallId);
				return;
			case "tool.result":
				this.#settleCall(event);
				return;
			case "tool.outcome-unknown":
				this.#calls.lose(event.toolCallId);
				return;
			case "recovery.reported":
				return;
			case "interaction.requested": {
				const { interaction } = event;
				if (interaction.kind !== "approval" && interaction.kind !== "question") return;
				this.openInteractions.set(interaction.id, interaction);
				this.#act("waiting for you", event.at);
				this.#calls.ask(interaction);
				return;
			}
			case "interaction.resolved":
				this.#resolve(event);
				return;
			case "session.rewound":
				this.#rewinds.push({ before: event.before, last: this.turns.at(-1) });
				this.#rewind(event.before, this.turns.at(-1));
				return;
			case "files.snapshot":
			case "files.restored":
				return;
			case "steer.consumed":
				this.#note(event, plainInput(event.input), "plain", "steer");
				return;
			case "plan.displayed":
				this.#note(event, event.content, "plain", "plan");
				return;
			case "hook.triggered":
			case "session-hook.started":
			case "session-hook.ended":
				return;
			case "hook.resolved":
				if (event.action !== "block") return;
				this.#note(event, `Stopped by a hook (${event.event} ${event.target}): ${event.reason}`, "warning");
				return;
			case "side-question.started":
				this.#note(event, `Asked aside: ${event.question}`);
				return;
			case "side-question.ended":
				this.#note(event, event.response ?? `The question could not be answered: ${event.error ?? "no reason"}`);
				return;
			case "mode.changed":
			case "model.changed":
			case "title.changed":
			case "client.attached":
			case "client.detached":
			case "session.reset":
				return;
		}
	}

	#end(event: EventOf<"turn.ended">): void {
		const turn = this.#turn();
		turn.isRunning = false;
		turn.hasEnded = true;
		turn.endedAt = event.at;
		this.#isIdle = true;
		this.#act("idle", event.at);
		this.#texts.clear();
		interrupt(turn.blocks);
		this.#calls.interruptUnplaced();
		if (event.outcome !== null) turn.end = endOf(event.outcome) ?? turn.end;
	}

	#settleCall(event: EventOf<"tool.result">): void {
		this.totals.list(event.result.display);
		const block = this.#calls.settle(event);
		if (!event.result.is_error) this.totals.change(block.display);
		if (event.agentPath.length === 0 && this.isRunning) this.#act("thinking", event.at);
	}

	#resolve(event: EventOf<"interaction.resolved">): void {
		const asked = this.openInteractions.get(event.interactionId);
		this.openInteractions.delete(event.interactionId);
		if (this.openInteractions.size === 0 && this.isRunning) this.#act("thinking", event.at);
		const { kind } = event.answer;
		if (asked === undefined && (kind === "approval" || kind === "question")) this.#unasked.push(event);
		if (asked !== undefined) this.#calls.answer(asked, event, this.#windowName);
	}
}

/** What runs, such as `running npm test` or `reading src/a.ts`. */
function runningWords({ name, arguments: given }: ToolBlock): string {
	const about = headline(name, readArguments(given));
	const verb = gerunds[name] ?? "running";
	return about === name ? `${verb} ${verbOf(name).toLowerCase()}` : `${verb} ${about}`;
}

const gerunds: Readonly<Record<string, string>> = {
	Agent: "asking a subagent:",
	FetchURL: "fetching",
	Glob: "finding files:",
	Grep: "searching for",
	ReadFile: "reading",
	ReadMediaFile: "looking at",
	SearchWeb: "searching the web for",
	StrReplaceFile: "editing",
	WriteFile: "writing",
};

/** Keys of blocks and turns, each given once. */
function createKeys(): () => number {
	let last = 0;
	return () => ++last;
}
