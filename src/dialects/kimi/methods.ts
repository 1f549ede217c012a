// The methods of Kimi Wire, one row each (wire-protocol §2).
import type * as v from "valibot";
import { KernelError } from "../../base/errors.ts";
import type { UserInput } from "../../events/content.ts";
import type { TurnOutcome } from "../../events/event.ts";
import type { CheckedTools } from "../../kernel/client-tools.ts";
import type { Attachment, AttachOptions } from "../../kernel/session.ts";
import { isRequestType, type Message } from "../../messages/message.ts";
import { toStoredMessage } from "../../messages/record.ts";
import type { Peer } from "../../rpc/connection.ts";
import { defineMethod, type MethodTable, type Respond } from "../../rpc/methods.ts";
import type { Conversation, Door } from "../dialect.ts";
import { toThrown } from "../error-numbers.ts";
import { EventPump } from "../event-pump.ts";
import { project } from "./project.ts";
import {
	anyParamsSchema,
	type InitializeResult,
	initializeParamsSchema,
	inputParamsSchema,
	type PromptResult,
	protocolVersion,
	type ReplayResult,
	setPlanModeParamsSchema,
} from "./wire.ts";

const noTools: CheckedTools = { tools: new Map(), rejected: [] };

type InitializeParams = v.InferOutput<typeof initializeParamsSchema>;

export class KimiConversation implements Conversation {
	readonly #door: Door;
	readonly #peer: Peer;
	readonly #pump: EventPump;
	/** Tools accepted so far; a repeated `initialize` adds to them and replaces those of the same name. */
	#tools: CheckedTools = noTools;
	#client: AttachOptions["client"] = null;
	#attachment: Attachment | null = null;
	/** Set while a handshake is made: what is sent behind `initialize` waits for it, in the order of its coming. */
	#initializing: Promise<void> | null = null;
	/** Whether a prompt has no response yet: its turn is not over for the client before that. */
	#isPrompting = false;
	#replay: AbortController | null = null;

	constructor(door: Door, peer: Peer) {
		this.#door = door;
		this.#peer = peer;
		this.#pump = new EventPump(door.session, peer, project, door.log);
	}

	readonly methods: MethodTable = new Map([
		[
			"initialize",
			defineMethod({ params: initializeParamsSchema, handle: (params, respond) => this.#initialize(params, respond) }),
		],
		["prompt", defineMethod({ params: inputParamsSchema, handle: ({ user_input }) => this.#prompt(user_input) })],
		["steer", defineMethod({ params: inputParamsSchema, handle: ({ user_input }) => this.#steer(user_input) })],
		["replay", defineMethod({ params: anyParamsSchema, handle: () => this.#replayLog() })],
		["set_plan_mode", defineMethod({ params: setPlanModeParamsSchema, handle: () => this.#setPlanMode() })],
		["cancel", defineMethod({ params: anyParamsSchema, handle: (_params, respond) => this.#cancel(respond) })],
	]);

	hurry(): void {
		this.#replay?.abort();
	}

	drained(): Promise<void> {
		return this.#pump.drained();
	}

	async #initialize(params: InitializeParams, respond: Respond): Promise<void> {
		if (this.#initializing !== null) await this.#initialized();
		this.#refuseWhenBusy();
		const taking = this.#takeUp(params, respond);
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

	async #takeUp(params: InitializeParams, respond: Respond): Promise<void> {
		const declared = params.external_tools ?? [];
		const checked = declared.length === 0 ? noTools : await this.#door.session.checkTools(declared);
		this.#tools = { tools: new Map([...this.#tools.tools, ...checked.tools]), rejected: checked.rejected };
		this.#client = params.client ?? this.#client;
		const attachment = this.#attach();
		respond(this.#handshake(checked));
		// Behind the response: nothing may precede it, and what is still open is asked again right after it.
		this.#pump.carry(attachment);
	}

	#handshake({ tools, rejected }: CheckedTools): InitializeResult {
		const handshake = { protocol_version: protocolVersion, server: this.#door.server, slash_commands: [] };
		if (tools.size === 0 && rejected.length === 0) return handshake;
		return { ...handshake, external_tools: { accepted: [...tools.keys()], rejected } };
	}

	async #prompt(input: UserInput): Promise<PromptResult> {
		if (this.#initializing !== null) await this.#initialized();
		this.#refuseWhenBusy();
		if (this.#attachment === null) this.#pump.carry(this.#attach());
		this.#isPrompting = true;
		try {
			const { turnId } = await this.#door.session.send({ type: "turn.start", input });
			return toPromptResult(await this.#pump.turnEnded(turnId));
		} finally {
			this.#isPrompting = false;
		}
	}

	async #steer(input: UserInput): Promise<{ readonly status: "steered" }> {
		if (this.#initializing !== null) await this.#initialized();
		await this.#door.session.send({ type: "turn.steer", input });
		return { status: "steered" };
	}

	async #setPlanMode(): Promise<never> {
		throw new KernelError("unsupported", "Plan mode is not supported");
	}

	async #cancel(respond: Respond): Promise<void> {
		if (this.#initializing !== null) await this.#initialized();
		if (this.#replay !== null) {
			respond({});
			this.#replay.abort();
			return;
		}
		// The answer goes out before anything the cancel causes (wire-protocol §1.6).
		if (this.#door.session.snapshot().turnId !== null) respond({});
		await this.#door.session.send({ type: "turn.cancel" });
	}

	/** Sends the session's log again; replies to replayed requests are ignored (wire-protocol §2.6). */
	async #replayLog(): Promise<ReplayResult> {
		if (this.#initializing !== null) await this.#initialized();
		this.#refuseWhenBusy();
		const replay = new AbortController();
		this.#replay = replay;
		const counts = { events: 0, requests: 0 };
		try {
			for await (const event of this.#door.session.records()) {
				if (replay.signal.aborted) break;
				const message = toStoredMessage(event);
				if (message === null) continue;
				const id = requestId(message);
				if (id === null) {
					this.#peer.notify("event", message);
					counts.events += 1;
				} else {
					this.#peer.callUnanswered(id, "request", message);
					counts.requests += 1;
				}
				await this.#peer.ready();
			}
			return { status: replay.signal.aborted ? "cancelled" : "finished", ...counts };
		} finally {
			this.#replay = null;
		}
	}

	#attach(): Attachment {
		const attachment = this.#door.session.attach({ client: this.#client, tools: this.#tools.tools });
		this.#attachment?.close();
		this.#attachment = attachment;
		return attachment;
	}

	#refuseWhenBusy(): void {
		if (this.#replay === null && !this.#isPrompting && this.#door.session.snapshot().turnId === null) return;
		throw new KernelError("busy", "An agent turn is already in progress");
	}
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
