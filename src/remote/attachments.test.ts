import { describeAttachments } from "../../test/contracts/attachment-contract.ts";
import { connectionKinds, connectSession } from "../../test/support/host/remote-sessions.ts";

for (const [name, createPair] of connectionKinds) {
	describeAttachments(name, (session) => connectSession(session, createPair));
}
