// What sessions do wrong: events, interactions, budgets, recovery.
import type { Breakage } from "../breakage.ts";

export const kernel: readonly Breakage[] = [
	{
		name: "an event is delivered before it is persisted",
		file: "kernel/clients/emitter.ts",
		find: "await this.#persist(batch);",
		replace: "void this.#persist(batch).catch(() => {});",
	},
	{
		name: "a client that was too slow misses the first event it lost",
		file: "kernel/clients/event-feed.ts",
		find: "this.#position = first - 1;",
		replace: "this.#position = first;",
	},
	{
		name: "a client that catches up gets an event twice",
		file: "kernel/clients/event-feed.ts",
		find: "this.#source.read(this.#position)",
		replace: "this.#source.read(Math.max(0, this.#position - 1))",
	},
	{
		name: "a client reads back what is stored and not yet delivered",
		file: "kernel/clients/event-feed.ts",
		find: "if (event.seq !== undefined && event.seq > this.#head) break reading;",
		replace: "",
	},
	{
		name: "the second answer of a client settles a request again",
		file: "kernel/interactions/interaction-table.ts",
		find: "this.#open.delete(interaction.id);",
		replace: 'if (settlement.by.kind !== "client") this.#open.delete(interaction.id);',
	},
	{
		name: "a snapshot shows a request that is not stored yet",
		file: "kernel/interactions/interaction-table.ts",
		find: "flatMap(({ request }) => request ?? [])",
		replace:
			'map(({ interaction, request }) => request ?? { sessionId: "", turnId: null, agentPath: [], at: 0, body: { type: "interaction.requested", interaction } })',
	},
	{
		name: "nothing is on stable storage before it is delivered",
		file: "kernel/clients/emitter.ts",
		find: "const sync = batch.some((entry) => entry.persistence.sync === true);",
		replace: "const sync = false;",
	},
	{
		name: "the end of a turn is not delivered when it could not be persisted",
		file: "kernel/turn/main-turn.ts",
		find: "emitter.deliverVolatile({ turnId: turn.id, agentPath: [] }, ended);",
		replace: "void emitter;",
	},
	{
		name: "the end of a turn within a turn is missing",
		file: "kernel/turn/command-run.ts",
		find: 'const ended = { type: "turn.ended", outcome: null } as const;',
		replace: 'const ended = { type: "compaction.ended" } as const;',
	},
	{
		name: "an approval that nobody answers is given",
		file: "kernel/interactions/interaction-table.ts",
		find: 'decision: "reject",',
		replace: 'decision: "approve",',
	},
	{
		name: "a deadline of one second never comes",
		file: "kernel/interactions/interaction-table.ts",
		find: "seconds > 0 ?",
		replace: "seconds > 1 ?",
	},
	{
		name: "an approval does not outlive its client",
		file: "kernel/interactions/interaction-table.ts",
		find: 'outlivesClient: "always",',
		replace: 'outlivesClient: "never",',
	},
	{
		name: "an answer of another kind is passed over, and the interaction stays open",
		file: "kernel/interactions/interaction-table.ts",
		find: "if (!isAnswerTo(answer, kind)) return false;",
		replace: 'if (!isAnswerTo(answer, kind)) return answer.kind !== "approval";',
	},
	{
		name: "an approval for the session settles open interactions that it does not cover",
		file: "kernel/interactions/approvals.ts",
		find: 'if (verdict?.decision !== "allow") continue;',
		replace: "",
	},
	{
		name: "an approval for the session is forgotten",
		file: "kernel/interactions/approvals.ts",
		find: "(state) => emitResolved({ state }),",
		replace: "() => emitResolved({}),",
	},
	{
		name: "calls are approved where no client gives approvals",
		file: "permissions/modes.ts",
		find: "return unattended[whenUnattended];",
		replace: "return unattended.approve;",
	},
	{
		name: "a mode approves what a rule refuses",
		file: "permissions/modes.ts",
		find: 'if (verdict !== null && verdict.decision !== "ask") return',
		replace: 'if (verdict !== null && verdict.decision === "allow") return',
	},
	{
		name: "a call runs on something else than was decided",
		file: "agent/tool-call.ts",
		find: "other?.action === decided.action && isDeepStrictEqual(other.subjects, decided.subjects)",
		replace: "other?.action === decided.action",
	},
	{
		name: "the last progress of a call is lost",
		file: "kernel/clients/progress-reports.ts",
		find: "progress.flush();",
		replace: "",
	},
	{
		name: "progress of calls fills the queue of a client that does not read",
		file: "kernel/clients/event-feed.ts",
		find: "(!this.#wantsProgress || this.isFull())",
		replace: "!this.#wantsProgress",
	},
	{
		name: "an approval that a cancel settled is a refusal",
		file: "kernel/interactions/approvals.ts",
		find: '(by.kind === "cancelled" || by.kind === "shutdown")',
		replace: 'by.kind === "shutdown"',
	},
	{
		name: "feedback with an approval is passed on",
		file: "kernel/interactions/approvals.ts",
		find: 'const feedback = answer.decision === "reject" ? answer.feedback : "";',
		replace: "const feedback = answer.feedback;",
	},
	{
		name: "a budget is used up only when it is exceeded",
		file: "kernel/budgets/budget-meter.ts",
		find: "this.#used[kind] >= limit * share",
		replace: "this.#used[kind] > limit * share",
	},
	{
		name: "the journal is not synced before an effect",
		file: "kernel/turn/turn-dependencies.ts",
		find: "await emit(started, { sync: hasEffect });",
		replace: "await emit(started, {});",
	},
	{
		name: "a crash is reported again at every start",
		file: "kernel/turn/recovery.ts",
		find: 'settle: async () => emit({ type: "recovery.reported" }),',
		replace: "settle: async () => {},",
	},
	{
		name: "an input whose turn was cut off before its first step stays out of the context",
		file: "kernel/turn/recovery.ts",
		find: "await addStartedInputs(summary.startedInputs, context);",
		replace: "",
	},
];
