import { describeSessions } from "../../test/contracts/sessions-contract.ts";
import { connectionKinds, connectRemote } from "../../test/support/host/remote-sessions.ts";

for (const [name, createPair] of connectionKinds) {
	describeSessions(name, async (sessions) => (await connectRemote(sessions, createPair)).sessions);
}
