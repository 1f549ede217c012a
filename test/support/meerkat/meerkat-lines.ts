// What tests of Meerkat RPC ask of a server over its lines, and what they look at in the answers.
import { expect } from "vitest";
import type { Stage } from "../executable/executable.ts";
import { isResponse, lastOf, type Server, type ServerLine } from "../executable/running-server.ts";

interface Delivered {
	readonly session_id: string;
	readonly event: Readonly<Record<string, unknown>>;
}

/** Starts a server of many sessions. */
export function serve(stage: Stage, ...flags: string[]): Server {
	return stage.serve("rpc", ...flags);
}

/** The event and the session of an event line; null for any other line. */
export function delivered(line: ServerLine): Delivered | null {
	const params: unknown = line.params;
	return typeof params === "object" && params !== null && "event" in params ? (params as Delivered) : null;
}

export function eventsOf(lines: readonly ServerLine[]): Delivered["event"][] {
	return lines.flatMap((line) => {
		const event = delivered(line)?.event;
		return event === undefined ? [] : [event];
	});
}

export function typesOf(lines: readonly ServerLine[]): unknown[] {
	return eventsOf(lines).map((event) => event["type"]);
}

/** Whether a line has an event of this type. */
export function isEvent(type: string): (line: ServerLine) => boolean {
	return (line) => delivered(line)?.event["type"] === type;
}

/** Sends a request and gives all lines up to its answer. */
export async function ask(server: Server, id: string, method: string, params?: object): Promise<readonly ServerLine[]> {
	server.request(id, method, params);
	return await server.readUntil((line) => isResponse(line, id));
}

/** The same for the answer alone. */
export async function answer(server: Server, id: string, method: string, params?: object): Promise<ServerLine> {
	return lastOf(await ask(server, id, method, params));
}

/** A session whose first run is over; gives its id. */
export async function create(server: Server, params: object = { prompt: "go" }, id = "create"): Promise<string> {
	return String((await answer(server, id, "session/create", params)).result?.["session_id"]);
}

/** A session that has had no run. */
export async function createDeferred(server: Server, params: object = {}, id = "create"): Promise<string> {
	return await create(server, { prompt: "", initial_turn: "deferred", ...params }, id);
}

/** Closes the input, waits for a good end and gives what was still said. */
export async function end(server: Server): Promise<readonly ServerLine[]> {
	server.endInput();
	const rest = await server.readAll();
	expect(await server.exited).toBe(0);
	return rest;
}
