// What the gateway does wrong.
import type { Breakage } from "../breakage.ts";

export const gateway: readonly Breakage[] = [
	{
		name: "prompts wait for ever once the events of their session could not be read",
		file: "gateway/prompt-queues.ts",
		find: "if (isWanted) this.#followLater();",
		replace: "",
	},
	{
		name: "half a request holds up the end of the gateway",
		file: "gateway/http-server.ts",
		find: "if (!awaited.has(socket)) socket.destroy();",
		replace: "{}",
	},
	{
		name: "the gateway lets tokens that observe open a socket",
		file: "gateway/gateway.ts",
		find: 'if (scope !== "control") throw new HttpRefusal(403, "This token may only observe; /events',
		replace: 'if (scope === null) throw new HttpRefusal(403, "This token may only observe; /events',
	},
	{
		name: "a gateway socket says the token again",
		file: "gateway/sockets/handshake.ts",
		find: "names.find((name) => name === plainProtocol) ?? ",
		replace: "",
	},
	{
		name: "a gateway socket loses what comes with its handshake",
		file: "gateway/sockets/sockets.ts",
		find: "\t\t\t\tsocket.pause();\n",
		replace: "",
	},
	{
		name: "an editor that is gone from the gateway still counts as a client",
		file: "dialects/acp/sessions/attached-sessions.ts",
		find: "(attached) => attached.detach(),\n\t\t\t\t() => {},",
		replace: "() => {},\n\t\t\t\t() => {},",
	},
	{
		name: "a title of the gateway is replaced by an input",
		file: "kernel/session/session-title.ts",
		find: "this.#pending > 0 || ",
		replace: "",
	},
	{
		name: "a file of the gateway is not what its type says",
		file: "gateway/files.ts",
		find: "known.magic !== null && ",
		replace: "known.magic === undefined && known.magic !== null && ",
	},
];
