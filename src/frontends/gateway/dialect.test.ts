// The gateway keeps the contract of dialects, as a client sees it over HTTP: events come by a stream, answers are requests.
import { setImmediate as nextTurn } from "node:timers/promises";
import { type DialectSubject, describeDialectContract } from "../../../test/contracts/dialect-contract.ts";
import { overGateway } from "../../../test/support/gateway/gateway-session.ts";
import { sampleEvents } from "../../../test/support/protocol/sample-events.ts";
import { errorNumbers, toErrorObject } from "../shared/public-errors.ts";
import { readParams } from "../shared/public-operations.ts";
import { methods } from "./protocol.ts";

/** Subagents' events use the kernel's own vocabulary too. */
const delivered = Object.fromEntries(
	Object.keys(sampleEvents).map((type) => [type, { own: type, subagent: type }]),
) as DialectSubject["delivered"];

describeDialectContract("gateway", {
	reach: overGateway,
	carry({ session, peer, attachment }) {
		void (async () => {
			for await (const batch of attachment.events) {
				for (const { body } of batch) {
					if (body.type !== "interaction.requested") {
						peer.notify(body.type, body);
						continue;
					}
					const { id: interactionId } = body.interaction;
					peer.call(interactionId, body.type, body, (reply) => {
						if (reply.kind !== "result") return;
						const place = { sessionId: session.id, interactionId, clientId: attachment.id };
						const given = { ...place, answer: reply.result };
						const { answer } = readParams(methods["interaction.respond"].params, given, "interaction.respond");
						void session.send({ type: "interaction.respond", interactionId, clientId: attachment.id, answer });
					});
				}
			}
		})();
	},
	async settled(attachment) {
		await attachment.drained();
		await nextTurn();
	},
	nameOf: (method) => method,
	delivered,
	errorNumber: (code) => errorNumbers[code],
	rules: { toErrorObject },
	goodApproval: { kind: "approval", decision: "approve" },
	interactions: ["approval", "client-tool", "question", "hook"],
	lacks: {
		withdrawal: "a request is an event, and so is its end",
		"malformed-answers": "what is no answer is refused, and the request stays open",
	},
});
