import { describeAttachments } from "../../test/contracts/attachment-contract.ts";
import { overGateway } from "../../test/support/gateway/gateway-session.ts";

// Clients of the gateway are people and monitors: they run no tools and no hooks, make nobody wait, and see texts grow in larger pieces.
describeAttachments("over the gateway", overGateway, [
	"tools",
	"hooks",
	"capabilities",
	"replacement",
	"failures",
	"blocking",
	"deltas",
	"plan-mode",
]);
