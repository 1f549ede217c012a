import * as v from "valibot";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";

const text = v.pipe(v.string(), v.nonEmpty());

export const tokenFileSchema = v.object({
	/** For people who inspect the directory: the file name is a hash of it. */
	server_url: text,
	access_token: text,
	token_type: text,
	refresh_token: v.optional(text),
	scope: v.optional(text),
	/** Seconds since the epoch. */
	expires_at: v.optional(v.number()),
	/** Permissions whose absence made the server reject a request. */
	wanted: v.optional(v.object({ scope: text, resource_metadata: v.optional(text) })),
	resource: v.optional(text),
	/** Absent if only the Rust agent has used the sign-in: it does not store it. */
	authorization_server: v.optional(
		v.object({
			issuer: text,
			token_endpoint: text,
			auth_methods: v.optional(v.array(text)),
		}),
	),
	client: v.object({
		client_id: text,
		client_secret: v.optional(text),
		auth_method: v.optional(text),
	}),
});

export type McpTokens = Omit<v.InferOutput<typeof tokenFileSchema>, "server_url">;

export interface McpTokenPlace {
	readonly files: Files;
	readonly shareDir: string;
	readonly log: Log;
	readonly clock: Clock;
}
