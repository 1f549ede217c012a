import { describeAttachments } from "../../test/contracts/attachment-contract.ts";
import { describeSessions } from "../../test/contracts/sessions-contract.ts";
import { reachThroughWorker } from "../../test/support/cluster/cluster.ts";
import { offerSession } from "../../test/support/host/remote-sessions.ts";

describeSessions("through a worker", reachThroughWorker);

describeAttachments("through a worker", async (session) => {
	const { session: reached } = await (await reachThroughWorker(offerSession(session))).acquire(session.id);
	return reached;
});
