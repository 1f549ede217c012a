// The methods of Kimi Wire, one row each (wire-protocol §2).
import { unlessAborted } from "../../base/abort.ts";
import { KernelError } from "../../base/errors.ts";
import { inputText, type UserInput } from "../../events/content.ts";
import type { TurnOutcome } from "../../events/event.ts";
import { hookEvents } from "../../events/hook-event.ts";
import { readSideQuestion } from "../../events/slash-command.ts";
import type { Attachment, AttachOptions, CheckedTools, ClientToolDeclaration } from "../../kernel/api.ts";
import type { Message } from "../../messages/message.ts";
import { isRequestType } from "../../messages/message-names.ts";
import { protocolVersion } from "../../messages/protocol-version.ts";
import type { Peer } from "../../rpc/connection.ts";
import { defineMethod, type MethodTable, type Respond } from "../../rpc/methods.ts";
import type { DialectConnection, KernelApi } from "../dialect.ts";
import { toThrown } from "../error-numbers.ts";
import { EventPump } from "../event-pump.ts";
import { type Audience, toDelivered } from "./older-clients.ts";
import { project } from "./projection.ts";
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

const noTools: CheckedTools = { tools: new Map(), rejected: [] };

export class KimiConnection implements DialectConnection {
	readonly #kernelApi: KernelApi;
	readonly #peer: Peer;
	readonly #pump: EventPump;
	/** Tools accepted so far; a repeated `initialize` adds to them and replaces those of the same name. */
	#tools: CheckedTools["tools"] = noTools.tools;
	/** Their declarations by name. They are checked again with those of a repeated `initialize`: the bounds apply to all. */
	#declared: ReadonlyMap<string, ClientToolDeclaration> = new Map();
	#client: AttachOptions["client"] = null;
	#capabilities: AttachOptions["capabilities"] = [];
	#audience: Audience;
	/** Null before the first handshake: hooks of the settings then run without events. */
	#hooks: AttachOptions["hooks"] = null;
	#attachment: Attachment | null = null;
	/** Set during a handshake: requests after `initialize` wait for it, in the order in which they arrived. */
	#initializing: Promise<void> | null = null;
	/** Whether a prompt is unanswered: its turn has not ended for the client before the response. */
	#isPrompting = false;
	#replay: AbortController | null = null;

	constructor(kernelApi: KernelApi, peer: Peer) {
		this.#kernelApi = kernelApi;
		this.#peer = peer;
		this.#audience = { ...kernelApi.compatibility, declared: null };
		this.#pump = new EventPump(kernelApi.session, peer, (event) => project(event, this.#audience), kernelApi.log);
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

	async #initialize(params: InitializeParams, respond: Respond<InitializeResult>): Promise<void> {
		if (this.#initializing !== null) await this.#initialized();
		this.#refuseWhenBusy();
		const taking = this.#resume(params, respond);
		const over = taking
			.catch(() => {})
			.then(() => {
				this.#initializing = null;
			});
		this.#initializing = over;
		await taking;
	}

	/** Waits for the handshakes before this request. */
	async #initialized(): Promise<void> {
		while (this.#initializing !== null) await this.#initializing;
	}

	async #resume(params: InitializeParams, respond: Respond<InitializeResult>): Promise<void> {
		const checked = await this.#checkTools(params.external_tools ?? []);
		this.#audience = { ...this.#audience, declared: params.protocol_version };
		this.#client = params.client ?? this.#client;
		this.#capabilities = params.capabilities === null ? this.#capabilities : toCapabilities(params.capabilities);
		this.#hooks = (params.hooks ?? []).flatMap(toClientHook);
		const attachment = this.#attach();
		respond(this.#handshake(checked));
		// After the response: nothing may precede it, and open interactions are requested again right after it.
		this.#pump.carry(attachment);
	}

	/** Adds the tools to those accepted so far; returns the result for these alone. */
	async #checkTools(declared: readonly ClientToolDeclaration[]): Promise<CheckedTools> {
		if (declared.length === 0) return noTools;
		const names = new Set(declared.map(({ name }) => name));
		const earlier = [...this.#declared.values()].filter(({ name }) => !names.has(name));
		const all = [...earlier, ...declared];
		const { tools, rejected } = await this.#kernelApi.session.checkTools(all);
		this.#tools = tools;
		this.#declared = new Map(all.flatMap((one) => (tools.has(one.name) ? [[one.name, one]] : [])));
		return { tools: new Map([...tools].filter(([name]) => names.has(name))), rejected };
	}

	#handshake({ tools, rejected }: CheckedTools): InitializeResult {
		const hasTools = tools.size > 0 || rejected.length > 0;
		return {
			protocol_version: protocolVersion,
			server: this.#kernelApi.server,
			slash_commands: this.#kernelApi.session.slashCommands,
			...(hasTools ? { external_tools: { accepted: [...tools.keys()], rejected } } : {}),
			hooks: {
				supported_events: hookEvents,
				configured: countByEvent([...this.#kernelApi.session.commandHooks, ...(this.#hooks ?? [])]),
			},
			capabilities: { supports_question: true },
		};
	}

	async #prompt(input: UserInput): Promise<PromptResult> {
		if (this.#initializing !== null) await this.#initialized();
		// The one prompt that is never refused as busy: without a running turn it gets one of its own.
		const question = this.#isBusy() ? readSideQuestion(inputText(input)) : null;
		if (question !== null) return await this.#askAside(question);
		this.#refuseWhenBusy();
		if (this.#attachment === null) this.#pump.carry(this.#attach());
		this.#isPrompting = true;
		try {
			const { turnId } = await this.#kernelApi.session.send({ type: "turn.start", input });
			return toPromptResult(await this.#pump.turnEnded(turnId));
		} finally {
			this.#isPrompting = false;
		}
	}

	/** Concurrently with the running turn, without effect on it. */
	async #askAside(question: string): Promise<PromptResult> {
		if (this.#attachment === null) this.#pump.carry(this.#attach());
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
		// This client gets the event as well, even if it made no handshake.
		if (this.#attachment === null) this.#pump.carry(this.#attach());
		const { planMode } = await this.#kernelApi.session.send({ type: "plan-mode.set", enabled });
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
		// The response precedes everything that the cancel causes (wire-protocol §1.6).
		if (this.#kernelApi.session.snapshot().turnId !== null) respond({});
		await this.#kernelApi.session.send({ type: "turn.cancel" });
	}

	/** The answer to an approval that was sent to this client. */
	#takeEvent(payload: ClientEvent["payload"]): void {
		this.#pump.answer(payload.request_id, payload, "approval");
	}

	/** Sends the session's log again; replies to replayed requests are ignored (wire-protocol §2.6). */
	async #replayLog(): Promise<ReplayResult> {
		if (this.#initializing !== null) await this.#initialized();
		this.#refuseWhenBusy();
		const replay = new AbortController();
		this.#replay = replay;
		const counts = { events: 0, requests: 0 };
		const records = this.#kernelApi.session.records()[Symbol.asyncIterator]();
		try {
			// A log that takes long to be read, and a client that does not read, must not hold up the abort.
			for (;;) {
				const next = await unlessAborted(records.next(), replay.signal);
				if (next === null || next.done === true) break;
				const message = toDelivered(next.value, this.#audience);
				if (message === null) continue;
				const id = requestId(message);
				if (id === null) {
					this.#peer.notify("event", message);
					counts.events += 1;
				} else {
					this.#peer.callUnanswered(id, "request", message);
					counts.requests += 1;
				}
				await unlessAborted(this.#peer.ready(), replay.signal);
			}
			return { status: replay.signal.aborted ? "cancelled" : "finished", ...counts };
		} finally {
			this.#replay = null;
			// Not waited for: it takes as long as the read under way.
			void records.return?.();
		}
	}

	#attach(): Attachment {
		const attachment = this.#kernelApi.session.attach({
			client: this.#client,
			tools: this.#tools,
			capabilities: this.#capabilities,
			hooks: this.#hooks,
		});
		this.#attachment?.close();
		this.#attachment = attachment;
		return attachment;
	}

	#isBusy(): boolean {
		return this.#replay !== null || this.#isPrompting || this.#kernelApi.session.snapshot().turnId !== null;
	}

	#refuseWhenBusy(): void {
		if (this.#isBusy()) throw new KernelError("busy", "An agent turn is already in progress");
	}
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
		case "max-steps":
			return { status: "max_steps_reached", steps: outcome.steps };
		case "failed":
			throw toThrown(outcome.error);
	}
}

/** The JSON-RPC id of a replayed request: the id in its payload. Null for events. */
function requestId({ type, payload }: Message): string | null {
	return isRequestType(type) && "id" in payload && typeof payload.id === "string" ? payload.id : null;
}
