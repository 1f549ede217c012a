import type { SessionHandle } from "../../api/kernel.ts";
import type { ModelOption } from "../../api/models.ts";
import type { ForkCut } from "../../api/session-options.ts";
import type { MessageHistory, SessionInfo } from "../../api/session-state.ts";
import { defineMethod, type Method } from "../../ports/rpc/methods.ts";
import { type ClientSessions, concerning } from "./client-sessions.ts";
import type { ConfigView } from "./configuration/config-view.ts";
import type { ListedSession } from "./eras/codec.ts";
import { NamedError } from "./errors.ts";
import { countMessages, toCut, toForkResult, toReplacingCut } from "./forks.ts";
import { toHistory } from "./history.ts";
import type { SessionFacts } from "./projection/facts.ts";
import { meerkatProtocol } from "./protocol.ts";
import { RealmList } from "./realm/realm-list.ts";
import { addExternalEvent, injectContext } from "./session-inputs.ts";
import { toSessionRequest } from "./session-request.ts";
import type { SessionStreams } from "./session-streams.ts";
import { chooseSkills, noSkills, preloadSkills } from "./skills.ts";
import { checkReasoning } from "./turns/reasoning.ts";
import { toOneTurn } from "./turns/turn-fields.ts";
import { answering, type TurnMethods } from "./turns/turn-methods.ts";
import { startInRoom } from "./turns/turn-slots.ts";
import { refuseUnhonoredOfCreate, refuseUnhonoredOfFirst } from "./unhonored.ts";
import type { ForkResult } from "./wire/wire-forks.ts";
import type { SessionHistory, SessionHistoryParams } from "./wire/wire-history.ts";
import type { StreamOpenResult } from "./wire/wire-streams.ts";
import type {
	ArchiveResult,
	SessionCreateParams,
	SessionCreateResult,
	SessionListParams,
	SessionListResult,
	SessionReadResult,
} from "./wire.ts";

const { methods: shapes } = meerkatProtocol;

/** Default and maximum messages per response, in the contract. */
const standardPage = 100;
const longestPage = 1000;
const standardList = 100;

const notOfOneTurn = { additional_instructions: null, turn_tool_overlay: null };

export class SessionMethods {
	readonly #sessions: ClientSessions;
	readonly #turns: TurnMethods;
	readonly #streams: SessionStreams;
	readonly #readConfig: () => Promise<ConfigView>;
	readonly #realm: RealmList | null;

	constructor(
		sessions: ClientSessions,
		turns: TurnMethods,
		streams: SessionStreams,
		readConfig: () => Promise<ConfigView>,
		hasRealm: boolean,
	) {
		this.#sessions = sessions;
		this.#turns = turns;
		this.#streams = streams;
		this.#readConfig = readConfig;
		this.#realm = hasRealm ? new RealmList(sessions.kernelApi.sessions) : null;
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
				handle: (params) => this.#sessions.whenOver(params.session_id, ({ session }) => injectContext(session, params)),
			}),
		],
		[
			"session/external_event",
			defineMethod({
				...shapes["session/external_event"],
				handle: (params) => {
					const { kernelApi, client } = this.#sessions;
					const origin = { id: kernelApi.identifiers.uuid(), now: client.now() };
					return this.#sessions.using(params.session_id, ({ session }) => addExternalEvent(session, params, origin));
				},
			}),
		],
	];

	#create(params: SessionCreateParams): Promise<SessionCreateResult> {
		return answering((answered) => this.#createSession(params, answered));
	}

	async #createSession(params: SessionCreateParams, answered: Promise<void>): Promise<SessionCreateResult> {
		const { client, kernelApi, waiting } = this.#sessions;
		const { isContract } = client.codec();
		if (isContract) refuseUnhonoredOfCreate(params);
		else refuseUnhonoredOfFirst(params, "create");
		if (!isContract && typeof params.system_prompt === "object" && params.system_prompt !== null)
			throw new NamedError("INVALID_PARAMS", "Invalid params: system_prompt must be a text");
		const config = await this.#readConfig();
		const answersApprovals = client.answers().has("approval/request");
		const { sessions } = kernelApi;
		const chosen = isContract ? await chooseSkills(params.skill_refs, sessions) : noSkills;
		const preloaded = isContract ? await preloadSkills(params.preload_skills, sessions) : noSkills;
		const request = toSessionRequest(params, config, { isContract, answersApprovals, skills: preloaded.texts });
		const handle = await sessions.create(request);
		const { id } = handle.session;
		this.#sessions.noteNew(id);
		if (isContract) await this.#orDiscard(handle, () => checkReasoning(handle.session, params.provider_params));
		if (params.initial_turn === "deferred") {
			await this.#orDiscard(handle, async () => {
				const attached = await this.#sessions.attach(handle);
				attached.announce(preloaded.events);
				// The client gets its id, so the session must exist for later requests.
				await handle.session.send({ type: "session.establish" });
			});
			handle.release();
			return client.codec().located(id);
		}
		const { ended } = await this.#orDiscard(handle, async () =>
			this.#turns.begin(isContract, async () => {
				const attached = await this.#sessions.attach(handle);
				return await startInRoom(() =>
					attached.start(handle, {
						prompt: params.prompt,
						withEvents: this.#turns.wantsEvents(params),
						options: {
							events: { taken: [] },
							...(isContract ? toOneTurn({ ...params, ...notOfOneTurn }, chosen.texts) : {}),
						},
						preface: [...preloaded.events, ...chosen.events],
						isOfEvents: false,
					}),
				);
			}),
		);
		this.#sessions.noteTurn(id, answered);
		return await concerning(id, () => waiting.queue.add(id, ended).finally(() => handle.release()));
	}

	/** Removes a session that cannot be persisted or cannot begin its first turn. */
	async #orDiscard<T>(handle: SessionHandle, work: () => Promise<T>): Promise<T> {
		try {
			return await work();
		} catch (thrown) {
			await handle.discard();
			this.#sessions.forget(handle.session.id);
			throw thrown;
		}
	}

	async #list({ labels, offset, limit }: SessionListParams): Promise<SessionListResult> {
		const { client, kernelApi } = this.#sessions;
		const codec = client.codec();
		const wanted = Object.entries(labels ?? {});
		const loaded = (await kernelApi.sessions.loaded()).filter((info) =>
			wanted.every(([key, value]) => info.labels[key] === value),
		);
		// The first protocol lists all sessions without facts that would have to be read.
		if (!codec.isContract)
			return codec.sessionList(loaded.map((info) => ({ info, facts: this.#sessions.factsOf(info.id) })));
		const first = offset ?? 0;
		const inPage = (infos: readonly SessionInfo[]) => infos.toReversed().slice(first, first + (limit ?? standardList));
		// The labels of unloaded sessions are unknown.
		if (this.#realm === null || wanted.length > 0) return codec.sessionList(await this.#withFacts(inPage(loaded)));
		const { infos, read } = await this.#realm.all(loaded, this.#sessions.followed());
		const page = inPage(infos);
		return codec.sessionList(await this.#withFacts(page, await read(page)));
	}

	async #withFacts(
		infos: readonly SessionInfo[],
		known: ReadonlyMap<string, SessionFacts> = new Map(),
	): Promise<readonly ListedSession[]> {
		const listed: ListedSession[] = [];
		for (const info of infos) {
			const { id } = info;
			const facts = known.get(id) ?? this.#sessions.knownFactsOf(id) ?? (await this.#sessions.factsNow(info));
			listed.push({ info, facts });
		}
		return listed;
	}

	/** Subscribes this connection to the session's events, including runs of other clients. */
	#openStream(id: string): Promise<StreamOpenResult> {
		return this.#sessions.using(id, async (handle) => {
			await this.#sessions.attach(handle);
			return this.#streams.open(id);
		});
	}

	#fork(id: string, toForkCut: (history: MessageHistory) => ForkCut): Promise<ForkResult> {
		return this.#sessions.using(id, async ({ session }) => {
			const { sessions } = this.#sessions.kernelApi;
			const { id: forkId } = await sessions.fork(id, { cut: toForkCut(await session.conversation()) });
			const fork = await this.#sessions.acquire(forkId);
			try {
				await this.#sessions.remember(fork);
				const located = this.#sessions.client.codec().located(forkId);
				return toForkResult(id, located, countMessages(await fork.session.conversation()));
			} finally {
				fork.release();
			}
		});
	}

	#read(id: string): Promise<SessionReadResult> {
		const { kernelApi, client } = this.#sessions;
		return this.#sessions.inLine(id, async () => {
			const known = (await kernelApi.sessions.loaded()).find((each) => each.id === id);
			const { info, facts } = known === undefined ? await this.#open(id) : await this.#describe(known);
			const codec = client.codec();
			const model = codec.isContract ? await this.#modelOf(info) : undefined;
			return codec.sessionRead({ info, facts, model });
		});
	}

	async #describe(info: SessionInfo) {
		return { info, facts: await this.#sessions.factsNow(info) };
	}

	async #open(id: string) {
		const handle = await this.#sessions.acquire(id);
		const { facts } = await this.#sessions.remember(handle).finally(() => handle.release());
		return { info: handle.info, facts };
	}

	async #modelOf({ model, provider }: SessionInfo): Promise<ModelOption | undefined> {
		const { options } = await this.#sessions.kernelApi.sessions.models();
		return options.find((option) => option.name === model && option.provider === provider);
	}

	#history({ session_id: id, offset: skipped, limit: wanted }: SessionHistoryParams): Promise<SessionHistory> {
		const offset = skipped ?? 0;
		const codec = this.#sessions.client.codec();
		const { isContract } = codec;
		const limit = wanted ?? (isContract ? standardPage : null);
		if (isContract && limit !== null && limit > longestPage) {
			const what = `Invalid params: \`limit\` is at most ${longestPage}; \`has_more\` says whether there are more messages.`;
			throw new NamedError("INVALID_PARAMS", what, { session_id: id });
		}
		const read = async (handle: SessionHandle): Promise<SessionHistory> => {
			const { session } = handle;
			const { facts } = await this.#sessions.remember(handle);
			const all = await toHistory(await session.conversation(), session.events(), facts.createdAt, isContract);
			const messages = all.slice(offset, limit === null ? undefined : offset + limit);
			return {
				...codec.located(id),
				message_count: all.length,
				offset,
				...(limit === null ? {} : { limit }),
				has_more: offset + messages.length < all.length,
				messages: [...messages],
			};
		};
		return this.#sessions.using(id, read, isContract ? { archived: true } : {});
	}

	#archive(id: string): Promise<ArchiveResult> {
		return this.#sessions.inLine(id, async () => {
			// Turns requested from now on wait for the archive.
			const answered = this.#sessions.turnsAnswered(id);
			await this.#sessions.kernelApi.sessions.archive(id);
			// The request of the turn that it ended is answered first.
			await answered;
			this.#sessions.forget(id);
			this.#streams.endAll(id);
			return { archived: true as const };
		});
	}
}
