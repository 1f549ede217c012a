import type { SessionApi } from "../../api/kernel.ts";
import type { AgentEvent } from "../../api/values/event.ts";

const confinedNote =
	"Commands run in a sandbox: they may write only in the working directory and for temporary files. --yolo runs them with your rights.";
const unconfinedNote =
	"Commands run with your rights: this machine has no working sandbox (on Linux, install bubblewrap; see 'agentwire docs sandbox').";

export function createSandboxNote(
	session: Pick<SessionApi, "send">,
	isDue: boolean,
	complain: (text: string) => void,
): (event: AgentEvent) => void {
	let isSaid = !isDue;
	return ({ body }) => {
		if (isSaid || body.type !== "tool.requested" || body.call.function.name !== "Shell") return;
		isSaid = true;
		void session
			.send({ type: "session.describe" })
			.then(({ sandbox }) => complain(sandbox === null ? unconfinedNote : confinedNote));
	};
}
