import type { SessionInfo } from "../../../api/session-state.ts";
import { createDeferred } from "../../../base/deferred.ts";
import { defineMethod, type Method, type Respond } from "../../../ports/rpc/methods.ts";
import { type ClientSessions, concerning } from "../client-sessions.ts";
import { NamedError } from "../errors.ts";
import { meerkatProtocol } from "../protocol.ts";
import { toEventBlocks } from "../session-inputs.ts";
import { chooseSkills, noSkills } from "../skills.ts";
import { refuseUnhonoredOfFirst, refuseUnhonoredOfTurn } from "../unhonored.ts";
import { joined, toBlocks } from "../wire/blocks.ts";
import type { StopRunParams, StopRunResult } from "../wire/wire-streams.ts";
import type { InterruptResult, RunResult, TurnStartParams } from "../wire.ts";
import { checkReasoning } from "./reasoning.ts";
import { toLaterTurns, toOneTurn } from "./turn-fields.ts";
import { startInRoom } from "./turn-slots.ts";

const { methods: shapes } = meerkatProtocol;

export class TurnMethods {
	readonly #sessions: ClientSessions;

	constructor(sessions: ClientSessions) {
		this.#sessions = sessions;
	}

	readonly rows: readonly (readonly [string, Method])[] = [
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
				handle: ({ session_id }, respond) => this.#interrupt(session_id, respond),
			}),
		],
	];

	/** Begins a turn; in the contract it waits while too many run. */
	begin<T extends { readonly ended: Promise<unknown> }>(isContract: boolean, begin: () => Promise<T>): Promise<T> {
		return isContract ? this.#sessions.waiting.slots.begin(begin) : begin();
	}

	wantsEvents({ session_events }: { readonly session_events: boolean | null }): boolean {
		return session_events !== false;
	}

	/** In the contract a turn that comes during another waits for its end. */
	async #turn(params: TurnStartParams, answered: Promise<void>): Promise<RunResult> {
		const { session_id: id } = params;
		// The rules at arrival apply, even if the client requests capabilities meanwhile.
		const { isContract } = this.#sessions.client.codec();
		if (isContract) refuseUnhonoredOfTurn(params);
		else refuseUnhonoredOfFirst(params, "turn");
		const run = () => this.#runTurn(params, answered, isContract);
		const { queue } = this.#sessions.waiting;
		return await (isContract ? queue.run(id, run) : queue.add(id, run()));
	}

	async #runTurn(params: TurnStartParams, answered: Promise<void>, isContract: boolean): Promise<RunResult> {
		const { session_id: id } = params;
		// Turn slots recognize lack of room by the error.
		const start = () => this.#sessions.inOrder(id, () => this.#start(params, answered));
		for (;;) {
			const { handle, ended, isOfEvents } = await this.begin(isContract, () =>
				isContract ? this.#sessions.whenIdle(id, start) : start(),
			);
			const result = ended.finally(() => handle.release());
			if (!isOfEvents) return await result;
			// The prompt gets its own run, however the events' run ended.
			await result.catch(() => {});
		}
	}

	/** Runs the prompt, after a separate run for outside events if there are any. */
	async #start(params: TurnStartParams, answered: Promise<void>) {
		const { session_id: id, prompt } = params;
		const { isContract } = this.#sessions.client.codec();
		const handle = await this.#sessions.acquire(id);
		try {
			const attached = await this.#sessions.attach(handle);
			const { facts } = await this.#sessions.remember(handle);
			// Check first what can be refused, so that a refused request changes nothing.
			const model = await this.#wantedModel(params, handle.info);
			if (isContract) await checkReasoning(handle.session, params.provider_params, model);
			const skills = isContract ? await chooseSkills(params.skill_refs, this.#sessions.kernelApi.sessions) : noSkills;
			const events = await handle.session.send({ type: "notification.list" });
			if (events.length > 0) {
				const { ended } = await startInRoom(() =>
					attached.start(handle, {
						prompt: [...toEventBlocks(events)],
						withEvents: this.wantsEvents(params),
						options: { events: { taken: events.map((event) => event.id) } },
						preface: [],
						isOfEvents: true,
					}),
				);
				this.#sessions.noteTurn(id, answered);
				return { handle, ended, isOfEvents: true };
			}
			if (model !== null) await handle.session.send({ type: "model.set", model, thinking: null });
			const change = isContract ? toLaterTurns(params) : null;
			if (change !== null) await handle.session.send({ type: "turn-options.set", options: change });
			const staged = facts.hasPrompt ? undefined : handle.info.stagedInput;
			const whole = staged === undefined ? prompt : joined(toBlocks(staged), prompt);
			const { ended } = await startInRoom(() =>
				attached.start(handle, {
					prompt: whole,
					withEvents: this.wantsEvents(params),
					options: { events: { taken: [] }, ...(isContract ? toOneTurn(params, skills.texts) : {}) },
					preface: skills.events,
					isOfEvents: false,
				}),
			);
			this.#sessions.noteTurn(id, answered);
			return { handle, ended, isOfEvents: false };
		} catch (thrown) {
			handle.release();
			throw thrown;
		}
	}

	/** The requested model for this and later turns; null to keep the current one. */
	async #wantedModel({ model, provider }: TurnStartParams, current: SessionInfo): Promise<string | null> {
		const { client, kernelApi } = this.#sessions;
		if (!client.codec().isContract || (model === null && (provider === null || provider === current.provider)))
			return null;
		const { options } = await kernelApi.sessions.models();
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
		return found.alias;
	}

	#interrupt(id: string, respond: Respond<InterruptResult>): Promise<InterruptResult> {
		const { client, kernelApi } = this.#sessions;
		return this.#sessions.inLine(id, async () => {
			const running = (await kernelApi.sessions.loaded()).find((info) => info.id === id);
			const isStaged = running?.isRunning === false && this.#sessions.knownFactsOf(id)?.messageCount === 0;
			const result = client.codec().interrupt(id, isStaged);
			// The response precedes everything that the interrupt causes.
			if (running?.isRunning === true) respond(result);
			await kernelApi.sessions.interrupt(id);
			return result;
		});
	}

	/** Stops this run and no later one. */
	#stopRun({ session_id: id, run_id }: StopRunParams): Promise<StopRunResult> {
		return this.#sessions.using(id, async (handle) => {
			const ended = (await this.#sessions.attach(handle)).runEnded(run_id);
			if (ended === null) return { session_id: id, receipt: { outcome: "not_current" as const, run_id } };
			await this.#sessions.kernelApi.sessions.interrupt(id);
			await ended;
			const contributors = [{ input_id: run_id, completion: "cancelled" as const, terminal: "cancelled" as const }];
			return { session_id: id, receipt: { outcome: "stopped" as const, run_id, contributors } };
		});
	}
}

/** `work` gets a promise that resolves when the request is answered. */
export async function answering<T>(work: (answered: Promise<void>) => Promise<T>): Promise<T> {
	const answered = createDeferred<void>();
	try {
		return await work(answered.promise);
	} finally {
		answered.resolve();
	}
}
