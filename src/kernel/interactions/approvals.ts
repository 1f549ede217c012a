// Who decides whether a tool may act: yolo, an earlier approval for the session, or a person.
// Every decision is in the call journal before it is told, and told before it takes effect.

import type { ApprovalOutcome } from "../../agent/dependencies.ts";
import type { Identifiers } from "../../base/ids.ts";
import type { ToolCall } from "../../events/content.ts";
import type { AgentPathEntry, EventBody } from "../../events/event.ts";
import type { ApprovalAsk } from "../../events/interaction.ts";
import type { CallRecord, StoredSession } from "../../store/session-store.ts";
import type { ApprovalNeed } from "../../tools/tool.ts";
import type { Keeping } from "../clients/emitter.ts";
import type { ApprovalMode } from "./approval-mode.ts";
import type { AskTable } from "./interaction-table.ts";

interface ApprovalSettings {
	readonly stored: StoredSession;
	readonly asks: AskTable;
	/** Whether a client is there that gives approvals. */
	canAsk(): boolean;
	/** What becomes of a call when there is none. */
	readonly whenUnattended: "approve" | "reject";
	readonly identifiers: Identifiers;
	readonly mode: ApprovalMode;
}

/** Who asks: the turn or the background task, and the subagent when it is one. */
export interface ApprovalSource {
	readonly kind: NonNullable<ApprovalAsk["sourceKind"]>;
	readonly id: string;
	readonly path: readonly AgentPathEntry[];
}

type Decided = Extract<CallRecord, { type: "decided" }>;
const deciders = { client: "person", "session-approval": "session-approval", nobody: "rule" } as const;

type EmitInTurn = (body: EventBody, keeping: Keeping) => Promise<void> | undefined;

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
		const decided = { type: "decided", askId: null, toolCallId: call.id, action: need.action } as const;
		if (mode.isYolo) {
			return await this.#approveByRule({ ...decided, decision: "approve", by: "yolo" });
		}
		// Nobody is at the keyboard to be asked.
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
		const ask: ApprovalAsk = {
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
		const settlement = this.#settings.asks.wait(ask, "approval", signal);
		const asked = { type: "asked", askId: ask.id, toolCallId: call.id, action: ask.action } as const;
		await emit({ type: "ask.requested", ask }, { records: [asked] });

		const { answer, by } = await settlement;
		if (answer.decision === "approve_for_session") await this.#rememberForSession(ask.action);
		const feedback = answer.decision === "reject" ? answer.feedback : "";
		const resolved = { kind: "approval", decision: answer.decision, feedback } as const;
		const decided: Decided = {
			type: "decided",
			askId: ask.id,
			toolCallId: call.id,
			action: ask.action,
			decision: answer.decision,
			by: deciders[typeof by === "string" ? by : "nobody"],
		};
		await emit({ type: "ask.resolved", askId: ask.id, answer: resolved }, { records: [decided], sync: true });
		if (answer.decision === "approve_for_session") this.#settleSiblings(ask.action);
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
		const { asks } = this.#settings;
		for (const ask of asks.asks()) {
			if (ask.kind !== "approval" || ask.action !== action) continue;
			asks.answer(ask.id, { kind: "approval", decision: "approve", feedback: "" }, "session-approval");
		}
	}
}
