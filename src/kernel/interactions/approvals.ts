// Every decision is journaled, then delivered, then takes effect.

import type { DisplayBlock, ToolCall } from "../../api/values/content.ts";
import type { AgentPathEntry, EventBody } from "../../api/values/event.ts";
import type { ApprovalInteraction } from "../../api/values/interaction.ts";
import type { WhenUnattended } from "../../api/values/session-mode.ts";
import type { Identifiers } from "../../base/ids.ts";
import { createKeyedQueue } from "../../base/keyed-queue.ts";
import { hiddenWarning, hidesContent, hidesText, visibleText } from "../../base/text/visible-text.ts";
import type { ApprovalOutcome } from "../../core/agent/dependencies.ts";
import { isBroadGrant } from "../../core/permissions/former-grants.ts";
import type { Judge, Proposal } from "../../core/permissions/judge.ts";
import { type Settled, settle } from "../../core/permissions/modes.ts";
import { isOpen, type Policy, type Verdict, worstVerdict } from "../../core/permissions/policy.ts";
import type { ApprovalNeed } from "../../core/tools/tool.ts";
import type { Clients } from "../clients/clients.ts";
import type { Persistence } from "../clients/emitter.ts";
import type { ApprovalMode } from "./approval-mode.ts";
import type { ApprovalState } from "./approval-state.ts";
import type { InteractionTable } from "./interaction-table.ts";

interface ApprovalSettings {
	readonly state: ApprovalState;
	readonly interactions: InteractionTable;
	readonly clients: Pick<Clients, "canApprove" | "expectQuestions">;
	readonly whenUnattended: WhenUnattended;
	readonly identifiers: Identifiers;
	readonly mode: ApprovalMode;
	readonly judge: Judge;
	readonly policies: readonly Policy[];
}

export interface ApprovalSource {
	readonly kind: NonNullable<ApprovalInteraction["sourceKind"]>;
	readonly id: string;
	readonly path: readonly AgentPathEntry[];
}

/** Event terms for verdicts without a request. */
const recordedAs = { allow: "approve", deny: "reject" } as const satisfies Readonly<
	Record<Exclude<Verdict["decision"], "ask">, unknown>
>;

type Judged =
	| Exclude<Settled, { decision: "ask" }>
	| (Extract<Settled, { decision: "ask" }> & { readonly proposal: Proposal });

type EmitInTurn = (body: EventBody, persistence: Persistence) => Promise<void> | undefined;

export class Approvals {
	readonly #settings: ApprovalSettings;
	readonly #policies: readonly Policy[];
	/** Judges calls one after another, so that requests keep the order of the calls. */
	readonly #judging = createKeyedQueue();
	/** Approvals from earlier versions that were dropped because they covered more than the user saw. */
	readonly #dropped: ReadonlySet<string>;

	constructor(settings: ApprovalSettings) {
		this.#settings = settings;
		const { judge, policies, state } = settings;
		this.#policies = [
			{ name: "rules", decide: (request) => judge.decide(request, settings.clients.expectQuestions) },
			...policies,
		];
		this.#dropped = new Set(state.fields.autoApproveActions.filter(isBroadGrant));
	}

	async decide(
		need: ApprovalNeed,
		call: ToolCall,
		source: ApprovalSource,
		emit: EmitInTurn,
		signal: AbortSignal,
	): Promise<ApprovalOutcome> {
		const settled = await this.#judging.run("", () => this.#judge(need));
		if (settled === null) return { kind: "approved", isShown: false };
		if (signal.aborted) return { kind: "cancelled" };
		if (settled.decision === "ask") return await this.#ask(need, settled, call, source, emit, signal);
		const { decision, by, reason } = settled;
		const decided = { action: need.action, decision: recordedAs[decision], by, reason, subjects: [...need.subjects] };
		await emit({ type: "permission.decided", toolCallId: call.id, ...decided }, {});
		return decision === "allow" ? { kind: "approved", isShown: false } : { kind: "denied", by, reason };
	}

	/** Returns null for a call that needs no approval and matches nothing. */
	async #judge(need: ApprovalNeed): Promise<Judged | null> {
		const verdict = await worstVerdict(this.#policies, need);
		if ((verdict === null || isOpen(verdict)) && need.byDefault === "allow") return null;
		const { mode, clients, whenUnattended, judge } = this.#settings;
		const { isYolo, isAway, approvesWhileAway } = mode;
		const settled = settle(verdict, { isYolo, isAway, approvesWhileAway, canAsk: clients.canApprove, whenUnattended });
		return settled.decision === "ask" ? { ...settled, proposal: await judge.propose(need) } : settled;
	}

	async #ask(
		need: ApprovalNeed,
		{ reason, proposal }: Extract<Judged, { decision: "ask" }>,
		call: ToolCall,
		source: ApprovalSource,
		emit: EmitInTurn,
		signal: AbortSignal,
	): Promise<ApprovalOutcome> {
		const coverage = toCoverage(proposal);
		const notes = [...this.#notes(need, reason), coverage];
		const summary = visibleText(need.description);
		const interaction: ApprovalInteraction = {
			kind: "approval",
			id: this.#settings.identifiers.uuid(),
			toolCallId: call.id,
			sender: call.function.name,
			action: need.action,
			description: [summary, ...notes.map(visibleText)].join("\n"),
			summary,
			coverage,
			sourceKind: source.kind,
			sourceId: source.id,
			agentId: source.path.at(-1)?.agentId ?? null,
			subagentType: source.path.at(-1)?.subagentType ?? null,
			sourceDescription: null,
			display: [...need.display, ...notes.map((text) => ({ type: "brief" as const, text }))],
			subjects: [...need.subjects],
			...(reason === null ? {} : { reason }),
			grants: proposal.kind === "grants" ? [...proposal.patterns] : [],
		};
		const settlement = this.#settings.interactions.wait(interaction, "approval", signal);
		await emit({ type: "interaction.requested", interaction }, {});

		const { answer, by } = await settlement;
		const { decision, feedback } = answer;
		const resolved = { kind: "approval", decision, feedback } as const;
		const emitResolved = (persistence: Persistence) =>
			emit(
				{ type: "interaction.resolved", interactionId: interaction.id, answer: resolved, by },
				{ ...persistence, sync: true },
			);
		if (decision === "approve_for_session" && proposal.kind === "grants") {
			await this.#settings.state.change(
				({ autoApproveActions }) => ({
					autoApproveActions: [...new Set([...autoApproveActions, ...proposal.patterns])],
				}),
				(state) => emitResolved({ state }),
			);
			await this.#settleSiblings();
		} else await emitResolved({});
		if (by.kind === "cancelled" || by.kind === "shutdown") return { kind: "cancelled" };
		return decision === "reject" ? { kind: "rejected", feedback } : { kind: "approved", isShown: true };
	}

	/** Notes for the user besides the effect of the call. */
	#notes(need: ApprovalNeed, reason: string | null): readonly string[] {
		return [
			...(hides(need) ? [hiddenWarning] : []),
			...(reason === null ? [] : [reason]),
			...(this.#dropped.has(need.action)
				? [
						`The session had an approval of every call of the kind "${need.action}". It was dropped, because it covered more than was shown.`,
					]
				: []),
		];
	}

	/** An approval for the session also settles other open requests that it covers. */
	async #settleSiblings(): Promise<void> {
		const { interactions } = this.#settings;
		for (const interaction of interactions.interactions()) {
			if (interaction.kind !== "approval") continue;
			const { action, subjects = [] } = interaction;
			const verdict = await worstVerdict(this.#policies, { action, subjects, byDefault: "ask" });
			if (verdict?.decision !== "allow") continue;
			interactions.answer(
				interaction.id,
				{ kind: "approval", decision: "approve", feedback: "" },
				{ kind: "session-grant" },
			);
		}
	}
}

function toCoverage(proposal: Proposal): string {
	return proposal.kind === "grants"
		? `Approving it for the session covers ${proposal.patterns.map((pattern) => `\`${pattern}\``).join(", ")}.`
		: `It can only be approved once: ${proposal.why}.`;
}

function hides({ description, display }: ApprovalNeed): boolean {
	const isHiding = (block: DisplayBlock) =>
		block.type === "diff" && "old_text" in block && [block.path, block.old_text, block.new_text].some(hidesContent);
	return hidesText(description) || display.some(isHiding);
}
