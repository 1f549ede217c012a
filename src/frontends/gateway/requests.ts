import type { IncomingMessage } from "node:http";
import { type Grade, grades, type OperationParams, type Scope } from "../../api/operations.ts";
import { KernelError } from "../../base/errors.ts";
import type { RequestFacts } from "./access/access.ts";
import type { StreamOptions } from "./streams/event-stream.ts";

export const sessionsOfStream = 100;
/** Events per history page: default and maximum. */
const pageLength = 200;
const longestPage = 1000;

const refuse = (text: string): never => {
	throw new KernelError("invalid-input", text);
};

/** Parses `sessions=ID@EPOCH:SEQ,ID…&grade=delta|block&role=control|observe&client=NAME`. `lastEventId` is a cursor. */
export function readStreamOptions(query: string, lastEventId: string | null, scope: Scope): StreamOptions {
	const known = ["sessions", "grade", "role", "client"];
	const values = new Map<string, string>();
	for (const part of query.split("&").filter((each) => each !== "")) {
		const [name = "", ...rest] = part.split("=");
		if (!known.includes(name)) refuse(`/events takes no parameter '${name}'; it takes ${known.join(", ")}.`);
		if (values.has(name)) refuse(`/events takes the parameter '${name}' only once.`);
		values.set(name, rest.join("="));
	}
	const listed = (values.get("sessions") ?? "").split(",").filter((each) => each !== "");
	if (listed.length === 0) refuse("/events needs sessions=ID, or several ids separated by commas.");
	if (listed.length > sessionsOfStream) refuse(`One stream carries at most ${sessionsOfStream} sessions.`);
	const last = lastEventId === null ? null : readSubscription(lastEventId);
	const subscriptions = listed.map(readSubscription).map((each) => (each.sessionId === last?.sessionId ? last : each));
	if (new Set(subscriptions.map(({ sessionId }) => sessionId)).size < subscriptions.length) {
		refuse("A stream carries each session once.");
	}
	const role = values.get("role") ?? scope;
	if (role !== "control" && role !== "observe") refuse("The parameter 'role' must be control or observe.");
	if (role === "control" && scope !== "control") refuse("This token may only observe.");
	const client = decoded(values.get("client") ?? "");
	if (client.length > 100) refuse("The name of a client has at most 100 characters.");
	const common = {
		grade: readGrade(values.get("grade")),
		answers: role === "control",
		...(client === "" ? {} : { client: { name: client, version: null } }),
	};
	return { attachments: subscriptions.map((each) => ({ ...each, ...common })), scope };
}

function readGrade(value: string | undefined): Grade {
	if (value === undefined) return "delta";
	return grades.find((each) => each === value) ?? refuse(`The parameter 'grade' must be ${grades.join(" or ")}.`);
}

type Subscription = Pick<OperationParams<"session.attach">, "sessionId" | "after">;

function readSubscription(text: string): Subscription {
	const at = text.lastIndexOf("@");
	if (at === -1) {
		// Query builders also encode the `@`.
		const whole = decoded(text);
		const [, sessionId, epoch, seq] = /^(.+)@([^:@]{1,200}):(\d{1,15})$/s.exec(whole) ?? [];
		if (sessionId === undefined || epoch === undefined) return { sessionId: whole };
		return { sessionId, after: { epoch, seq: Number(seq) } };
	}
	const [, epoch, seq] = /^([^:@]{1,200}):(\d{1,15})$/.exec(decoded(text.slice(at + 1))) ?? [];
	if (epoch === undefined || seq === undefined) {
		return refuse(
			`A cursor is EPOCH:SEQ, as in the id of an event, found ${JSON.stringify(text.slice(at + 1, at + 50))}.`,
		);
	}
	return { sessionId: decoded(text.slice(0, at)), after: { epoch, seq: Number(seq) } };
}

/** Decodes percent-encoded text. Fails with `invalid-input`. */
export function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return refuse("The URL has invalid percent-encoding.");
	}
}

export interface PageRequest {
	readonly before: number | null;
	readonly limit: number;
}

/** Parses `before=SEQ&limit=N`. Fails with `invalid-input`. */
export function readPageRequest(query: string): PageRequest {
	const values = new URLSearchParams(query);
	for (const name of values.keys()) {
		if (name !== "before" && name !== "limit")
			refuse(`A history takes no parameter '${name}'; it takes before and limit.`);
	}
	const before = values.get("before");
	const limit = readNumber("limit", values.get("limit") ?? String(pageLength));
	if (limit > longestPage) refuse(`A page of a history has at most ${longestPage} events.`);
	return { before: before === null ? null : readNumber("before", before), limit };
}

function readNumber(name: string, text: string): number {
	if (!/^[1-9]\d{0,14}$/.test(text)) refuse(`The parameter '${name}' must be a whole number from 1.`);
	return Number(text);
}

export function toFacts({ headers, headersDistinct, socket }: IncomingMessage): RequestFacts {
	return {
		hosts: headersDistinct["host"] ?? [],
		origin: headers.origin ?? null,
		fetchSite: headersDistinct["sec-fetch-site"]?.join() ?? null,
		authorization: headers.authorization ?? null,
		remoteAddress: socket.remoteAddress ?? "",
	};
}
