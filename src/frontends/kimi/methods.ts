import type { Attachment } from "../../api/kernel.ts";
import type { AttachOptions, ClientToolDeclaration } from "../../api/session-options.ts";
import type { SessionDescription } from "../../api/session-state.ts";
import { inputText, type UserInput } from "../../api/values/content.ts";
import type { AgentEvent, TurnOutcome } from "../../api/values/event.ts";
import { hookEvents } from "../../api/values/hooks/hook-event.ts";
import { readSideQuestion } from "../../api/values/slash-command.ts";
import { createAbortableWaits } from "../../base/abort.ts";
import { KernelError } from "../../base/errors.ts";
import type { Message } from "../../formats/message.ts";
import { isRequestType } from "../../formats/message-names.ts";
import { protocolVersion } from "../../formats/protocol-version.ts";
import { isRecorded } from "../../formats/record.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import { defineMethod, type MethodTable, type Respond } from "../../ports/rpc/methods.ts";
import type { KernelApi, SharedConnection } from "../shared/dialect.ts";
import { toThrown } from "../shared/error-numbers.ts";
import { EventPump, type Project } from "../shared/event-pump.ts";
import { createDeltaLines, type DeltaLines } from "./delta-lines.ts";
import { type Audience, toDelivered } from "./older-clients.ts";
import { project, withTruncationNote } from "./projection.ts";
import { kimiProtocol } from "./protocol.ts";
import type {
	ClientEvent,
	InitializeParams,
	InitializeResult,
	PromptResult,
	ReplayResult,
	SetPlanModeResult,
	SteerResult,
} from "./wire.ts";

const { methods: shapes } = kimiProtocol;

const noTools: Attachment["tools"] = { accepted: [], rejected: [] };

export class KimiConnection implements SharedConnection {
	readonly #kernelApi: KernelApi;
	readonly #peer: Peer;
	readonly #pump: EventPump;
	/** A repeated `initialize` adds to them and replaces equal names; limits apply to the total. */
	#tools: readonly ClientToolDeclaration[] = [];
	#client: AttachOptions["client"] = null;
	#capabilities: AttachOptions["capabilities"] = [];
	#audience: Audience;
	#deltaLines: DeltaLines;
	#hooks: AttachOptions["hooks"] = null;
	#attachment: Attachment | null = null;
	/** Set during a handshake or while a client without one is attached: later requests wait, in order. */
	#initializing: Promise<void> | null = null;
	/** Whether a prompt is unanswered: for the client, its turn ends with the response. */
	#isPrompting = false;
	#replay: AbortController | null = null;
	#isGone = false;

	constructor(kernelApi: KernelApi, peer: Peer) {
		this.#kernelApi = kernelApi;
		this.#peer = peer;
		this.#audience = { ...kernelApi.compatibility, declared: null };
		this.#deltaLines = createDeltaLines(this.#audience);
		const toOutgoing: Project = (event) => this.#deltaLines(event) ?? project(event, this.#audience);
		this.#pump = new EventPump(kernelApi.session, peer, toOutgoing, kernelApi.log);
	}

	readonly methods: MethodTable = new Map([
		[
			"initialize",
			defineMethod({ ...shapes.initialize, handle: (params, respond) => this.#initialize(params, respond) }),
		],
		["prompt", defineMethod({ ...shapes.prompt, handle: ({ user_input }) => this.#prompt(user_input) })],
		["steer", defineMethod({ ...shapes.steer, handle: ({ user_input }) => this.#steer(user_input) })],
		["replay", defineMethod({ ...shapes.replay, handle: () => this.#replayLog() })],
		["set_plan_mode", defineMethod({ ...shapes.set_plan_mode, handle: ({ enabled }) => this.#setPlanMode(enabled) })],
		["cancel", defineMethod({ ...shapes.cancel, handle: (_params, respond) => this.#cancel(respond) })],
		["event", defineMethod({ ...shapes.event, handle: async ({ payload }) => this.#takeEvent(payload) })],
	]);

	abortPending(): void {
		this.#replay?.abort();
	}

	drained(): Promise<void> {
		return this.#pump.drained();
	}

	leave(): void {
		this.#isGone = true;
		this.#replay?.abort();
		this.#attachment?.close();
	}

	async #initialize(params: InitializeParams, respond: Respond<InitializeResult>): Promise<void> {
		if (this.#initializing !== null) await this.#initialized();
		await this.#holdRequests(this.#resume(params, respond));
	}

	async #holdRequests<T>(work: Promise<T>): Promise<T> {
		const over = work
			.catch(() => {})
			.then(() => {
				this.#initializing = null;
			});
		this.#initializing = over;
		return await work;
	}

	/** Does the work for an attached client; attaches one without a handshake first. */
	#whileAttached<T>(work: () => Promise<T>): Promise<T> {
		if (this.#attachment !== null) return work();
		const attachFirst = async () => {
			this.#pump.carry(await this.#attach([]));
			return await work();
		};
		return this.#holdRequests(attachFirst());
	}

	/** Waits for the handshakes before this request. */
	async #initialized(): Promise<void> {
		while (this.#initializing !== null) await this.#initializing;
	}

	async #resume(params: InitializeParams, respond: Respond<InitializeResult>): Promise<void> {
		await this.#refuseWhenBusy();
		const { session } = this.#kernelApi;
		const declared = params.external_tools ?? [];
		const description = await session.send({ type: "session.describe" });
		this.#audience = { ...this.#audience, declared: params.protocol_version };
		this.#deltaLines = createDeltaLines(this.#audience);
		this.#client = params.client ?? this.#client;
		this.#capabilities = params.capabilities === null ? this.#capabilities : toCapabilities(params.capabilities);
		this.#hooks = (params.hooks ?? []).flatMap(toClientHook);
		const attachment = await this.#attach(declared);
		respond(this.#handshake(declared.length === 0 ? noTools : ofNames(attachment.tools, declared), description));
		// After the response: nothing may precede it, and open interactions are requested again right after it.
		this.#pump.carry(attachment);
	}

	#handshake({ accepted, rejected }: Attachment["tools"], description: SessionDescription): InitializeResult {
		const { slashCommands, commandHooks, sandbox } = description;
		const hasTools = accepted.length > 0 || rejected.length > 0;
		return {
			protocol_version: protocolVersion,
			server: this.#kernelApi.server,
			slash_commands: slashCommands,
			...(hasTools ? { external_tools: { accepted, rejected } } : {}),
			hooks: {
				supported_events: hookEvents,
				configured: countByEvent([...commandHooks, ...(this.#hooks ?? [])]),
			},
			capabilities: { supports_question: true },
			...(sandbox === null ? {} : { sandbox: { ...sandbox } }),
		};
	}

	async #prompt(input: UserInput): Promise<PromptResult> {
		if (this.#initializing !== null) await this.#initialized();
		const { turnId, ended } = await this.#pump.follow(() => this.#whileAttached(() => this.#startTurn(input)));
		// The only prompt that is never refused as busy; without a running turn it gets its own.
		const question = turnId === null ? readSideQuestion(inputText(input)) : null;
		if (question !== null) return await this.#askAside(question);
		if (turnId === null) throw busy();
		try {
			return toPromptResult(await ended);
		} finally {
			this.#isPrompting = false;
		}
	}

	/** Null if the session is busy; for this client also until it has the response to its last prompt. */
	async #startTurn(input: UserInput): Promise<string | null> {
		if (this.#replay !== null || this.#isPrompting) return null;
		this.#isPrompting = true;
		try {
			const { turnId } = await this.#kernelApi.session.send({ type: "turn.start", input });
			return turnId;
		} catch (thrown) {
			this.#isPrompting = false;
			// The error of a session that is busy in another process names that process.
			if (thrown instanceof KernelError && thrown.code === "busy" && thrown.data === null) return null;
			throw thrown;
		}
	}

	/** Concurrently with the running turn, without effect on it. */
	async #askAside(question: string): Promise<PromptResult> {
		const { id } = await this.#kernelApi.session.send({ type: "side-question.start", question });
		await this.#pump.sideQuestionEnded(id);
		return { status: "finished" };
	}

	async #steer(input: UserInput): Promise<SteerResult> {
		if (this.#initializing !== null) await this.#initialized();
		await this.#kernelApi.session.send({ type: "turn.steer", input });
		return { status: "steered" };
	}

	async #setPlanMode(enabled: boolean): Promise<SetPlanModeResult> {
		if (this.#initializing !== null) await this.#initialized();
		// This client also gets the event, even without a handshake.
		const { planMode } = await this.#whileAttached(() =>
			this.#kernelApi.session.send({ type: "plan-mode.set", enabled }),
		);
		// The response follows the event (wire-protocol §2.5).
		await this.#attachment?.drained();
		return { status: "ok", plan_mode: planMode };
	}

	async #cancel(respond: Respond<object>): Promise<void> {
		if (this.#initializing !== null) await this.#initialized();
		if (this.#replay !== null) {
			respond({});
			this.#replay.abort();
			return;
		}
		await this.#kernelApi.session.send({ type: "turn.cancel" });
		// The response precedes all effects of the cancel, which take writes (wire-protocol §1.6).
		respond({});
	}

	#takeEvent(payload: ClientEvent["payload"]): void {
		this.#pump.answer(payload.request_id, payload, "approval");
	}

	/** Sends the session's log again; replies to replayed requests are ignored (wire-protocol §2.6). */
	async #replayLog(): Promise<ReplayResult> {
		if (this.#initializing !== null) await this.#initialized();
		const replay = new AbortController();
		const begin = async () => {
			await this.#refuseWhenBusy();
			this.#replay = replay;
		};
		await this.#holdRequests(begin());
		const counts = { events: 0, requests: 0 };
		const records = this.#kernelApi.session.events()[Symbol.asyncIterator]();
		const waits = createAbortableWaits(replay.signal);
		try {
			// A slow log or a client that does not read must not delay the abort.
			for (;;) {
				const next = await waits.until(records.next());
				if (next === null || next.done === true) break;
				for (const event of next.value) {
					for (const each of withTruncationNote(event)) this.#replayEvent(each, counts);
					if (this.#peer.isFull()) await waits.until(this.#peer.ready());
					if (replay.signal.aborted) break;
				}
			}
			return { status: replay.signal.aborted ? "cancelled" : "finished", ...counts };
		} finally {
			this.#replay = null;
			waits.end();
			// Not awaited: it takes as long as the current read.
			void records.return?.();
		}
	}

	#replayEvent(event: AgentEvent, counts: { events: number; requests: number }): void {
		// The journal contains more than the Kimi Wire log, which a replay shows (wire-protocol §8.2).
		if (event.isFromLog !== true && !isRecorded(event)) return;
		const message = toDelivered(event, this.#audience);
		if (message === null) return;
		const id = requestId(message);
		if (id === null) {
			this.#peer.notify("event", message);
			counts.events += 1;
		} else {
			this.#peer.callUnanswered(id, "request", message);
			counts.requests += 1;
		}
	}

	async #attach(declared: readonly ClientToolDeclaration[]): Promise<Attachment> {
		const names = new Set(declared.map(({ name }) => name));
		const tools = [...this.#tools.filter(({ name }) => !names.has(name)), ...declared];
		const attachment = await this.#kernelApi.session.attach({
			client: this.#client,
			tools,
			capabilities: this.#capabilities,
			hooks: this.#hooks,
			expectsQuestions: true,
			...(this.#attachment === null ? {} : { replaces: this.#attachment.id }),
		});
		const accepted = new Set(attachment.tools.accepted);
		this.#tools = tools.filter(({ name }) => accepted.has(name));
		this.#attachment = attachment;
		if (this.#isGone) attachment.close();
		return attachment;
	}

	async #refuseWhenBusy(): Promise<void> {
		if (this.#replay !== null || this.#isPrompting) throw busy();
		if ((await this.#kernelApi.session.snapshot()).turnId !== null) throw busy();
	}
}

function busy(): KernelError {
	return new KernelError("busy", "An agent turn is already in progress");
}

function ofNames(
	{ accepted, rejected }: Attachment["tools"],
	declared: readonly ClientToolDeclaration[],
): Attachment["tools"] {
	const names = new Set(declared.map(({ name }) => name));
	return { accepted: accepted.filter((name) => names.has(name)), rejected };
}

function toCapabilities(declared: NonNullable<InitializeParams["capabilities"]>): AttachOptions["capabilities"] {
	const { supports_question, supports_plan_mode } = declared;
	return [
		...(supports_question ? (["questions"] as const) : []),
		...(supports_plan_mode ? (["plan-mode"] as const) : []),
	];
}

/** Subscriptions to unknown events are dropped silently. */
function toClientHook({
	id,
	event,
	matcher,
	timeout,
}: NonNullable<InitializeParams["hooks"]>[number]): NonNullable<AttachOptions["hooks"]> {
	const known = hookEvents.find((name) => name === event);
	return known === undefined ? [] : [{ kind: "client", event: known, matcher, timeout, subscriptionId: id }];
}

function countByEvent(hooks: readonly { readonly event: string }[]): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { event } of hooks) counts[event] = (counts[event] ?? 0) + 1;
	return counts;
}

function toPromptResult(outcome: TurnOutcome): PromptResult {
	switch (outcome.status) {
		case "finished":
		case "cancelled":
			return { status: outcome.status };
		case "truncated":
			// The protocol has no status for it; a text before the end of the turn says so.
			return { status: "finished" };
		case "max-steps":
			return { status: "max_steps_reached", steps: outcome.steps };
		case "failed":
			throw toThrown(outcome.error);
	}
}

/** The JSON-RPC id of a replayed request, which is the id in its payload. Null for events. */
function requestId({ type, payload }: Message): string | null {
	return isRequestType(type) && "id" in payload && typeof payload.id === "string" ? payload.id : null;
}
