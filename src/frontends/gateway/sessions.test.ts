import { describeSessions } from "../../../test/contracts/sessions-contract.ts";
import { sessionsOverGateway } from "../../../test/support/gateway/gateway-sessions.ts";

// Clients of the gateway are people and monitors.
describeSessions("over the gateway", sessionsOverGateway, {
	"client-tools": "its clients run no tools",
	toolless: "its sessions have the tools of their agent",
	holding: "a request holds its session no longer than it takes",
	conversation: "its clients have the events, and not what the model is shown of them",
	replacement: "a fork goes on with what its client sends as the next prompt",
	"cursor-error": "the cursor of another history is answered with a reset and all events",
	versions: "a stream has the name of its client alone",
	opening: "a session is opened as it was created",
	context: "nothing but prompts is added to a context",
	unloading: "sessions that nobody uses are unloaded without being asked for it",
	background: "background tasks are listed and stopped one by one",
	ending: "a client ends turns, and whoever runs the server the rest",
});
