import { setMaxListeners } from "node:events";
import type { CommandOf, CommandValues } from "../../api/commands.ts";
import type { UserInput } from "../../api/values/content.ts";
import type { TurnOptions } from "../../api/values/turn-options.ts";
import { never } from "../../base/abort.ts";
import { createDeferred } from "../../base/deferred.ts";
import { KernelError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { OnFirstUse } from "../../base/on-first-use.ts";
import { KeyedTurns } from "../turn/keyed-turns.ts";
import { type RunningTurn, runMainTurn, type TurnStart } from "../turn/main-turn.ts";
import { StartNotices } from "../turn/start-notices.ts";
import { createSteerQueue } from "../turn/steers.ts";
import { changeTurnOptions, joinTurnOptions } from "../turn/turn-options.ts";
import type { AssembledSession } from "./assemble.ts";
import type { SessionParts } from "./session-parts.ts";

type StartOptions = TurnStart & { readonly options: TurnOptions };

export class SessionTurns {
	readonly #parts: SessionParts;
	readonly #assembled: AssembledSession;
	readonly #checkOpen: () => void;
	readonly #startNotices: StartNotices;
	#keyed: KeyedTurns;
	#options: TurnOptions;
	#last: RunningTurn | null = null;
	#hadOne = false;
	readonly #endOfInterrupted = new OnFirstUse(() => this.#endInterrupted());

	/** `checkOpen` throws once the session is closing. */
	constructor(parts: SessionParts, assembled: AssembledSession, checkOpen: () => void) {
		this.#parts = parts;
		this.#startNotices = new StartNotices(parts.startNotices ?? [], parts.clock);
		this.#assembled = assembled;
		this.#checkOpen = checkOpen;
		this.#keyed = new KeyedTurns(parts.stored.summary.keyedTurns);
		this.#options = parts.turns ?? {};
	}

	get hadOne(): boolean {
		return this.#hadOne;
	}

	reload(): void {
		this.#keyed = new KeyedTurns(this.#parts.stored.summary.keyedTurns);
		this.#endOfInterrupted.forget();
	}

	get thinkingBudget(): number | null {
		return this.#options.sampling?.thinkingBudget ?? null;
	}

	get hasFailed(): boolean {
		return this.#assembled.events.turn.running === null && this.#last !== null && this.#last.failure !== null;
	}

	has(key: string): boolean {
		return this.#keyed.has(key);
	}

	/** Resolves once the start is stored. A known key starts nothing. Fails `busy`, `closed`, or with the turn's error. */
	start({
		input,
		isOwn = false,
		options = {},
		key,
		takeOver = false,
		trace,
	}: CommandOf<"turn.start">): Promise<CommandValues["turn.start"]> {
		const start = { input, isOwn, options, takesOver: takeOver, ...(trace === undefined ? {} : { trace }) };
		if (key === undefined) return this.#beginStored(start);
		return this.#keyed.start(key, input, () => this.#beginStored({ ...start, key }));
	}

	async steer(input: UserInput): Promise<null> {
		const { turn, emitter } = this.#assembled.events;
		const { running, place } = turn;
		if (running?.steers.add(input) !== true) throw noTurn();
		try {
			// The input is accepted without waiting for readers.
			await emitter.emit(place, { type: "steer.accepted", input }, { sync: true }, AbortSignal.abort());
		} catch (thrown) {
			running.steers.withdraw(input);
			throw thrown;
		}
		return null;
	}

	cancel(): null {
		const { running } = this.#assembled.events.turn;
		if (running === null) throw noTurn();
		// Input added now would be acknowledged and lost.
		running.steers.close();
		running.controller.abort();
		return null;
	}

	setOptions(change: CommandOf<"turn-options.set">["options"]): Promise<null> {
		const { events, agent } = this.#assembled;
		const { stored } = this.#parts;
		return events.model.between(async () => {
			const turns = changeTurnOptions(this.#options, change);
			// A session without a context starts afresh when reopened, and would forget the change.
			await agent.main.load();
			const before: unknown = stored.state().creationOptions;
			await stored.commit(
				{ state: { creationOptions: { ...(isRecord(before) ? before : {}), turns } } },
				{ sync: true },
			);
			this.#options = turns;
			return null;
		});
	}

	endInterrupted(): Promise<void> {
		return this.#endOfInterrupted.get();
	}

	async #endInterrupted(): Promise<void> {
		const { openTurn } = this.#parts.stored.summary;
		const { events, agent } = this.#assembled;
		if (openTurn === null || this.#hadOne || events.turn.running !== null) return;
		await this.#parts.stored.claim();
		await agent.main.load();
		const message = "The process that ran the turn ended before the turn did.";
		const outcome = { status: "failed", error: { code: "closed", message, data: null } } as const;
		await events.emitter.emit(
			{ turnId: openTurn, agentPath: [] },
			{ type: "turn.ended", outcome },
			{ sync: true },
			never,
		);
	}

	async #beginStored(start: StartOptions): Promise<{ readonly turnId: string }> {
		const begun = createDeferred<boolean>();
		const turn = this.#begin(start, () => begun.resolve(true));
		void turn.ended.then(() => begun.resolve(false));
		if (await begun.promise) return { turnId: turn.id };
		const { failure } = turn;
		if (failure !== null) throw new KernelError(failure.code, failure.message, { data: failure.data });
		// The turn was cancelled, and clients have received its end.
		if (start.key === undefined) return { turnId: turn.id };
		throw new KernelError("closed", "The turn was cancelled before it began. It can be started again.");
	}

	#begin({ options, ...start }: StartOptions, begun: () => void = () => {}): RunningTurn {
		this.#checkOpen();
		const { events, decisions, work, agent, title, commands } = this.#assembled;
		const { turn: current, emitter } = events;
		if (current.running !== null) throw new KernelError("busy", "An agent turn is already in progress");
		const turn: RunningTurn = {
			id: this.#parts.identifiers.hex(32),
			controller: new AbortController(),
			chosen: events.model.current,
			// Session creators' turn options do not apply to program prompts.
			options: start.isOwn ? options : joinTurnOptions(this.#options, options),
			steers: createSteerQueue(),
			broken: null,
			failure: null,
			ended: Promise.resolve(),
		};
		// Every call of an answer, and every event that waits for a slow client, listens to it.
		setMaxListeners(0, turn.controller.signal);
		agent.servers?.turnStarts();
		current.running = turn;
		this.#last = turn;
		turn.ended = runMainTurn(turn, start, {
			services: work.services,
			hooks: decisions.hooks,
			main: agent.main,
			servers: agent.servers,
			commands,
			budgets: work.budgets,
			title,
			loopIterations: this.#parts.loopIterations,
			keys: this.#parts.keys,
			notifications: {
				openTurn: async (deliver) => {
					await work.background.find();
					await work.notifications.taken(turn.options.events?.taken ?? []);
					await work.notifications.openTurn(deliver);
					await this.#startNotices.deliver(deliver);
				},
				closeTurn: () => work.notifications.closeTurn(),
			},
			claim: () => this.#parts.stored.claim(start.takesOver || this.#parts.takesOver),
			log: this.#parts.log,
			seal: (error) => emitter.fail(turn.id, error),
			begun: () => {
				this.#hadOne = true;
				begun();
			},
			// A client that receives the end may start the next turn immediately.
			release: () => {
				current.running = null;
			},
		});
		return turn;
	}
}

function noTurn(): KernelError {
	return new KernelError("no-turn", "No agent turn is in progress");
}
