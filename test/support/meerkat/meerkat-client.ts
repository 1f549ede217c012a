// A client of Meerkat RPC over a running server: requests and their answers, and the events of lines.
import { isResponse, lastOf, type Server, type ServerLine } from "../executable/running-server.ts";

/** The event of a line; nothing for a line that is none. */
export function eventOf({ params }: ServerLine): Readonly<Record<string, unknown>> {
	const all: unknown = params;
	return typeof all === "object" && all !== null && "event" in all ? Object(all.event) : {};
}

/** Sends a request and gives all lines up to and with its answer. */
export async function request(server: Server, id: string, method: string, params?: object): Promise<ServerLine[]> {
	server.request(id, method, params);
	return await server.readUntil((line) => isResponse(line, id));
}

export async function answerTo(server: Server, id: string, method: string, params?: object): Promise<ServerLine> {
	return lastOf(await request(server, id, method, params));
}

/** Makes a session and gives its id; without a prompt no turn is run. */
export async function createSession(
	server: Server,
	params: { readonly prompt?: string; readonly [name: string]: unknown } = {},
	id = "create",
): Promise<string> {
	const initial = params.prompt === undefined ? { prompt: "", initial_turn: "deferred" } : {};
	const { result, error } = await answerTo(server, id, "session/create", { ...initial, ...params });
	if (result === undefined) throw new Error(`No session was made: ${error?.message}`);
	return String(result["session_id"]);
}
