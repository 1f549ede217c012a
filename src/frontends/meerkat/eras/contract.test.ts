// Meerkat RPC keeps the contract of dialects in both eras, with a client that answers everything that it can be asked.
import { expect, it } from "vitest";
import {
	connectDialect,
	type DeliveredOfType,
	type DialectSubject,
	describeDialectContract,
	withheld,
} from "../../../../test/contracts/dialect-contract.ts";
import { overSocket } from "../../../../test/support/host/remote-sessions.ts";
import { undelivered } from "../../../../test/support/protocol/delivered-samples.ts";
import { sampleEvents } from "../../../../test/support/protocol/sample-events.ts";
import { isRecord } from "../../../base/json.ts";
import { silentLog } from "../../../base/log.ts";
import { createRules } from "../envelope.ts";
import { errorNumbers, kernelErrorNames } from "../errors.ts";
import { HostedSession } from "../hosted-session.ts";
import { newFacts } from "../projection/facts.ts";
import type { EraCodec } from "./codec.ts";
import { createContractCodec } from "./contract.ts";
import { seedCodec } from "./seed.ts";

const contractCodec = createContractCodec(null);

/** What subagents do shows in the results of the calls that started them alone. */
const own = (...names: readonly (string | null)[]): DeliveredOfType => {
	const [only] = names;
	return { own: names.length === 1 && only !== undefined ? only : names, subagent: null };
};

/** By the runs of docs/guides/meerkat.md. A call is delivered with the answer it is part of, its result when all are there. */
const delivered: DialectSubject["delivered"] = {
	"turn.started": undelivered,
	"turn.ended": own(null, "run_completed", "run_completed", "run_failed"),
	"step.started": own("turn_started"),
	"step.interrupted": undelivered,
	"step.retrying": own("retrying"),
	"compaction.started": undelivered,
	"compaction.ended": undelivered,
	"mcp.loading-started": undelivered,
	"mcp.loading-ended": undelivered,
	// After an answer that is delivered already; what it cost, and what a subagent cost, is in the totals of the run.
	"status.changed": { own: withheld, subagent: [null, withheld] },
	"usage.counted": own(null),
	"budget.warning": own("budget_warning"),
	"notification.raised": undelivered,
	"content.delta": own("text_delta", "reasoning_delta"),
	"content.completed": undelivered,
	"tool-call.started": undelivered,
	"tool-call.delta": undelivered,
	"tool.requested": own(withheld),
	"tool-call.fragment": undelivered,
	"permission.decided": own(null),
	"session-hook.started": own("hook_started"),
	"session-hook.ended": own("hook_completed", "hook_completed + hook_denied", "hook_failed"),
	"tool.started": own(null),
	"tool.progress": own(null),
	"tool.ended": own(null),
	"tool.outcome-unknown": own(null),
	"recovery.reported": own(null),
	"steer.accepted": own(null),
	"tool.result": own(withheld),
	"interaction.requested": {
		own: ["approval/request", "tool/execute", "question/request", null],
		subagent: ["approval/request", "tool/execute", "question/request", null],
	},
	"interaction.resolved": undelivered,
	"mode.changed": own(null),
	"model.changed": own(null),
	"title.changed": own(null),
	"files.snapshot": own(null),
	"files.restored": own(null),
	"session.rewound": own(null),
	"client.attached": own(null),
	"client.detached": own(null),
	"session.reset": own(null),
	"steer.consumed": undelivered,
	"plan.displayed": undelivered,
	"hook.triggered": own("hook_started"),
	"hook.resolved": own("hook_completed"),
	"side-question.started": undelivered,
	"side-question.ended": undelivered,
};

function createSubject(codec: EraCodec, deliveredInEra: DialectSubject["delivered"]): DialectSubject {
	return {
		async carry({ session, peer }) {
			let ids = 0;
			await HostedSession.attach(
				{
					session,
					info: {
						workDir: "/work",
						id: session.id,
						model: "m",
						provider: "p",
						isRunning: true,
						isWaiting: false,
						labels: {},
					},
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
					streams: { has: () => false, take: () => [] },
				},
				{ facts: newFacts(0), cursor: null, sequence: 0 },
			);
		},
		nameOf(method, params) {
			const event = isRecord(params) ? params["event"] : null;
			if (method !== "session/event" || !isRecord(event)) return method;
			const payload = codec.era === "contract" ? event["payload"] : event;
			return isRecord(payload) ? String(payload["type"]) : "nothing";
		},
		delivered: deliveredInEra,
		errorNumber: (code) => errorNumbers[kernelErrorNames[code]][codec.era],
		rules: createRules(() => codec.era),
		goodApproval: { decision: "approve" },
		interactions: ["approval", "client-tool", "question"],
	};
}

const eras = [
	[contractCodec.era, createSubject(contractCodec, delivered)],
	[seedCodec.era, createSubject(seedCodec, { ...delivered, "content.delta": own("text_delta", null) })],
] as const;
for (const [era, subject] of eras) {
	describeDialectContract(`meerkat, ${era} era,`, subject);
	describeDialectContract(`meerkat, ${era} era, over a socket,`, { ...subject, reach: overSocket });

	it(`requests nothing about a call of the ${era} era before the call itself is delivered`, async () => {
		const { take, requests } = await connectDialect(subject);
		for (const type of ["turn.started", "step.started", "tool.requested", "tool.started"] as const)
			for (const body of sampleEvents[type].slice(0, 1)) await take(body);
		for (const body of sampleEvents["interaction.requested"].slice(0, 1)) expect(await take(body)).toEqual([]);
		expect(requests).toEqual([]);
		for (const body of sampleEvents["status.changed"].slice(1, 2)) {
			expect((await take(body)).map(({ name }) => name)).toEqual([
				"tool_call_requested",
				"tool_execution_started",
				"approval/request",
			]);
		}
	});
}
