// Decides whether a tool may act: by the session's chain of policies, and by asking a person where they say so. Every
// decision is in the journal before it is delivered, and delivered before it takes effect.

import type { ApprovalOutcome } from "../../agent/dependencies.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { ToolCall } from "../../events/content.ts";
import type { AgentPathEntry, EventBody } from "../../events/event.ts";
import type { ApprovalInteraction } from "../../events/interaction.ts";
import { createGrantPolicy, createModePolicy, createUnattendedPolicy } from "../../permissions/policies.ts";
import { decide, type Policy, type PolicyChain, type Verdict } from "../../permissions/policy.ts";
import type { StoredSession } from "../../store/session-store.ts";
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
	/** Policies that come before those of the session's own modes and grants. */
	readonly rules: readonly Policy[];
}

/** Who requests approval: a turn or a background task, and the subagent if it is one. */
export interface ApprovalSource {
	readonly kind: NonNullable<ApprovalInteraction["sourceKind"]>;
	readonly id: string;
	readonly path: readonly AgentPathEntry[];
}

/** The words of the event for the verdicts without asking. */
const recordedAs = { allow: "approve", deny: "reject" } as const satisfies Readonly<
	Record<Exclude<Verdict["decision"], "ask">, unknown>
>;

type EmitInTurn = (body: EventBody, persistence: Persistence) => Promise<void> | undefined;

export class Approvals {
	readonly #settings: ApprovalSettings;
	readonly #chain: PolicyChain;
	readonly #granted = new Set<string>();

	constructor(settings: ApprovalSettings) {
		this.#settings = settings;
		this.#chain = createChain(settings);
	}

	/** Decides one call. */
	async decide(
		need: ApprovalNeed,
		call: ToolCall,
		source: ApprovalSource,
		emit: EmitInTurn,
		signal: AbortSignal,
	): Promise<ApprovalOutcome> {
		const { decision, by, reason } = decide(this.#chain, need);
		if (decision === "ask") return await this.#ask(need, call, source, emit, signal);
		const decided = { action: need.action, subjects: [...need.subjects], decision: recordedAs[decision], by, reason };
		await emit({ type: "permission.decided", toolCallId: call.id, ...decided }, {});
		return decision === "allow" ? { kind: "approved", isShown: false } : { kind: "denied", by, reason };
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
			subjects: [...need.subjects],
		};
		const settlement = this.#settings.interactions.wait(interaction, "approval", signal);
		await emit({ type: "interaction.requested", interaction }, {});

		const { answer, by } = await settlement;
		const feedback = answer.decision === "reject" ? answer.feedback : "";
		const resolved = { kind: "approval", decision: answer.decision, feedback } as const;
		const grant = answer.decision === "approve_for_session" ? this.#grant(interaction.action) : {};
		await emit(
			{ type: "interaction.resolved", interactionId: interaction.id, answer: resolved, by },
			{ ...grant, sync: true },
		);
		if (answer.decision === "approve_for_session") this.#settleSiblings(interaction.action);
		if (by.kind === "cancelled" || by.kind === "shutdown") return { kind: "cancelled" };
		return answer.decision === "reject" ? { kind: "rejected", feedback } : { kind: "approved", isShown: true };
	}

	/** The change of the state that approves the action for the session. */
	#grant(action: string): Pick<Persistence, "state"> {
		const { approval } = this.#settings.stored.state();
		// Those that are still being stored count as well.
		this.#granted.add(action);
		const autoApproveActions = [...new Set([...approval.autoApproveActions, ...this.#granted])];
		return { state: { approval: { ...approval, autoApproveActions } } };
	}

	/** An approval for the session also settles the other open ones of the same action. */
	#settleSiblings(action: string): void {
		const { interactions } = this.#settings;
		for (const interaction of interactions.interactions()) {
			if (interaction.kind !== "approval" || interaction.action !== action) continue;
			interactions.answer(
				interaction.id,
				{ kind: "approval", decision: "approve", feedback: "" },
				{ kind: "session-grant" },
			);
		}
	}
}

function createChain({ stored, mode, rules, canAsk, whenUnattended }: ApprovalSettings): PolicyChain {
	return {
		policies: [
			...rules,
			createModePolicy("yolo", "Everything is approved (yolo).", () => mode.isYolo),
			createModePolicy("afk", "Nobody is at the keyboard (afk).", () => mode.isAway),
			createGrantPolicy(() => stored.state().approval.autoApproveActions.map((action) => ({ action }))),
		],
		fallback: createUnattendedPolicy({ canAsk, whenUnattended }),
	};
}
