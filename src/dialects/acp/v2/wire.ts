// The wire shapes of the Agent Client Protocol, version 2 (a draft), as far as they differ from those of version 1.
import * as v from "valibot";
import { contentBlockSchema } from "../content.ts";
import { absolutePath, capability, mcpServers, meta, nullish, params } from "../schema.ts";
import { implementationSchema, objectOrNone, sessionIdSchema } from "../wire.ts";

export const draftVersion = 2;

export const initializeParamsSchema = params({
	protocolVersion: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535)),
	info: v.fallback(nullish(implementationSchema), null),
	capabilities: objectOrNone({
		auth: objectOrNone({ terminal: capability }),
		elicitation: objectOrNone({ form: capability, url: capability }),
	}),
});
export type InitializeParams = v.InferOutput<typeof initializeParamsSchema>;

const namedValue = v.object({ name: v.string(), value: v.string(), ...meta });
const mcpServerSchema = v.variant("type", [
	v.object({
		type: v.literal("stdio"),
		name: v.string(),
		command: v.string(),
		args: v.optional(v.array(v.string()), () => []),
		env: v.optional(v.array(namedValue), () => []),
		...meta,
	}),
	v.object({
		type: v.literal("http"),
		name: v.string(),
		url: v.string(),
		headers: v.optional(v.array(namedValue), () => []),
		...meta,
	}),
]);

const workspace = {
	cwd: absolutePath,
	additionalDirectories: v.optional(v.array(absolutePath), () => []),
	mcpServers: mcpServers(mcpServerSchema),
};
export const newSessionParamsSchema = params(workspace);
export const resumeParamsSchema = params({
	sessionId: sessionIdSchema,
	...workspace,
	/** Absent to resume without the conversation so far. */
	replayFrom: nullish(v.object({ type: v.literal("start", "the conversation can only be replayed from its start") })),
});
export const loginParamsSchema = params({ methodId: v.string() });
export const promptParamsSchema = params({
	sessionId: sessionIdSchema,
	prompt: v.pipe(v.array(contentBlockSchema), v.minLength(1, "a prompt needs at least one block")),
});
export const setConfigOptionParamsSchema = v.variant("type", [
	v.object({
		type: v.literal("id"),
		sessionId: sessionIdSchema,
		configId: v.string(),
		value: v.string(),
		...meta,
	}),
	v.object({
		type: v.literal("boolean"),
		sessionId: sessionIdSchema,
		configId: v.string(),
		value: v.boolean(),
		...meta,
	}),
]);
