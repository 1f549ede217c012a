// Meerkat RPC keeps the contract of dialects in both eras, with a client that answers everything that it can be asked.
import { vi } from "vitest";
import {
	type DialectSubject,
	describeDialectContract,
	type ToldOfType,
	withheld,
} from "../../../test/contracts/dialect-contract.ts";
import { untold } from "../../../test/support/told-samples.ts";
import { isRecord } from "../../base/json.ts";
import { silentLog } from "../../base/log.ts";
import type { EraCodec } from "./codec.ts";
import { contractCodec } from "./contract.ts";
import { createRules } from "./envelope.ts";
import { errorNumbers, kernelErrorNames } from "./errors.ts";
import { newFacts } from "./facts.ts";
import { HostedSession } from "./hosted-session.ts";
import { seedCodec } from "./seed.ts";

/** What subagents do shows in the results of the calls that started them alone. */
const own = (...names: readonly (string | null)[]): ToldOfType => {
	const [only] = names;
	return { own: names.length === 1 && only !== undefined ? only : names, subagent: null };
};

/** By the runs of docs/meerkat.md. A call is told with the answer it is part of, its result when all are there. */
const told: DialectSubject["told"] = {
	"turn.started": untold,
	"turn.ended": own(null, "run_completed", "run_completed", "run_failed"),
	"step.started": own("turn_started"),
	"step.interrupted": untold,
	"step.retrying": own("retrying"),
	"compaction.started": untold,
	"compaction.ended": untold,
	"mcp.loading-started": untold,
	"mcp.loading-ended": untold,
	// Behind an answer that is told already; what it cost, and what a subagent cost, is in the totals of the run.
	"status.changed": { own: withheld, subagent: [null, withheld] },
	"budget.warning": own("budget_warning"),
	"notification.raised": untold,
	"content.delta": own("text_delta", "reasoning_delta"),
	"content.completed": untold,
	"tool-call.started": untold,
	"tool-call.delta": untold,
	"tool-call.completed": own(withheld),
	"tool-call.fragment": untold,
	"tool.result": own(withheld),
	"interaction.requested": {
		own: ["approval/request", "tool/execute", "question/request", null],
		subagent: ["approval/request", "tool/execute", "question/request", null],
	},
	"interaction.resolved": untold,
	"steer.consumed": untold,
	"plan.displayed": untold,
	"hook.triggered": own("hook_started"),
	"hook.resolved": own("hook_completed"),
	"side-question.started": untold,
	"side-question.ended": untold,
};

function describeEra(codec: EraCodec, toldInEra: DialectSubject["told"]): void {
	describeDialectContract(`meerkat, ${codec.era} era,`, {
		async carry({ session, peer, attachment }) {
			vi.spyOn(session, "attach").mockReturnValue(attachment);
			let ids = 0;
			await HostedSession.attach(
				{
					session,
					info: { id: session.id, model: "m", provider: "p", isRunning: true },
					startTurn: async () => ({ turnId: "t" }),
					release() {},
					discard: async () => {},
				},
				{ log: silentLog },
				peer,
				{
					codec: () => codec,
					answers: () => new Set(["approval/request", "question/request"] as const),
					tools: () => [],
					eventId: () => `event-${++ids}`,
					now: () => 0,
				},
				{ facts: newFacts(0), sequence: 0 },
			);
		},
		nameOf(method, params) {
			const event = isRecord(params) ? params["event"] : null;
			if (method !== "session/event" || !isRecord(event)) return method;
			const payload = codec.era === "contract" ? event["payload"] : event;
			return isRecord(payload) ? String(payload["type"]) : "nothing";
		},
		told: toldInEra,
		errorNumber: (code) => errorNumbers[kernelErrorNames[code]][codec.era],
		rules: createRules(() => codec.era),
		goodApproval: { decision: "approve" },
		asks: ["approval", "client-tool", "question"],
	});
}

describeEra(contractCodec, told);
describeEra(seedCodec, { ...told, "content.delta": own("text_delta", null) });
