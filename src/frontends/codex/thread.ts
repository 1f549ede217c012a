import type { Attachment, SessionHandle } from "../../api/kernel.ts";
import type { ClientToolDeclaration } from "../../api/session-options.ts";
import type { SessionSnapshot } from "../../api/session-state.ts";
import type { UserInput } from "../../api/values/content.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import type { TurnStartOptions } from "../../api/values/turn-options.ts";
import { eachOf } from "../../base/collections.ts";
import { KernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import { EventPump, type Outgoing } from "../shared/event-pump.ts";
import { ThreadProjection, TurnCollector } from "./projection.ts";
import { toRequest } from "./requests.ts";
import type { ApprovalPolicy, SandboxMode } from "./wire.ts";
import type { Turn } from "./wire-items.ts";

export interface ThreadClient {
	readonly name: string;
	readonly version: string;
	/** Whether it supports requests marked as experimental: questions. */
	readonly isExperimental: boolean;
	readonly unwanted: ReadonlySet<string>;
}

export interface ThreadSettings {
	readonly tools: readonly ClientToolDeclaration[];
	readonly policy: ApprovalPolicy;
	readonly sandbox: SandboxMode;
}

export class AttachedThread {
	readonly handle: SessionHandle;
	readonly settings: ThreadSettings;
	/** The running turn's policy may differ from the thread's. */
	policy: ApprovalPolicy;
	readonly #attachment: Attachment;
	readonly #pump: EventPump;
	readonly #projection: ThreadProjection;
	readonly #client: ThreadClient;
	readonly #log: Log;

	private constructor(
		handle: SessionHandle,
		attachment: Attachment,
		settings: ThreadSettings,
		client: ThreadClient,
		peer: Peer,
		log: Log,
	) {
		const { session } = handle;
		this.handle = handle;
		this.settings = settings;
		this.policy = settings.policy;
		this.#attachment = attachment;
		this.#client = client;
		this.#log = log;
		const own = new Set(attachment.tools.accepted);
		this.#projection = new ThreadProjection(session.id, session.workDir, own);
		this.#pump = new EventPump(session, peer, (event) => this.#project(event), log);
	}

	/** Attaches the client, replacing its earlier attachment; notifications start with `begin`. */
	static async attach(
		handle: SessionHandle,
		settings: ThreadSettings,
		client: ThreadClient,
		peer: Peer,
		log: Log,
		earlier: AttachedThread | null,
	): Promise<AttachedThread> {
		const attachment = await handle.session.attach({
			client: { name: client.name, version: client.version },
			tools: settings.tools,
			capabilities: client.isExperimental ? ["questions"] : [],
			hooks: [],
			wantsProgress: true,
			...(earlier === null ? {} : { replaces: earlier.#attachment.id }),
		});
		const [refused] = attachment.tools.rejected;
		if (refused !== undefined) {
			attachment.close();
			throw new KernelError("invalid-input", `The tool ${refused.name} cannot be used: ${refused.reason}`);
		}
		return new AttachedThread(handle, attachment, settings, client, peer, log);
	}

	get snapshot(): SessionSnapshot {
		return this.#attachment.snapshot;
	}

	/** Returns the turns up to the attachment, where its notifications start. */
	async readHistory(): Promise<readonly Turn[]> {
		const { cursor, turnId } = this.#attachment.snapshot;
		const collector = new TurnCollector();
		for await (const event of eachOf(this.handle.session.events())) {
			if (event.seq !== undefined && event.seq > cursor.seq) break;
			collector.take(event, this.#projection);
		}
		return collector.turns(turnId);
	}

	begin(): void {
		this.#pump.carry(this.#attachment);
	}

	async startTurn(input: UserInput, options: TurnStartOptions, policy: ApprovalPolicy | null): Promise<Turn> {
		const earlier = this.policy;
		this.policy = policy ?? this.policy;
		try {
			const { turnId: id } = await this.handle.startTurn(input, options);
			return { id, status: "inProgress", items: [], error: null, startedAt: null, completedAt: null, durationMs: null };
		} catch (thrown) {
			this.policy = earlier;
			throw thrown;
		}
	}

	drained(): Promise<void> {
		return this.#pump.drained();
	}

	/** Detaches the client; the thread continues. */
	leave(): void {
		this.#pump.leave();
		this.#attachment.close();
		this.handle.release();
	}

	#project(event: AgentEvent): readonly Outgoing[] {
		const { body } = event;
		const notifications = this.#projection.take(event);
		if (body.type === "interaction.resolved") {
			const { id: threadId } = this.handle.session;
			const notice = (requestId: string) => ({ method: "serverRequest/resolved", params: { threadId, requestId } });
			return [{ kind: "settled", interactionId: body.interactionId, notice }];
		}
		if (body.type === "interaction.requested") return this.#ask(event);
		return notifications
			.filter(({ method }) => !this.#client.unwanted.has(method))
			.map(({ method, params }) => ({ kind: "notification", method, params }) as const);
	}

	#ask(event: AgentEvent): readonly Outgoing[] {
		const { body, at } = event;
		if (body.type !== "interaction.requested") return [];
		const { interaction } = body;
		const { session } = this.handle;
		if (interaction.kind === "approval" && this.policy === "never") {
			const isFull = this.settings.sandbox === "danger-full-access";
			const feedback = isFull ? "" : "Nobody is asked: the approval policy is never.";
			this.#run(
				session.send({
					type: "interaction.respond",
					interactionId: interaction.id,
					clientId: this.#attachment.id,
					answer: { kind: "approval", decision: isFull ? "approve" : "reject", feedback },
				}),
			);
			return [];
		}
		const request = toRequest(interaction, {
			threadId: session.id,
			turnId: event.turnId ?? "",
			workDir: session.workDir,
			at,
			cancelTurn: () => this.#run(session.send({ type: "turn.cancel" })),
		});
		return request === null ? [] : [request];
	}

	#run(work: Promise<unknown>): void {
		work.catch((thrown: unknown) => this.#log.error("A decision could not be delivered.", { error: thrown }));
	}
}
