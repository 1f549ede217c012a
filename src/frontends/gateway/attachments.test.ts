import { describeAttachments } from "../../../test/contracts/attachment-contract.ts";
import { overGateway } from "../../../test/support/gateway/gateway-session.ts";

// Clients of the gateway are people and monitors.
describeAttachments("over the gateway", overGateway, {
	tools: "its clients run no tools",
	hooks: "its clients have no hooks",
	replacement: "a stream that begins anew is another client, which continues from its cursor",
	failures: "its clients give answers or none: a failure to answer cannot be sent",
	blocking: "a client that does not read makes nobody wait",
	deltas: "pieces of a text that come together are one event, and what a client has not read is in its connection",
	"plan-mode": "a mode is set as a whole",
});
