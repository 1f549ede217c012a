// `session/*` and `turn/*`: each runs on the session it names, and none waits for another session.
import { createDeferred } from "../../base/deferred.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import type {
	ForkCut,
	MessageHistory,
	ModelOption,
	OpeningOptions,
	SessionApi,
	SessionHandle,
	SessionInfo,
} from "../../kernel/api.ts";
import type { Peer } from "../../rpc/connection.ts";
import { defineMethod, type Method, type Respond } from "../../rpc/methods.ts";
import type { HostApi } from "../dialect.ts";
import { joined, toBlocks } from "./blocks.ts";
import type { ConfigView } from "./configuration/config-view.ts";
import { NamedError, toNamedError } from "./errors.ts";
import { countMessages, toCut, toForkResult, toReplacingCut } from "./forks.ts";
import { toHistory } from "./history.ts";
import { type ClientSide, HostedSession, type Remembered } from "./hosted-session.ts";
import { newFacts, readFacts } from "./projection/facts.ts";
import { meerkatProtocol } from "./protocol.ts";
import { RealmList } from "./realm/realm-list.ts";
import { addExternalEvent, injectContext } from "./session-inputs.ts";
import { toSessionRequest } from "./session-request.ts";
import { SessionStreams } from "./session-streams.ts";
import { toLaterTurns, toOneTurn } from "./turns/turn-fields.ts";
import { startInRoom, type WaitingTurns, waitingTurnsOf } from "./turns/turn-slots.ts";
import { refuseUnhonouredOfCreate, refuseUnhonouredOfTurn } from "./unhonoured.ts";
import type {
	ArchiveResult,
	InterruptResult,
	RunResult,
	SessionCreateParams,
	SessionCreateResult,
	SessionHistory,
	SessionHistoryParams,
	SessionListParams,
	SessionListResult,
	SessionReadResult,
	TurnStartParams,
} from "./wire.ts";
import type { ForkResult } from "./wire-forks.ts";
import type { StopRunParams, StopRunResult, StreamOpenResult } from "./wire-streams.ts";

const { methods: shapes } = meerkatProtocol;

export class SessionMethods {
	readonly #kernelApi: HostApi;
	readonly #peer: Peer;
	readonly #client: ClientSide;
	readonly #streams: SessionStreams;
	/** Null for a server without a realm, which lists what it uses itself. */
	readonly #realm: RealmList | null;
	readonly #readConfig: () => Promise<ConfigView>;
	/** Sessions whose events this client gets while they are loaded. */
	readonly #attached = new Map<SessionApi, Promise<HostedSession>>();
	readonly #remembered = new Map<string, Remembered>();
	/** The turns of each session that have begun, until their requests are answered. */
	readonly #turns = new Map<string, Set<Promise<void>>>();
	/** Requests about one session are ordered as they arrived: a turn has begun before its interrupt is handled. */
	readonly #lines = createKeyedQueue();
	/** Turns that wait for others, those of other connections among them. */
	readonly #waiting: WaitingTurns;

	constructor(
		kernelApi: HostApi,
		peer: Peer,
		client: Omit<ClientSide, "streams">,
		readConfig: () => Promise<ConfigView>,
		hasRealm: boolean,
	) {
		this.#realm = hasRealm ? new RealmList(kernelApi.sessions) : null;
		this.#kernelApi = kernelApi;
		this.#waiting = waitingTurnsOf(kernelApi.sessions);
		this.#peer = peer;
		this.#streams = new SessionStreams(kernelApi.identifiers, (end) => peer.notify("session/stream_end", end));
		this.#client = { ...client, streams: this.#streams };
		this.#readConfig = readConfig;
	}

	readonly rows: readonly (readonly [string, Method])[] = [
		["session/create", defineMethod({ ...shapes["session/create"], handle: (params) => this.#create(params) })],
		["session/list", defineMethod({ ...shapes["session/list"], handle: (params) => this.#list(params) })],
		["session/read", defineMethod({ ...shapes["session/read"], handle: ({ session_id }) => this.#read(session_id) })],
		["session/history", defineMethod({ ...shapes["session/history"], handle: (params) => this.#history(params) })],
		[
			"session/archive",
			defineMethod({ ...shapes["session/archive"], handle: ({ session_id }) => this.#archive(session_id) }),
		],
		[
			"session/stream_open",
			defineMethod({ ...shapes["session/stream_open"], handle: ({ session_id }) => this.#openStream(session_id) }),
		],
		[
			"session/stream_close",
			defineMethod({
				...shapes["session/stream_close"],
				handle: async ({ stream_id }, respond) => {
					const { result, ended } = this.#streams.close(stream_id);
					respond(result);
					ended();
					return result;
				},
			}),
		],
		[
			"session/fork_at",
			defineMethod({
				...shapes["session/fork_at"],
				handle: ({ session_id, message_index }) => this.#fork(session_id, (history) => toCut(history, message_index)),
			}),
		],
		[
			"session/fork_replace",
			defineMethod({
				...shapes["session/fork_replace"],
				handle: ({ session_id, message_index, replacement }) =>
					this.#fork(session_id, (history) => toReplacingCut(history, message_index, replacement)),
			}),
		],
		[
			"session/inject_context",
			defineMethod({
				...shapes["session/inject_context"],
				handle: (params) => this.#whenOver(params.session_id, ({ session }) => injectContext(session, params)),
			}),
		],
		[
			"session/external_event",
			defineMethod({
				...shapes["session/external_event"],
				handle: (params) => {
					const origin = { id: this.#kernelApi.identifiers.uuid(), now: this.#client.now() };
					return this.#using(params.session_id, ({ session }) => addExternalEvent(session, params, origin));
				},
			}),
		],
		["turn/stop_run", defineMethod({ ...shapes["turn/stop_run"], handle: (params) => this.#stopRun(params) })],
		[
			"turn/start",
			defineMethod({
				...shapes["turn/start"],
				handle: (params) => answering((answered) => concerning(params.session_id, () => this.#turn(params, answered))),
			}),
		],
		[
			"turn/interrupt",
			defineMethod({
				...shapes["turn/interrupt"],
				handle: ({ session_id }, respond) => concerning(session_id, () => this.#interrupt(session_id, respond)),
			}),
		],
	];

	/** Resolves when every delivered event was sent; call it after the sessions were stopped. */
	async drained(): Promise<void> {
		await Promise.all([...this.#attached.values()].map(async (attached) => (await attached).pump.drained()));
	}

	#create(params: SessionCreateParams): Promise<SessionCreateResult> {
		return answering((answered) => this.#createSession(params, answered));
	}

	async #createSession(params: SessionCreateParams, answered: Promise<void>): Promise<SessionCreateResult> {
		const { isContract } = this.#client.codec();
		if (isContract) refuseUnhonouredOfCreate(params);
		else if (typeof params.system_prompt === "object" && params.system_prompt !== null)
			throw new NamedError("INVALID_PARAMS", "Invalid params: system_prompt must be a text");
		const config = await this.#readConfig();
		const answersApprovals = this.#client.answers().has("approval/request");
		const request = toSessionRequest(params, config, { isContract, answersApprovals });
		const handle = await this.#kernelApi.sessions.create(request);
		this.#remembered.set(handle.session.id, { facts: newFacts(this.#client.now()), sequence: 0 });
		if (params.initial_turn === "deferred") {
			await this.#orDiscard(handle, async () => {
				await this.#attach(handle);
				// The client gets its id, so the session has to exist for later requests.
				await handle.session.establish();
			});
			handle.release();
			return this.#client.codec().located(handle.session.id);
		}
		const { ended } = await this.#orDiscard(handle, async () =>
			this.#begin(isContract, async () => {
				const attached = await this.#attach(handle);
				return await startInRoom(() =>
					attached.start(
						handle,
						params.prompt,
						this.#wantsEvents(params),
						isContract ? toOneTurn({ ...params, additional_instructions: null, turn_tool_overlay: null }) : {},
					),
				);
			}),
		);
		const { id } = handle.session;
		this.#noteTurn(id, answered);
		return await concerning(id, () => this.#waiting.queue.add(id, ended).finally(() => handle.release()));
	}

	/** A session that cannot be persisted, or cannot begin its first turn, is removed. */
	async #orDiscard<T>(handle: SessionHandle, work: () => Promise<T>): Promise<T> {
		try {
			return await work();
		} catch (thrown) {
			await handle.discard();
			this.#remembered.delete(handle.session.id);
			throw thrown;
		}
	}

	/** In the contract a turn that comes during another waits for its end. */
	async #turn(params: TurnStartParams, answered: Promise<void>): Promise<RunResult> {
		const { session_id: id } = params;
		// The rules are those of its arrival, also when the client asks for capabilities meanwhile.
		const { isContract } = this.#client.codec();
		if (isContract) refuseUnhonouredOfTurn(params);
		const run = () => this.#runTurn(params, answered, isContract);
		const { queue } = this.#waiting;
		return await (isContract ? queue.run(id, run) : queue.add(id, run()));
	}

	async #runTurn(params: TurnStartParams, answered: Promise<void>, isContract: boolean): Promise<RunResult> {
		const { session_id: id } = params;
		const start = () => this.#lines.run(id, () => this.#start(params, answered));
		const { handle, ended } = await this.#begin(isContract, () => (isContract ? this.#whenIdle(id, start) : start()));
		return await ended.finally(() => handle.release());
	}

	/** Begins a turn; in the contract it waits while too many run. */
	#begin<T extends { readonly ended: Promise<unknown> }>(isContract: boolean, begin: () => Promise<T>): Promise<T> {
		return isContract ? this.#waiting.slots.begin(begin) : begin();
	}

	/** In the contract a turn waits for the end of one that another client has begun in its session. */
	async #whenIdle<T>(id: string, start: () => Promise<T>): Promise<T> {
		for (;;) {
			try {
				return await start();
			} catch (thrown) {
				if (toNamedError(thrown, id).code !== "SESSION_BUSY") throw thrown;
			}
			const handle = await this.#kernelApi.sessions.acquire(id);
			try {
				const { pump } = await this.#attach(handle);
				const { ended } = await pump.follow(async () => (await handle.session.snapshot()).turnId);
				await ended;
			} finally {
				handle.release();
			}
		}
	}

	#wantsEvents({ session_events }: { readonly session_events: boolean | null }): boolean {
		return !this.#client.codec().isContract || session_events !== false;
	}

	async #start(params: TurnStartParams, answered: Promise<void>) {
		const { session_id: id, prompt } = params;
		const { isContract } = this.#client.codec();
		const handle = await this.#kernelApi.sessions.acquire(id);
		try {
			const attached = await this.#attach(handle);
			const remembered = await this.#remember(handle);
			await this.#changeModel(handle, params);
			const change = isContract ? toLaterTurns(params) : null;
			if (change !== null) await handle.session.send({ type: "turn-options.set", options: change });
			const staged = remembered.facts.messageCount === 0 ? handle.info.stagedInput : undefined;
			const whole = staged === undefined ? prompt : joined(toBlocks(staged), prompt);
			const { ended } = await startInRoom(() =>
				attached.start(handle, whole, this.#wantsEvents(params), isContract ? toOneTurn(params) : {}),
			);
			this.#noteTurn(id, answered);
			return { handle, ended };
		} catch (thrown) {
			handle.release();
			throw thrown;
		}
	}

	/** The model of this turn and all later ones. */
	async #changeModel({ session }: SessionHandle, { model, provider }: TurnStartParams): Promise<void> {
		if (!this.#client.codec().isContract || (model === null && provider === null)) return;
		const { options } = await this.#kernelApi.sessions.models();
		const wanted = options.filter(
			(option) => (model === null || option.alias === model) && (provider === null || option.provider === provider),
		);
		const [found] = wanted;
		if (found === undefined) {
			const known = options.map(({ alias, provider }) => `${alias} of ${provider}`).join(", ");
			throw new NamedError(
				"INVALID_PARAMS",
				`Invalid params: the settings have no such model for a turn (\`model\`, \`provider\`). They have: ${known}.`,
			);
		}
		await session.send({ type: "model.set", model: found.alias, thinking: null });
	}

	#interrupt(id: string, respond: Respond<InterruptResult>): Promise<InterruptResult> {
		return this.#lines.run(id, async () => {
			const running = (await this.#kernelApi.sessions.loaded()).find((info) => info.id === id);
			const isStaged = running?.isRunning === false && this.#remembered.get(id)?.facts.messageCount === 0;
			const result = this.#client.codec().interrupt(id, isStaged);
			// The response precedes everything that the interrupt causes.
			if (running?.isRunning === true) respond(result);
			await this.#kernelApi.sessions.interrupt(id);
			return result;
		});
	}

	async #list({ limit, offset, labels }: SessionListParams): Promise<SessionListResult> {
		const wanted = Object.entries(labels ?? {});
		const loaded = (await this.#kernelApi.sessions.loaded()).filter((info) =>
			wanted.every(([key, value]) => info.labels[key] === value),
		);
		const codec = this.#client.codec();
		// The labels of a session that is not loaded are not known.
		if (this.#realm === null || !codec.isContract || wanted.length > 0)
			return codec.sessionList(loaded, (id) => this.#factsOf(id), { offset, limit });
		const { infos, read } = await this.#realm.all(loaded);
		const facts = await read(infos.toReversed().slice(offset, offset + limit));
		return codec.sessionList(infos, (id) => facts.get(id) ?? this.#factsOf(id), { offset, limit });
	}

	/** Events of the session are sent to this connection from now on, whoever starts its runs. */
	#openStream(id: string): Promise<StreamOpenResult> {
		return this.#using(id, async (handle) => {
			await this.#attach(handle);
			return this.#streams.open(id);
		});
	}

	/** Stops this run and no later one. */
	#stopRun({ session_id: id, run_id }: StopRunParams): Promise<StopRunResult> {
		return this.#using(id, async (handle) => {
			const ended = (await this.#attach(handle)).runEnded(run_id);
			if (ended === null) return { session_id: id, receipt: { outcome: "not_current" as const, run_id } };
			await this.#kernelApi.sessions.interrupt(id);
			await ended;
			const contributors = [{ input_id: run_id, completion: "cancelled" as const, terminal: "cancelled" as const }];
			return { session_id: id, receipt: { outcome: "stopped" as const, run_id, contributors } };
		});
	}

	/** Creates a session with the beginning of this one. */
	#fork(id: string, toForkCut: (history: MessageHistory) => ForkCut): Promise<ForkResult> {
		return this.#using(id, async ({ session }) => {
			const { sessions } = this.#kernelApi;
			const forkId = await sessions.fork(id, { cut: toForkCut(await session.conversation()) });
			const fork = await sessions.acquire(forkId);
			try {
				await this.#remember(fork);
				const located = this.#client.codec().located(forkId);
				return toForkResult(id, located, countMessages(await fork.session.conversation()));
			} finally {
				fork.release();
			}
		});
	}

	#read(id: string): Promise<SessionReadResult> {
		return this.#inLine(id, async () => {
			let info = (await this.#kernelApi.sessions.loaded()).find((each) => each.id === id);
			if (info === undefined || !this.#remembered.has(id)) {
				const handle = await this.#kernelApi.sessions.acquire(id);
				info = handle.info;
				await this.#remember(handle).finally(() => handle.release());
			}
			const codec = this.#client.codec();
			const model = codec.isContract ? await this.#modelOf(info) : undefined;
			return codec.sessionRead({ info, facts: this.#factsOf(id), model });
		});
	}

	/** The model of a session in the settings; undefined when they have it no more. */
	async #modelOf({ model, provider }: SessionInfo): Promise<ModelOption | undefined> {
		const { options } = await this.#kernelApi.sessions.models();
		return options.find((option) => option.name === model && option.provider === provider);
	}

	#history({ session_id: id, offset, limit }: SessionHistoryParams): Promise<SessionHistory> {
		const { isContract } = this.#client.codec();
		const read = async (handle: SessionHandle): Promise<SessionHistory> => {
			const { session } = handle;
			const { facts } = await this.#remember(handle);
			const all = await toHistory(await session.conversation(), session.events(), facts.createdAt, isContract);
			const messages = all.slice(offset, limit === null ? undefined : offset + limit);
			return {
				...this.#client.codec().located(id),
				message_count: all.length,
				offset,
				...(limit === null ? {} : { limit }),
				has_more: offset + messages.length < all.length,
				messages: [...messages],
			};
		};
		// In the contract what was archived can still be read.
		return this.#using(id, read, isContract ? { archived: true } : {});
	}

	#archive(id: string): Promise<ArchiveResult> {
		return this.#inLine(id, async () => {
			// A turn that is requested from now on waits for the archive.
			const begun = [...(this.#turns.get(id) ?? [])];
			await this.#kernelApi.sessions.archive(id);
			// The request of the turn that it ended is answered first.
			await Promise.all(begun);
			this.#remembered.delete(id);
			this.#streams.endAll(id);
			return { archived: true as const };
		});
	}

	/** A turn has begun, whose request is not answered yet. */
	#noteTurn(id: string, answered: Promise<void>): void {
		const turns = this.#turns.get(id) ?? new Set();
		this.#turns.set(id, turns.add(answered));
		void answered.then(() => {
			turns.delete(answered);
			if (turns.size === 0 && this.#turns.get(id) === turns) this.#turns.delete(id);
		});
	}

	/** Does something with a session, which is loaded until it is done, after all earlier requests about it. */
	#using<T>(id: string, work: (handle: SessionHandle) => Promise<T>, opening: OpeningOptions = {}): Promise<T> {
		return this.#inLine(id, async () => {
			const handle = await this.#kernelApi.sessions.acquire(id, opening);
			return await work(handle).finally(() => handle.release());
		});
	}

	/** The same once every turn is over that was requested before, and any turn of another client. */
	async #whenOver<T>(id: string, work: (handle: SessionHandle) => Promise<T>): Promise<T> {
		return await concerning(id, () =>
			this.#waiting.queue.run(id, () => this.#whenIdle(id, () => this.#using(id, work))),
		);
	}

	#inLine<T>(id: string, work: () => Promise<T>): Promise<T> {
		return concerning(id, () => this.#lines.run(id, work));
	}

	#factsOf(id: string) {
		return this.#remembered.get(id)?.facts ?? newFacts(this.#client.now());
	}

	/** Sends the session's events to this client from now on. */
	#attach(handle: SessionHandle): Promise<HostedSession> {
		const { session } = handle;
		const known = this.#attached.get(session);
		if (known !== undefined) return known;
		const attaching = this.#remember(handle).then((remembered) =>
			HostedSession.attach(handle, this.#kernelApi, this.#peer, this.#client, remembered),
		);
		this.#attached.set(session, attaching);
		const forget = () => void this.#attached.delete(session);
		// Its events end when it is unloaded.
		attaching.then((hosted) => hosted.pump.drained().then(forget), forget);
		return attaching;
	}

	/** The data about the session; for an existing one read from its log. */
	async #remember({ session }: SessionHandle): Promise<Remembered> {
		const known = this.#remembered.get(session.id);
		if (known !== undefined) return known;
		const remembered = { facts: await readFacts(session.events(), this.#client.now()), sequence: 0 };
		const meanwhile = this.#remembered.get(session.id) ?? remembered;
		this.#remembered.set(session.id, meanwhile);
		return meanwhile;
	}
}

/** Adds the session to whatever is thrown. */
async function concerning<T>(id: string, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (thrown) {
		throw toNamedError(thrown, id);
	}
}

/** Does the work of a request; what it is given resolves when the request is answered. */
async function answering<T>(work: (answered: Promise<void>) => Promise<T>): Promise<T> {
	const answered = createDeferred<void>();
	try {
		return await work(answered.promise);
	} finally {
		answered.resolve();
	}
}
