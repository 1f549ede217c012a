import * as v from "valibot";
import { namedObject, nullish, params, plainObject, sessionId, strictParams } from "./schema.ts";

const name = v.pipe(
	v.string(),
	v.minLength(1, "server_name cannot be empty"),
	v.maxLength(200, "server_name has at most 200 characters"),
);
const words = v.pipe(v.array(v.string()), v.maxLength(1000));
const textsByName = v.pipe(namedObject, v.record(v.string(), v.string()), v.maxEntries(1000));

export const serverConfigSchema = v.pipe(
	plainObject,
	v.union(
		[
			v.strictObject({
				name,
				command: v.pipe(v.string(), v.minLength(1)),
				args: nullish(words),
				/** Added to the variables of the session. */
				env: nullish(textsByName),
				/** Relative to the work directory of the session. */
				cwd: nullish(v.string()),
			}),
			v.strictObject({
				name,
				url: v.pipe(v.string(), v.url()),
				headers: nullish(textsByName),
				transport: nullish(v.picklist(["streamable-http", "sse"])),
			}),
		],
		"must be {name, command, args?, env?, cwd?} or {name, url, headers?, transport?}, with a name that is not empty; other members are not supported",
	),
);
export type ServerConfig = v.InferOutput<typeof serverConfigSchema>;

/** Changes never outlive the session here. */
const persisted = { persisted: nullish(v.literal(false, "cannot be true: the settings of MCP servers are files")) };

export const mcpAddParamsSchema = strictParams({
	session_id: sessionId,
	server_config: serverConfigSchema,
	...persisted,
});
export const mcpRemoveParamsSchema = params({ session_id: sessionId, server_name: name, ...persisted });
export const mcpReloadParamsSchema = params({
	session_id: sessionId,
	server_name: nullish(name),
	...persisted,
});

export const mcpResultSchema = v.object({
	session_id: v.string(),
	operation: v.picklist(["add", "remove", "reload"]),
	server_name: v.exactOptional(v.string()),
	/** It takes effect with the next turn. */
	status: v.literal("staged"),
	persisted: v.literal(false),
});
export type McpResult = v.InferOutput<typeof mcpResultSchema>;
