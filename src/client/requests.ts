import { Approval, type Ask, Question, type Settled } from "./asks.ts";
import { messageOf, PeerGone, Refused } from "./errors.ts";
import type {
	HookResolvedEvent,
	InteractionRequestedEvent,
	InteractionRespondParams,
	PublicEvent,
	SessionAttachParams,
} from "./protocol-types.ts";
import { callTool, type Tool } from "./tools.ts";

export type HookEvent = NonNullable<SessionAttachParams["hooks"]>[number]["event"];

/** A hook decided by this program, such as one before each tool call. */
export interface Hook {
	readonly event: HookEvent;
	/** A regular expression searched in the event's target, such as the tool name; absent for all. */
	readonly matcher?: string;
	/** Seconds; default 30. A late hook allows. */
	readonly timeout?: number;
	/** Returns nothing to allow, or why it blocks. */
	run(input: Readonly<Record<string, unknown>>, target: string): HookDecision | Promise<HookDecision>;
}

/** Nothing allows; a reason, which the model reads, blocks. */
export type HookDecision = undefined | null | { readonly block: string };

export interface SessionCallbacks {
	/** Decides approvals; a throw rejects the call with its message. Without it they wait: see `waiting`. */
	approve?(ask: Approval): unknown;
	/** Answers questions; a throw dismisses them. Without it they wait. */
	question?(ask: Question): unknown;
	readonly tools?: readonly Tool[];
	readonly hooks?: readonly Hook[];
	/** Receives all events of the session, also between turns. */
	onEvent?(event: PublicEvent): void;
}

export interface RequestsParts {
	readonly sessionId: string;
	readonly callbacks: SessionCallbacks;
	/** The id of the current attachment. */
	clientId(): string | undefined;
	respond(interactionId: string, answer: InteractionRespondParams["answer"]): Promise<Settled>;
}

export class Requests {
	readonly #parts: RequestsParts;
	readonly #tools: ReadonlyMap<string, Tool>;
	readonly #hooks: ReadonlyMap<string, Hook>;
	readonly #asks = new Map<string, Ask>();
	/** Started requests by id, because a new attachment shows them again. */
	readonly #handled = new Map<string, AbortController>();

	constructor(parts: RequestsParts) {
		this.#parts = parts;
		const { tools = [], hooks = [] } = parts.callbacks;
		this.#tools = new Map(tools.map((each) => [each.name, each]));
		this.#hooks = new Map(hooks.map((each, index) => [`hook-${index + 1}`, each]));
	}

	offers(): Required<Pick<SessionAttachParams, "tools" | "hooks">> {
		return {
			tools: [...this.#tools.values()].map(({ name, description, parameters }) => ({ name, description, parameters })),
			hooks: [...this.#hooks].map(([id, { event, matcher, timeout }]) => ({
				id,
				event,
				...(matcher === undefined ? {} : { matcher }),
				...(timeout === undefined ? {} : { timeout }),
			})),
		};
	}

	/** Nobody waits for this answer anymore. */
	settle(interactionId: string): void {
		this.#asks.delete(interactionId);
		this.#handled.get(interactionId)?.abort();
		this.#handled.delete(interactionId);
	}

	close(): void {
		for (const controller of this.#handled.values()) controller.abort();
	}

	take(event: InteractionRequestedEvent): void {
		const { interaction } = event;
		const { id } = interaction;
		if (this.#handled.has(id)) return;
		const controller = new AbortController();
		this.#handled.set(id, controller);
		const context = { signal: controller.signal, sessionId: this.#parts.sessionId };
		switch (interaction.kind) {
			case "approval":
			case "question": {
				const ask = this.toAsk(event);
				if (ask !== null) void this.#callBack(ask);
				return;
			}
			case "client-tool": {
				const called = this.#tools.get(interaction.name);
				if (called === undefined) return;
				void callTool(called, interaction.arguments, { ...context, callId: interaction.toolCallId })
					.then(({ isError, output }) =>
						this.#parts.respond(id, {
							kind: "client-tool",
							result: { is_error: isError, output: isError ? "" : output, message: isError ? output : "", display: [] },
						}),
					)
					.catch(ignoreUnanswered);
				return;
			}
			case "hook": {
				const hook = this.#hooks.get(interaction.subscriptionId);
				if (hook === undefined || interaction.clientId !== this.#parts.clientId()) return;
				void this.#decide(hook, interaction)
					.then((decision) => this.#parts.respond(id, { kind: "hook", ...decision }))
					.catch(ignoreUnanswered);
			}
		}
	}

	async #decide(
		hook: Hook,
		{ input, target }: { readonly input: Readonly<Record<string, unknown>>; readonly target: string },
	): Promise<Pick<HookResolvedEvent, "action" | "reason">> {
		try {
			const decision = await hook.run(input, target);
			if (decision?.block === undefined) return { action: "allow", reason: "" };
			return { action: "block", reason: decision.block };
		} catch (thrown) {
			// A failing hook must not let the call through.
			return { action: "block", reason: `The hook failed: ${messageOf(thrown)}` };
		}
	}

	async #callBack(ask: Ask): Promise<void> {
		const { approve, question } = this.#parts.callbacks;
		try {
			if (ask.kind === "approval") await approve?.(ask);
			else await question?.(ask);
		} catch (thrown) {
			const answered = ask.kind === "approval" ? ask.reject(messageOf(thrown)) : ask.dismiss();
			await answered.catch(() => {});
		}
	}

	/** The approval or question of an event, the same object each time. */
	toAsk(event: PublicEvent): Ask | null {
		if (event.type !== "interaction.requested") return null;
		const { interaction } = event;
		const known = this.#asks.get(interaction.id);
		if (known !== undefined) return known;
		const respond = (answer: InteractionRespondParams["answer"]) => this.#parts.respond(interaction.id, answer);
		if (interaction.kind === "approval") return this.#keep(new Approval(interaction, respond));
		if (interaction.kind === "question") return this.#keep(new Question(interaction, respond));
		return null;
	}

	#keep(ask: Ask): Ask {
		this.#asks.set(ask.id, ask);
		return ask;
	}
}

/** The session is gone, or nobody waits for the answer anymore. */
function ignoreUnanswered(thrown: unknown): void {
	if (!(thrown instanceof PeerGone || thrown instanceof Refused)) throw thrown;
}
