// The legacy dialect keeps the contract of dialects.
import { type DialectSubject, describeDialectContract } from "../../../test/contracts/dialect-contract.ts";
import { overSocket } from "../../../test/support/host/remote-sessions.ts";
import { undelivered, unwrapped, wrappedBy } from "../../../test/support/protocol/delivered-samples.ts";
import { isRecord } from "../../base/json.ts";
import { silentLog } from "../../base/log.ts";
import { EventPump } from "../shared/event-pump.ts";
import { envelopeRules } from "./envelope.ts";
import { errorNumbers } from "./errors.ts";
import { project } from "./projection.ts";

const { both, streamed, merged } = wrappedBy("subagent_event");

const subject: DialectSubject = {
	carry: ({ session, peer, attachment }) => new EventPump(session, peer, project, silentLog).carry(attachment),
	nameOf: (_method, params) => nameOf(params),
	delivered: {
		"turn.started": undelivered,
		"turn.ended": undelivered,
		"step.started": both("step_begin"),
		"step.interrupted": both("step_interrupted"),
		"step.retrying": undelivered,
		"compaction.started": both("compaction_begin"),
		"compaction.ended": both("compaction_end"),
		"mcp.loading-started": undelivered,
		"mcp.loading-ended": undelivered,
		// Only with a context usage.
		"status.changed": both(null, "status_update"),
		"usage.counted": undelivered,
		"budget.warning": undelivered,
		"notification.raised": undelivered,
		"content.delta": streamed("content_part"),
		"content.completed": merged("content_part"),
		"tool-call.started": streamed("tool_call"),
		"tool-call.delta": streamed("tool_call_part"),
		"tool.requested": merged("tool_call"),
		"tool-call.fragment": merged("tool_call_part"),
		"permission.decided": undelivered,
		"session-hook.started": undelivered,
		"session-hook.ended": undelivered,
		"tool.started": undelivered,
		"tool.progress": undelivered,
		"tool.ended": undelivered,
		"tool.outcome-unknown": undelivered,
		"recovery.reported": undelivered,
		"steer.accepted": undelivered,
		"tool.result": both("tool_result"),
		"interaction.requested": unwrapped("approval", null, null, null),
		"interaction.resolved": undelivered,
		"mode.changed": undelivered,
		"model.changed": undelivered,
		"title.changed": undelivered,
		"files.snapshot": undelivered,
		"files.restored": undelivered,
		"session.rewound": undelivered,
		"client.attached": undelivered,
		"client.detached": undelivered,
		"session.reset": undelivered,
		"steer.consumed": undelivered,
		"plan.displayed": undelivered,
		"hook.triggered": undelivered,
		"hook.resolved": undelivered,
		"side-question.started": undelivered,
		"side-question.ended": undelivered,
	},
	errorNumber: (code) => errorNumbers[code].code,
	rules: envelopeRules,
	goodApproval: { response: "approve" },
	interactions: ["approval"],
};
describeDialectContract("legacy", subject);
describeDialectContract(`legacy, over a socket,`, { ...subject, reach: overSocket });

function nameOf(message: unknown): string {
	if (!isRecord(message)) return "nothing";
	const { type, payload } = message;
	const isWrapper = type === "subagent_event" && isRecord(payload);
	return isWrapper ? `${type}>${nameOf(payload["event"])}` : String(type);
}
