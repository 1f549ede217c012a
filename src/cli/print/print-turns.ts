// The turns of a print run: starts them one after another as the session's client, and forwards their events.

import type { SessionApi } from "../../api/kernel.ts";
import type { AttachOptions } from "../../api/session-options.ts";
import type { UserInput } from "../../api/values/content.ts";
import type { AgentEvent, TurnOutcome } from "../../api/values/event.ts";
import type { Answer, Interaction, InteractionFailure } from "../../api/values/interaction.ts";
import type { TurnOptions } from "../../api/values/turn-options.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { toKernelError } from "../../base/errors.ts";

export interface TurnStart {
	/** Whether the program wrote the input itself; absent for false. */
	readonly isOwn?: boolean;
	readonly options?: TurnOptions;
}

export interface Turns {
	/** Runs one turn; resolves after its end was forwarded. Call it only while no turn runs. */
	run(input: UserInput, start?: TurnStart): Promise<TurnOutcome>;
	close(): Promise<void>;
}

/** The requests that the client running the turns can answer. */
export type TurnsClient = Pick<AttachOptions, "capabilities" | "approves">;

/** Unattended sessions answer by themselves: the model gets such tools only if a client can be asked. */
const answersItself: TurnsClient = { capabilities: ["questions", "plan-mode"] };

/** Answers requests that still arrive, such as after `/afk`. Feedback lets the model continue. */
function answerFor(interaction: Interaction): Answer | InteractionFailure {
	const message = "Nobody is there to be asked: the program runs in print mode.";
	if (interaction.kind === "approval") return { kind: "approval", decision: "reject", feedback: message };
	return { kind: "error-reply", message };
}

export function createTurns(
	session: SessionApi,
	take: (event: AgentEvent) => void,
	ready: () => Promise<void>,
	client: TurnsClient = answersItself,
): Turns {
	const attaching = session.attach({ client: null, tools: [], hooks: null, ...client });
	let current: Deferred<TurnOutcome> | null = null;

	const pump = async (): Promise<void> => {
		const attachment = await attaching;
		for await (const batch of attachment.events) {
			for (const event of batch) {
				take(event);
				const { body, agentPath } = event;
				if (body.type === "interaction.requested") {
					const { interaction } = body;
					await session.send({
						type: "interaction.respond",
						interactionId: interaction.id,
						clientId: attachment.id,
						answer: answerFor(interaction),
					});
				}
				if (body.type === "turn.ended" && agentPath.length === 0 && body.outcome !== null)
					current?.resolve(body.outcome);
			}
			await ready();
		}
	};
	/** Settles a turn that can no longer end; null while it can. */
	let over: ((turn: Deferred<TurnOutcome>) => void) | null = null;
	const settleWith = (settle: (turn: Deferred<TurnOutcome>) => void): void => {
		over = settle;
		if (current !== null) settle(current);
	};
	// A stopping session emits the end of its last turn first, and then no further one.
	pump().then(
		() => settleWith((turn) => turn.resolve({ status: "cancelled" })),
		(thrown: unknown) => settleWith((turn) => turn.reject(thrown)),
	);

	return {
		close: async () => (await attaching).close(),
		async run(input, { isOwn = false, options = {} } = {}) {
			const turn = createDeferred<TurnOutcome>();
			// A turn that does not start is not awaited.
			turn.promise.catch(() => {});
			current = turn;
			await attaching;
			try {
				await session.send({ type: "turn.start", input, isOwn, options });
			} catch (thrown) {
				const { code, message, data } = toKernelError(thrown);
				if (code === "closed") throw thrown;
				return { status: "failed", error: { code, message, data } };
			}
			over?.(turn);
			return await turn.promise;
		},
	};
}
