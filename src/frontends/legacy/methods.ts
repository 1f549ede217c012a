import type { TurnOutcome } from "../../api/values/event.ts";
import { KernelError } from "../../base/errors.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import { defineMethod, type MethodTable, type Respond } from "../../ports/rpc/methods.ts";
import type { DialectConnection, KernelApi } from "../shared/dialect.ts";
import { toThrown } from "../shared/error-numbers.ts";
import { EventPump } from "../shared/event-pump.ts";
import { project } from "./projection.ts";
import { legacyProtocol } from "./protocol.ts";
import type { InterruptResult, RunResult } from "./wire.ts";

const { methods: shapes } = legacyProtocol;

export class LegacyConnection implements DialectConnection {
	readonly #kernelApi: KernelApi;
	readonly #pump: EventPump;
	#attaching: Promise<void> | null = null;

	constructor(kernelApi: KernelApi, peer: Peer) {
		this.#kernelApi = kernelApi;
		this.#pump = new EventPump(kernelApi.session, peer, project, kernelApi.log);
	}

	readonly methods: MethodTable = new Map([
		["run", defineMethod({ ...shapes.run, handle: (input) => this.#run(input) })],
		["interrupt", defineMethod({ ...shapes.interrupt, handle: (_params, respond) => this.#interrupt(respond) })],
	]);

	abortPending(): void {
		// Its requests end with the turn.
	}

	drained(): Promise<void> {
		return this.#pump.drained();
	}

	async #run(input: string): Promise<RunResult> {
		const { session } = this.#kernelApi;
		this.#attaching ??= this.#attach().catch((thrown: unknown) => {
			this.#attaching = null;
			throw thrown;
		});
		await this.#attaching;
		const { ended } = await this.#pump.follow(async () => (await session.send({ type: "turn.start", input })).turnId);
		return toRunResult(await ended);
	}

	async #attach(): Promise<void> {
		this.#pump.carry(
			await this.#kernelApi.session.attach({
				client: null,
				tools: [],
				capabilities: [],
				hooks: null,
				expectsQuestions: true,
			}),
		);
	}

	async #interrupt(respond: Respond<InterruptResult>): Promise<InterruptResult> {
		const { session } = this.#kernelApi;
		// A run that arrived before has begun its turn then.
		await this.#attaching;
		const result = { status: "ok" } as const;
		try {
			await session.send({ type: "turn.cancel" });
		} catch (thrown) {
			if (thrown instanceof KernelError && thrown.code === "no-turn") return { status: "idle" };
			throw thrown;
		}
		respond(result);
		return result;
	}
}

function toRunResult(outcome: TurnOutcome): RunResult {
	switch (outcome.status) {
		case "finished":
		case "cancelled":
			return { status: outcome.status };
		case "truncated":
			// The protocol has no status for it: a text before the end of the turn says so.
			return { status: "finished" };
		case "max-steps":
			return { status: "max_steps_reached", steps: outcome.steps };
		case "failed":
			throw toThrown(outcome.error);
	}
}
