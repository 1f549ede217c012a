// The document of the gateway and its description as OpenAPI, from the declarations that the server uses.
import type * as v from "valibot";
import { operationTexts } from "../../src/api/operations.texts.ts";
import { operations, publicVersion, snapshotSchema } from "../../src/api/operations.ts";
import { eventDeclarations } from "../../src/api/values/event.ts";
import { ownMethodTexts } from "../../src/frontends/gateway/protocol.texts.ts";
import { answerBodySchema, methodNames, methods, queueSchema } from "../../src/frontends/gateway/protocol.ts";
import { envelopeErrors, errorNumbers } from "../../src/frontends/shared/public-errors.ts";
import { shapeName } from "./description.ts";
import { type Definitions, type JsonSchema, toDefinitions } from "./json-schema.ts";

const about = { ...operationTexts, ...ownMethodTexts };
const paramsOf = (name: string) => `${shapeName(name)}Params`;
const resultOf = (name: string) => `${shapeName(name)}Result`;
const eventOf = (type: string) => `${shapeName(type)}Event`;

const sent: Readonly<Record<string, v.GenericSchema>> = {
	AnswerBody: answerBodySchema,
	[paramsOf("session.attach")]: operations["session.attach"].params,
	...Object.fromEntries(methodNames.map((name) => [paramsOf(name), methods[name].params])),
};
const received: Readonly<Record<string, v.GenericSchema>> = {
	Snapshot: snapshotSchema,
	[resultOf("session.attach")]: operations["session.attach"].result,
	...Object.fromEntries(methodNames.map((name) => [resultOf(name), methods[name].result])),
	...Object.fromEntries(Object.entries(eventDeclarations).map(([type, { schema }]) => [eventOf(type), schema])),
};

const nullableText: JsonSchema = { anyOf: [{ type: "string" }, { type: "null" }] };

/** What every event has besides the members of its type. */
const origin: Readonly<Record<string, JsonSchema>> = {
	sessionId: { type: "string" },
	turnId: { anyOf: [{ type: "string" }, { type: "null" }] },
	agentPath: {
		type: "array",
		items: {
			type: "object",
			properties: { parentToolCallId: nullableText, agentId: nullableText, subagentType: nullableText },
			required: ["parentToolCallId", "agentId", "subagentType"],
		},
	},
	at: { type: "number", description: "Milliseconds since the epoch." },
	seq: { type: "integer", description: "Of durable events: the position in the history, from 1 without gaps." },
	epoch: { type: "string", description: "Of durable events: the name of the history." },
};

function definitions(): Definitions {
	const ofServer = toDefinitions(received, "server");
	const events = Object.fromEntries(
		Object.keys(eventDeclarations).map((type) => {
			const { properties = {}, required = [] } = ofServer[eventOf(type)] ?? {};
			const members = { ...origin, type: { const: type }, ...properties };
			const needed = ["sessionId", "turnId", "agentPath", "at", "type", ...required];
			return [eventOf(type), { type: "object", properties: members, required: needed }] as const;
		}),
	);
	return { ...toDefinitions(sent, "client"), ...ofServer, ...events };
}

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const jsonBody = (schema: object) => ({ "application/json": { schema } });
const refusals = {
	"400": { description: "The request has a part that is not understood; `error` says which." },
	"401": { description: "There is no valid token." },
	"403": { description: "The origin is not this server, or the token may only observe." },
	"413": { description: "The body is larger than 32 MiB." },
	"415": { description: "The content type is not application/json." },
	"421": { description: "`Host` is no name of this server." },
	"429": { description: "Too many requests of this address were refused." },
	"503": { description: "The server is ending, or has too much to do." },
};

/** A path of WebSockets. */
function toSocket(summary: string, parameters: readonly object[]): object {
	const protocol = {
		name: "Sec-WebSocket-Protocol",
		in: "header",
		schema: { type: "string" },
		description: "`agentwire, agentwire.bearer.TOKEN`, instead of Authorization.",
	};
	return {
		summary: `A WebSocket: ${summary} Needs a token that may control.`,
		parameters: [...parameters, protocol],
		responses: { "101": { description: "Each message is one of the protocol." }, ...refusals },
	};
}

/** OpenAPI 3.1. */
export function toOpenApi(): { readonly components: { readonly schemas: Definitions } } {
	const document = {
		openapi: "3.1.0",
		info: { title: "agentwire gateway", version: `${publicVersion}` },
		security: [{ token: [] }],
		paths: {
			"/rpc": {
				post: {
					summary: "One request of JSON-RPC 2.0. Its errors have the status 200.",
					parameters: [
						{
							name: "Idempotency-Key",
							in: "header",
							schema: { type: "string", maxLength: 200 },
							description: "The same key with the same request is acted on once, for ten minutes.",
						},
					],
					requestBody: {
						required: true,
						content: jsonBody({
							oneOf: methodNames.map((name) => ({
								type: "object",
								description: about[name],
								properties: {
									jsonrpc: { const: "2.0" },
									id: { type: ["string", "number"] },
									method: { const: name },
									params: ref(paramsOf(name)),
								},
								required: ["jsonrpc", "id", "method"],
							})),
						}),
					},
					responses: {
						"200": {
							description: "The result, of the shape that belongs to the method, or the error.",
							content: jsonBody({
								oneOf: [
									{
										type: "object",
										properties: { result: { anyOf: methodNames.map((name) => ref(resultOf(name))) } },
										required: ["jsonrpc", "id", "result"],
									},
									{ type: "object", properties: { error: { type: "object" } }, required: ["jsonrpc", "id", "error"] },
								],
							}),
						},
						...refusals,
					},
				},
			},
			"/events": {
				get: {
					summary: "Events of sessions as server-sent events.",
					parameters: [
						{
							name: "sessions",
							in: "query",
							required: true,
							schema: { type: "string" },
							description: "ID or ID@EPOCH:SEQ, with commas between; ids are percent-encoded.",
						},
						{ name: "grade", in: "query", schema: { enum: ["delta", "block"] } },
						{ name: "role", in: "query", schema: { enum: ["control", "observe"] } },
						{ name: "client", in: "query", schema: { type: "string", maxLength: 100 } },
						{ name: "Last-Event-ID", in: "header", schema: { type: "string" } },
					],
					responses: {
						"200": {
							description: "A stream that does not end by itself.",
							content: {
								"text/event-stream": {
									schema: { oneOf: Object.keys(eventDeclarations).map((type) => ref(eventOf(type))) },
								},
							},
						},
						...refusals,
					},
				},
				post: {
					summary: about["session.attach"],
					requestBody: { required: true, content: jsonBody(ref(paramsOf("session.attach"))) },
					responses: {
						"200": {
							description: "A stream that does not end by itself; its first event is `state`.",
							content: { "text/event-stream": { schema: ref(resultOf("session.attach")) } },
						},
						...refusals,
					},
				},
			},
			"/acp": { get: toSocket("The Agent Client Protocol, version 1, with all sessions. Takes no parameters.", []) },
			"/wire": {
				get: toSocket("Kimi Wire, with one session.", [
					{ name: "session", in: "query", required: true, schema: { type: "string" } },
				]),
			},
			"/sessions/{sessionId}/history": {
				get: {
					summary: "A page of a session's stored events, from its end backwards.",
					parameters: [
						{ name: "sessionId", in: "path", required: true, schema: { type: "string" } },
						{ name: "before", in: "query", schema: { type: "integer", minimum: 1 } },
						{ name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 1000, default: 200 } },
					],
					responses: { "200": { description: "`sessionId`, `cursor`, `events` and `before`." }, ...refusals },
				},
			},
			"/interactions/{interactionId}": {
				post: {
					summary: "Answers a request, as interaction.respond does.",
					parameters: [{ name: "interactionId", in: "path", required: true, schema: { type: "string" } }],
					requestBody: { required: true, content: jsonBody(ref("AnswerBody")) },
					responses: {
						"200": {
							description: "Even if somebody else answered first.",
							content: jsonBody(ref(resultOf("interaction.respond"))),
						},
						...refusals,
					},
				},
			},
		},
		components: {
			securitySchemes: { token: { type: "http", scheme: "bearer" } },
			schemas: definitions(),
		},
	};
	return JSON.parse(JSON.stringify(document).replaceAll("#/$defs/", "#/components/schemas/"));
}

/** A schema in one line, as a reader of JSON would write it. */
function toNotation(schema: JsonSchema | undefined, all: Definitions, depth = 0): string {
	if (schema === undefined) return "anything";
	if (schema.$ref !== undefined) {
		const name = schema.$ref.split("/").at(-1) ?? "";
		return depth > 3 ? name : toNotation(all[name], all, depth + 1);
	}
	if ("const" in schema) return JSON.stringify(schema.const);
	if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
	const choices = schema.anyOf ?? schema.oneOf;
	if (choices !== undefined) {
		const shown = choices.map((each) => toNotation(each, all, depth + 1));
		return shown.length > 4 ? `${shown.slice(0, 3).join(" or ")} or …` : shown.join(" or ");
	}
	if (schema.type === "array") return `[${toNotation(schema.items, all, depth + 1)}, …]`;
	if (schema.properties !== undefined) {
		if (depth > 2) return "{…}";
		const members = Object.entries(schema.properties).map(([key, value]) => {
			const isNeeded = schema.required?.includes(key) === true;
			return `${key}${isNeeded ? "" : "?"}: ${toNotation(value, all, depth + 1)}`;
		});
		return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
	}
	return typeof schema.type === "string" ? schema.type : "object";
}

const cell = (text: string) => text.replaceAll("|", "\\|");

/** The document, in Markdown. */
export function toGatewayDocument(): string {
	const all = definitions();
	const methodRows = methodNames.map(
		(name) => `| [\`${name}\`](#${name.replaceAll(".", "")}) | ${methods[name].scope} | ${cell(about[name])} |`,
	);
	const sections = methodNames.flatMap((name) => [
		`### ${name}`,
		"",
		about[name],
		"",
		"```",
		`params  ${toNotation(all[paramsOf(name)], all)}`,
		`result  ${toNotation(all[resultOf(name)], all)}`,
		"```",
		"",
	]);
	const eventRows = Object.entries(eventDeclarations).map(
		([type, declaration]) =>
			`| \`${type}\` | ${declaration.class} | ${cell(declaration.doc)} | \`${cell(toNotation(withoutOrigin(all[eventOf(type)]), all, 1))}\` |`,
	);
	const errorRows = [
		`| ${envelopeErrors.parse} | – | The body is not JSON. |`,
		`| ${envelopeErrors.invalidRequest} | – | The body is not a JSON-RPC 2.0 request with an id. |`,
		`| ${envelopeErrors.unknownMethod} | – | The method does not exist. |`,
		`| ${envelopeErrors.forbidden} | – | The token may only observe. |`,
		...Object.entries(errorNumbers).map(
			([code, number]) => `| ${number} | \`${code}\` | The kernel error with this code; \`message\` describes it. |`,
		),
	];
	return [
		"# The gateway's protocol",
		"",
		"<!-- Written by `npm run generate` from src/frontends/gateway/protocol.ts and src/api/values/event.ts. -->",
		"",
		`Version ${publicVersion}. [gateway.md](../../guides/gateway.md) shows how to use it and what protects it; [schema/gateway.json](../../../schema/gateway.json) has the same as OpenAPI 3.1.`,
		"",
		"## Methods",
		"",
		"JSON-RPC 2.0 requests, one per body of `POST /rpc`. Unknown members are refused by name. `?` marks optional members.",
		"",
		"| Method | Token | Does |",
		"| --- | --- | --- |",
		...methodRows,
		"",
		...sections,
		"## Errors",
		"",
		"Method errors have the status 200; clients should rely on `data.code`, the kernel's code. Refused requests have another status and `{ error }`, a text.",
		"",
		"| Number | `data.code` | Meaning |",
		"| --- | --- | --- |",
		...errorRows,
		"",
		"## Streams",
		"",
		"`GET /events` sends these messages; each has `sessionId`.",
		"",
		"| `event:` | `id:` | `data:` |",
		"| --- | --- | --- |",
		`| \`state\` | – | First of each session: \`{ clientId, snapshot }\`; the snapshot is \`${cell(toNotation(all["Snapshot"], all, 1))}\`. |`,
		"| `e` | `SESSION@EPOCH:SEQ` | A durable event: it is stored, and its `seq` is one more than that of the event before. |",
		"| `v` | – | A volatile event, with the `offset` of its text. Pieces of a text that arrive within 50 ms are merged. |",
		`| \`queue\` | – | The queued prompts, at the beginning and after every change: \`${cell(toNotation(queueSchema, all, 1))}\`. |`,
		"| `reset` | – | The cursor belongs to another history: drop what you have; all events follow from the first. |",
		"| `failed` | – | The session cannot be followed: `{ error }`, as for a method. The stream continues with the others. |",
		"| `closed` | – | The session was unloaded, archived or stopped; nothing more follows from it. |",
		"",
		"A line `: ping` is sent every 15 seconds.",
		"",
		"## Events",
		"",
		"`data` of `e` and `v` has `sessionId`, `turnId`, `agentPath` (empty for the session's own agent, else the subagents down to the one that emits the event), `at` (milliseconds), `type`, for durable events `seq` and `epoch`, and these members:",
		"",
		"| Type | Class | Meaning | Members |",
		"| --- | --- | --- | --- |",
		...eventRows,
		"",
	].join("\n");
}

function withoutOrigin(schema: JsonSchema | undefined): JsonSchema {
	const properties = Object.fromEntries(
		Object.entries(schema?.properties ?? {}).filter(([key]) => key !== "type" && !Object.hasOwn(origin, key)),
	);
	return { type: "object", properties, ...(schema?.required === undefined ? {} : { required: schema.required }) };
}
