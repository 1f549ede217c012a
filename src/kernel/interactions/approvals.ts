// Decides whether a tool may act: by yolo, by an earlier approval for the session, or by asking a person. Every
// decision is in the call journal before it is delivered, and delivered before it takes effect.

import type { ApprovalOutcome } from "../../agent/dependencies.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { ToolCall } from "../../events/content.ts";
import type { AgentPathEntry, EventBody } from "../../events/event.ts";
import type { ApprovalInteraction } from "../../events/interaction.ts";
import type { CallRecord, StoredSession } from "../../store/session-store.ts";
import type { ApprovalNeed } from "../../tools/tool.ts";
import type { Persistence } from "../clients/emitter.ts";
import type { ApprovalMode } from "./approval-mode.ts";
import type { InteractionTable } from "./interaction-table.ts";

interface ApprovalSettings {
	readonly stored: StoredSession;
	readonly interactions: InteractionTable;
	/** Whether a client that answers approvals is attached. */
	canAsk(): boolean;
	/** What happens to a call when there is none. */
	readonly whenUnattended: "approve" | "reject";
	readonly identifiers: Identifiers;
	readonly mode: ApprovalMode;
}

/** Who requests approval: a turn or a background task, and the subagent if it is one. */
export interface ApprovalSource {
	readonly kind: NonNullable<ApprovalInteraction["sourceKind"]>;
	readonly id: string;
	readonly path: readonly AgentPathEntry[];
}

type Decided = Extract<CallRecord, { type: "decided" }>;
const deciders = { client: "person", "session-approval": "session-approval", nobody: "rule" } as const;

type EmitInTurn = (body: EventBody, persistence: Persistence) => Promise<void> | undefined;

export class Approvals {
	readonly #settings: ApprovalSettings;

	constructor(settings: ApprovalSettings) {
		this.#settings = settings;
	}

	/** Decides one call. */
	async decide(
		need: ApprovalNeed,
		call: ToolCall,
		source: ApprovalSource,
		emit: EmitInTurn,
		signal: AbortSignal,
	): Promise<ApprovalOutcome> {
		const { stored, mode, canAsk, whenUnattended } = this.#settings;
		const decided = { type: "decided", interactionId: null, toolCallId: call.id, action: need.action } as const;
		if (mode.isYolo) {
			return await this.#approveByRule({ ...decided, decision: "approve", by: "yolo" });
		}
		// Nobody is at the keyboard.
		if (mode.isAway) {
			return await this.#approveByRule({ ...decided, decision: "approve", by: "rule" });
		}
		if (stored.state().approval.autoApproveActions.includes(need.action)) {
			return await this.#approveByRule({ ...decided, decision: "approve", by: "session-approval" });
		}
		if (!canAsk()) {
			if (whenUnattended === "approve") {
				return await this.#approveByRule({ ...decided, decision: "approve", by: "rule" });
			}
			await stored.appendCalls([{ ...decided, decision: "reject", by: "rule" }]);
			return {
				kind: "unattended",
				reason: "The tool call needs an approval, and no client is connected that gives any.",
			};
		}
		return await this.#ask(need, call, source, emit, signal);
	}

	async #approveByRule(record: Decided): Promise<ApprovalOutcome> {
		await this.#settings.stored.appendCalls([record]);
		return { kind: "approved", isShown: false };
	}

	async #ask(
		need: ApprovalNeed,
		call: ToolCall,
		source: ApprovalSource,
		emit: EmitInTurn,
		signal: AbortSignal,
	): Promise<ApprovalOutcome> {
		const interaction: ApprovalInteraction = {
			kind: "approval",
			id: this.#settings.identifiers.uuid(),
			toolCallId: call.id,
			sender: call.function.name,
			action: need.action,
			description: need.description,
			sourceKind: source.kind,
			sourceId: source.id,
			agentId: source.path.at(-1)?.agentId ?? null,
			subagentType: source.path.at(-1)?.subagentType ?? null,
			sourceDescription: null,
			display: [...need.display],
		};
		const settlement = this.#settings.interactions.wait(interaction, "approval", signal);
		const asked = {
			type: "asked",
			interactionId: interaction.id,
			toolCallId: call.id,
			action: interaction.action,
		} as const;
		await emit({ type: "interaction.requested", interaction }, { records: [asked] });

		const { answer, by } = await settlement;
		if (answer.decision === "approve_for_session") await this.#rememberForSession(interaction.action);
		const feedback = answer.decision === "reject" ? answer.feedback : "";
		const resolved = { kind: "approval", decision: answer.decision, feedback } as const;
		const decided: Decided = {
			type: "decided",
			interactionId: interaction.id,
			toolCallId: call.id,
			action: interaction.action,
			decision: answer.decision,
			by: deciders[typeof by === "string" ? by : "nobody"],
		};
		await emit(
			{ type: "interaction.resolved", interactionId: interaction.id, answer: resolved },
			{ records: [decided], sync: true },
		);
		if (answer.decision === "approve_for_session") this.#settleSiblings(interaction.action);
		if (typeof by !== "string" && (by.kind === "cancelled" || by.kind === "shutdown")) return { kind: "cancelled" };
		return answer.decision === "reject" ? { kind: "rejected", feedback } : { kind: "approved", isShown: true };
	}

	async #rememberForSession(action: string): Promise<void> {
		const { stored } = this.#settings;
		const { approval } = stored.state();
		if (approval.autoApproveActions.includes(action)) return;
		await stored.updateState({
			approval: { ...approval, autoApproveActions: [...approval.autoApproveActions, action] },
		});
	}

	/** An approval for the session also settles the other open ones of the same action. */
	#settleSiblings(action: string): void {
		const { interactions } = this.#settings;
		for (const interaction of interactions.interactions()) {
			if (interaction.kind !== "approval" || interaction.action !== action) continue;
			interactions.answer(interaction.id, { kind: "approval", decision: "approve", feedback: "" }, "session-approval");
		}
	}
}
