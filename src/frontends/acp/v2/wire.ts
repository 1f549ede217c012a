import * as v from "valibot";
import { contentBlockSchema } from "../content.ts";
import { absolutePath, capability, declared, mcpServers, meta, nullish, params } from "../schema.ts";
import { choiceSchema, forkOnly, implementationSchema, objectOrNone, sessionIdSchema } from "../wire.ts";

export const draftVersion = 2;

export const clientCapabilitiesSchema = objectOrNone({
	auth: objectOrNone({ terminal: capability }),
	elicitation: objectOrNone({ form: capability, url: capability }),
});

export const initializeParamsSchema = params({
	protocolVersion: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535)),
	info: v.fallback(nullish(implementationSchema), null),
	capabilities: clientCapabilitiesSchema,
});
export type InitializeParams = v.InferOutput<typeof initializeParamsSchema>;

const named = { methodId: v.string(), name: v.string(), description: v.string() };
export const authMethodSchema = v.variant("type", [
	v.object({ type: v.literal("agent"), ...named }),
	v.object({ type: v.literal("terminal"), ...named, args: v.array(v.string()) }),
]);
export type AuthMethod = v.InferOutput<typeof authMethodSchema>;

export const initializeResultSchema = v.object({
	protocolVersion: v.literal(draftVersion),
	info: v.object({ name: v.string(), title: v.string(), version: v.string() }),
	capabilities: v.object({
		session: v.object({
			prompt: v.object({
				image: v.exactOptional(declared),
				audio: v.exactOptional(declared),
				embeddedContext: declared,
			}),
			mcp: v.object({ stdio: declared, http: declared }),
			delete: declared,
			fork: declared,
			additionalDirectories: declared,
		}),
		auth: declared,
	}),
	authMethods: v.array(authMethodSchema),
});
export type InitializeResult = v.InferOutput<typeof initializeResultSchema>;

const namedValue = v.object({ name: v.string(), value: v.string(), ...meta });
export const stdioServerSchema = v.object({
	type: v.literal("stdio"),
	name: v.string(),
	command: v.string(),
	args: v.optional(v.array(v.string()), () => []),
	env: v.optional(v.array(namedValue), () => []),
	...meta,
});
export const remoteServerSchema = v.object({
	type: v.literal("http"),
	name: v.string(),
	url: v.string(),
	headers: v.optional(v.array(namedValue), () => []),
	...meta,
});
const mcpServerSchema = v.variant("type", [stdioServerSchema, remoteServerSchema]);

const workspace = {
	cwd: absolutePath,
	additionalDirectories: v.optional(v.array(absolutePath), () => []),
	mcpServers: mcpServers(mcpServerSchema),
};
export const newSessionParamsSchema = params(workspace);
export const resumeParamsSchema = params({
	sessionId: sessionIdSchema,
	...workspace,
	replayFrom: nullish(v.object({ type: v.literal("start", "the conversation can only be replayed from its start") })),
});
export const forkParamsSchema = params({ sessionId: sessionIdSchema, ...workspace, ...forkOnly });
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

const configId = v.string();
const described = { name: v.string(), description: v.string(), category: v.string() };
export const configOptionSchema = v.variant("type", [
	v.object({
		configId,
		type: v.literal("select"),
		...described,
		currentValue: v.string(),
		options: v.array(choiceSchema),
	}),
	v.object({ configId, type: v.literal("boolean"), ...described, currentValue: v.boolean() }),
]);
export type ConfigOption = v.InferOutput<typeof configOptionSchema>;
export const choicesResultSchema = v.object({ configOptions: v.array(configOptionSchema) });
export type ChoicesResult = v.InferOutput<typeof choicesResultSchema>;
export const newSessionResultSchema = v.object({ sessionId: v.string(), configOptions: v.array(configOptionSchema) });
export const promptResultSchema = v.object({ messageId: v.string() });
