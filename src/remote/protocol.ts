// Front end and remote kernel: JSON-RPC requests, one per kernel API method. Unbounded data such as events is a stream, read in
// batches on request: each request acknowledges the previous batch, like a feed in the same process.
import * as v from "valibot";
import { commandSchema } from "../api/commands.ts";
import { creationOptionsSchema, forkOptionsSchema, openingOptionsSchema } from "../api/options.ts";
import {
	attachedToolsSchema,
	attachOptionsSchema,
	cursorSchema,
	infoSchema,
	listQuerySchema,
	modelListSchema,
	sessionPageSchema,
	skillSchema,
	snapshotSchema,
} from "../api/schemas.ts";
import { userInputSchema } from "../api/values/content.ts";
import { forkedSchema } from "../api/values/file-changes.ts";
import { turnStartOptionsSchema } from "../api/values/turn-options.ts";
import { KernelError, type KernelErrorCode, kernelErrorCodes, toKernelError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { EnvelopeRules, ErrorObject, ParamsProblem } from "../ports/rpc/envelope.ts";

const text = v.string();
const none = v.object({});
const handle = v.object({ handle: text });
const session = v.object({ session: text });
const stream = v.object({ stream: text });
const acquired = v.object({ handle: text, session: text, id: text, workDir: text, info: infoSchema });

interface RequestDeclaration {
	readonly params: v.GenericSchema;
	readonly result: v.GenericSchema;
}

/** A `handle` is one use of a session; a `session` is a loaded one, the same while any handle or attachment exists. */
export const requests = {
	hello: { params: v.object({ version: v.number() }), result: v.object({ version: v.number() }) },
	"sessions.create": { params: v.object({ options: creationOptionsSchema }), result: acquired },
	"sessions.acquire": { params: v.object({ id: text, options: openingOptionsSchema }), result: acquired },
	"sessions.fork": { params: v.object({ id: text, options: forkOptionsSchema }), result: forkedSchema },
	"sessions.loaded": { params: none, result: v.array(infoSchema) },
	"sessions.list": { params: v.object({ query: listQuerySchema }), result: sessionPageSchema },
	"sessions.stored-events": { params: v.object({ workDir: text, id: text }), result: stream },
	"sessions.models": { params: none, result: modelListSchema },
	"sessions.skills": { params: none, result: v.array(skillSchema) },
	"sessions.skill-text": { params: v.object({ name: text }), result: v.nullable(text) },
	"sessions.interrupt": { params: v.object({ id: text }), result: v.boolean() },
	"sessions.archive": { params: v.object({ id: text }), result: v.null() },
	"sessions.unarchive": { params: v.object({ id: text }), result: v.null() },
	"sessions.unload": { params: v.object({ id: text }), result: v.null() },
	"sessions.delete": { params: v.object({ id: text }), result: v.null() },
	"sessions.stop": { params: none, result: v.null() },
	"handle.start-turn": {
		params: v.object({ handle: text, input: userInputSchema, options: turnStartOptionsSchema }),
		result: v.object({ turnId: text }),
	},
	"handle.discard": { params: handle, result: v.null() },
	/** The result schema is that of the command's value. */
	"session.send": { params: v.object({ session: text, command: commandSchema }), result: v.unknown() },
	/** Streams batches of events. */
	"session.attach": {
		params: v.object({ session: text, options: attachOptionsSchema }),
		result: v.object({ id: text, stream: text, snapshot: snapshotSchema, tools: attachedToolsSchema }),
	},
	"session.snapshot": { params: session, result: snapshotSchema },
	/** Streams messages. */
	"session.conversation": {
		params: session,
		result: v.object({ systemPrompt: v.nullable(text), stream: text }),
	},
	/** Streams events. */
	"session.events": { params: v.object({ session: text, after: v.exactOptional(cursorSchema) }), result: stream },
	"session.stop": { params: session, result: v.null() },
	"stream.next": { params: stream, result: v.object({ items: v.array(v.unknown()), ended: v.boolean() }) },
	/** Answered once the front end has consumed everything an attachment has delivered. */
	"stream.drained": { params: stream, result: v.null() },
} as const satisfies Readonly<Record<string, RequestDeclaration>>;

export const notifications = {
	"handle.release": handle,
	"session.fail": v.object({ session: text, message: text }),
	/** Detaches, for the stream of an attachment. Delivered data can still be read. */
	"stream.close": stream,
} as const satisfies Readonly<Record<string, v.GenericSchema>>;

export type RequestName = keyof typeof requests;
export type NotificationName = keyof typeof notifications;
export type Params<N extends RequestName> = v.InferOutput<(typeof requests)[N]["params"]>;
export type Result<N extends RequestName> = v.InferOutput<(typeof requests)[N]["result"]>;
export type NotificationParams<N extends NotificationName> = v.InferOutput<(typeof notifications)[N]>;

/** Code of every kernel error; its data identify it. */
const kernelErrorNumber = -32000;

export const remoteRules: EnvelopeRules = {
	isId: (value) => typeof value === "string",
	versionOptional: false,
	unknownKeysRefused: false,
	linesAreSecret: true,
	blankLinesIgnored: true,
	errorDataAlways: true,
	parseError: { code: -32700, message: "The line is not JSON, or too long." },
	invalidRequest: { code: -32600, message: "The line is neither a request nor an answer of JSON-RPC 2.0." },
	invalidResponse: null,
	unknownMethod: (method) => ({ code: -32601, message: `There is no method ${method}.` }),
	invalidParams: (method, problem) => ({
		code: -32602,
		message: `The params of ${method} are invalid: ${describeProblem(problem)}`,
		data: { code: "invalid-input", data: null },
	}),
	tooManyRequests: (limit) =>
		toErrorObject(new KernelError("overloaded", `More than ${limit} requests are unanswered.`)),
	toErrorObject,
};

/** Omits the value: environments and MCP headers contain keys. */
function describeProblem(problem: ParamsProblem): string {
	if (problem.kind === "missing") return "there are none.";
	return `${problem.place ?? "a value"} must be ${problem.expected ?? "something else"}.`;
}

function toErrorObject(thrown: unknown): ErrorObject {
	const { code, message, data } = toKernelError(thrown);
	return { code: kernelErrorNumber, message, data: { code, data } };
}

function isKernelErrorCode(code: unknown): code is KernelErrorCode {
	return kernelErrorCodes.some((known) => known === code);
}

/** For requests pending when the kernel ended the connection. Earlier session state does not apply to the next one. */
export function connectionEnded(): KernelError {
	return new KernelError("closed", "The kernel has ended the connection.", { data: { connectionEnded: true } });
}

export function isConnectionEnded({ code, data }: KernelError): boolean {
	return code === "closed" && isRecord(data) && data["connectionEnded"] === true;
}

export function fromErrorObject({ message, data }: ErrorObject): KernelError {
	if (!isRecord(data) || !isKernelErrorCode(data["code"])) return new KernelError("internal", message);
	return new KernelError(data["code"], message, { data: data["data"] });
}
