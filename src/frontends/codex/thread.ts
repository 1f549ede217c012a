import type { Attachment, SessionHandle } from "../../api/kernel.ts";
import type { ClientToolDeclaration } from "../../api/session-options.ts";
import type { AttachedTools, SessionSnapshot } from "../../api/session-state.ts";
import type { UserInput } from "../../api/values/content.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import type { Answer } from "../../api/values/interaction.ts";
import type { TurnStartOptions } from "../../api/values/turn-options.ts";
import { eachOf } from "../../base/collections.ts";
import { KernelError, toKernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import { EventPump, type Outgoing } from "../shared/event-pump.ts";
import { goalTool, ThreadGoal } from "./goal.ts";
import { ThreadProjection, TurnCollector } from "./projection.ts";
import { toRequest } from "./requests.ts";
import type { ApprovalPolicy, Goal, GoalChange, SandboxMode } from "./wire.ts";
import type { Turn } from "./wire-items.ts";
import type { Notification } from "./wire-updates.ts";

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
	#attachment: Attachment;
	readonly #pump: EventPump;
	readonly #projection: ThreadProjection;
	readonly #client: ThreadClient;
	readonly #goal: ThreadGoal;
	readonly #peer: Peer;
	readonly #log: Log;
	#isLeft = false;

	private constructor(
		handle: SessionHandle,
		attachment: Attachment,
		settings: ThreadSettings,
		client: ThreadClient,
		goal: ThreadGoal,
		peer: Peer,
		log: Log,
	) {
		const { session } = handle;
		this.handle = handle;
		this.settings = settings;
		this.policy = settings.policy;
		this.#attachment = attachment;
		this.#client = client;
		this.#goal = goal;
		this.#peer = peer;
		this.#log = log;
		const own = new Set(settings.tools.map(({ name }) => name));
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
		const reserved = settings.tools.filter(({ name }) => name === goalTool.name);
		checkTools(reserved.map(({ name }) => ({ name, reason: "goals use this name" })));
		const goal = earlier === null ? new ThreadGoal(handle.session.id) : earlier.#goal;
		const tools = goal.current === null ? settings.tools : [...settings.tools, goalTool];
		const attachment = await attachClient(handle, tools, client, earlier === null ? null : earlier.#attachment);
		try {
			checkTools(attachment.tools.rejected);
		} catch (thrown) {
			attachment.close();
			throw thrown;
		}
		goal.resume(attachment.snapshot.turnId);
		return new AttachedThread(handle, attachment, settings, client, goal, peer, log);
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

	begin(at: number): void {
		this.#pump.carry(this.#attachment);
		// Its last turn may have ended while the client attached.
		this.#followUp(at);
	}

	/** Fails `invalid-input` without an objective for the first goal, and with the error of a turn that cannot start. */
	async setGoal(change: GoalChange, at: number): Promise<Goal> {
		const { goal, sent } = this.#goal.set(change, at);
		this.#send(sent);
		await this.#continueGoal(at);
		return goal;
	}

	/** Returns whether there was one. A running turn continues. */
	clearGoal(): boolean {
		const sent = this.#goal.clear();
		this.#send(sent);
		return sent.length > 0;
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
		this.#isLeft = true;
		this.#pump.leave();
		this.#attachment.close();
		this.handle.release();
	}

	#project(event: AgentEvent): readonly Outgoing[] {
		const { body } = event;
		const notifications = [...this.#goal.take(event), ...this.#projection.take(event)];
		if (body.type === "interaction.resolved") {
			const { id: threadId } = this.handle.session;
			const notice = (requestId: string) => ({ method: "serverRequest/resolved", params: { threadId, requestId } });
			return [{ kind: "settled", interactionId: body.interactionId, notice }];
		}
		if (body.type === "interaction.requested") return this.#ask(event);
		if (body.type === "turn.ended") this.#followUp(event.at);
		return this.#toOutgoing(notifications);
	}

	#toOutgoing(notifications: readonly Notification[]) {
		return notifications
			.filter(({ method }) => !this.#client.unwanted.has(method))
			.map(({ method, params }) => ({ kind: "notification", method, params }) as const);
	}

	#send(notifications: readonly Notification[]): void {
		for (const { method, params } of this.#toOutgoing(notifications)) this.#peer.notify(method, params);
	}

	/** Only threads with a goal have the tool, because every model request contains it. */
	async #offerGoalTool(): Promise<void> {
		if (this.#attachment.tools.accepted.includes(goalTool.name)) return;
		const tools = [...this.settings.tools, goalTool];
		const attach = async () => {
			this.#attachment = await attachClient(this.handle, tools, this.#client, this.#attachment);
			if (this.#isLeft) this.#attachment.close();
			return this.#attachment;
		};
		await this.#pump.replace(attach, async () => {});
		checkTools(this.#attachment.tools.rejected);
	}

	#followUp(at: number): void {
		this.#continueGoal(at).catch((thrown: unknown) => {
			this.#log.error("The next turn of a goal could not start.", { error: thrown });
		});
	}

	async #continueGoal(at: number): Promise<void> {
		const next = this.#goal.next();
		if (next === null) return;
		try {
			await this.#offerGoalTool();
			if (this.#isLeft) return;
			await this.handle.startTurn(next.input, next.options);
			next.begin();
		} catch (thrown) {
			const { code, data } = toKernelError(thrown);
			// Another turn came first; its end starts the goal's.
			if (code === "busy" && data === null) return;
			this.#send(this.#goal.block(at));
			throw thrown;
		}
	}

	#ask(event: AgentEvent): readonly Outgoing[] {
		const { body, at } = event;
		if (body.type !== "interaction.requested") return [];
		const { interaction } = body;
		const { session } = this.handle;
		if (interaction.kind === "approval" && this.policy === "never") {
			const isFull = this.settings.sandbox === "danger-full-access";
			const feedback = isFull ? "" : "Nobody is asked: the approval policy is never.";
			this.#respond(interaction.id, { kind: "approval", decision: isFull ? "approve" : "reject", feedback });
			return [];
		}
		if (interaction.kind === "client-tool" && interaction.name === goalTool.name) {
			const { result, sent } = this.#goal.report(interaction.arguments, at);
			this.#respond(interaction.id, { kind: "client-tool", result });
			return this.#toOutgoing(sent);
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

	#respond(interactionId: string, answer: Answer): void {
		const command = { type: "interaction.respond", interactionId, clientId: this.#attachment.id, answer } as const;
		this.#run(this.handle.session.send(command));
	}

	#run(work: Promise<unknown>): void {
		work.catch((thrown: unknown) => this.#log.error("A decision could not be delivered.", { error: thrown }));
	}
}

function checkTools([refused]: AttachedTools["rejected"]): void {
	if (refused === undefined) return;
	throw new KernelError("invalid-input", `The tool ${refused.name} cannot be used: ${refused.reason}`);
}

function attachClient(
	{ session }: SessionHandle,
	tools: readonly ClientToolDeclaration[],
	{ name, version, isExperimental }: ThreadClient,
	earlier: Attachment | null,
): Promise<Attachment> {
	return session.attach({
		client: { name, version },
		tools,
		capabilities: isExperimental ? ["questions"] : [],
		hooks: [],
		wantsProgress: true,
		...(earlier === null ? {} : { replaces: earlier.id }),
	});
}
