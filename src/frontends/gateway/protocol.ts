// The gateway's protocol: the kernel's public operations, the gateway's own methods in the same form, and all other shapes.
import * as v from "valibot";
import { command, experimental, operations, query } from "../../api/operations.ts";
import { answerSchema } from "../../api/values/interaction.ts";
import { promptFileSchema } from "../../api/values/prompt-file.ts";
import { modelSchema, providerSchema, signInSchema } from "./setup.ts";

const text = v.string();
const optional = <S extends v.GenericSchema>(schema: S) => v.exactOptional(schema);
const session = { sessionId: text };
const none = v.strictObject({});
const onSession = v.strictObject(session);

export const queueSchema = v.object({
	prompts: v.array(
		v.object({
			id: text,
			input: text,
			files: v.array(v.object({ name: text, type: text })),
			at: v.number(),
		}),
	),
	failure: v.nullable(text),
});
export type ShownQueue = v.InferOutput<typeof queueSchema>;

export const ownMethods = {
	"models.offered": experimental(
		command(
			"host",
			"safe",
			providerSchema,
			v.strictObject({ models: v.array(v.object({ id: text, name: text, contextSize: v.nullable(v.number()) })) }),
		),
	),
	"models.configure": experimental(command("host", "safe", modelSchema, v.strictObject({ alias: text }))),
	"account.sign-in": experimental(command("host", "safe", none, signInSchema)),
	"account.status": experimental(command("host", "safe", none, signInSchema)),
	"account.cancel": experimental(command("host", "safe", none, signInSchema)),
	"sessions.demo": experimental(
		command("host", "never", none, v.strictObject({ ...session, workDir: text, input: text })),
	),
	/** Directory names are only for clients that may create sessions there. */
	"directories.find": experimental(
		command(
			"host",
			"safe",
			v.strictObject({ typed: v.pipe(text, v.maxLength(4096)) }),
			v.strictObject({ path: text, directories: v.array(text) }),
		),
	),
	"workers.list": experimental(
		query(
			"host",
			none,
			v.nullable(
				v.array(
					v.object({
						id: text,
						address: text,
						tags: v.array(text),
						remoteVersion: v.nullable(v.number()),
						isEnding: v.boolean(),
						notUsable: optional(text),
					}),
				),
			),
		),
	),
	"queue.list": query("stored", onSession, queueSchema),
	"queue.add": command(
		"loaded",
		"keyed",
		v.strictObject({ ...session, input: text, files: optional(v.array(promptFileSchema)) }),
		v.strictObject({ id: text }),
	),
	"queue.change": command("loaded", "safe", v.strictObject({ ...session, id: text, input: text }), v.null()),
	"queue.remove": command("loaded", "safe", v.strictObject({ ...session, id: text }), v.null()),
	"queue.send": command("loaded", "never", v.strictObject({ ...session, id: text }), v.null()),
} as const;

/** All `POST /rpc` methods: the public operations except streams, and the gateway's own. */
const { "session.attach": attachOperation, ...callable } = operations;

export { attachOperation };
export const methods = { ...callable, ...ownMethods };

export type MethodName = keyof typeof methods;
export type Params<N extends MethodName> = v.InferOutput<(typeof methods)[N]["params"]>;
export type Result<N extends MethodName> = v.InferOutput<(typeof methods)[N]["result"]>;

export const methodNames = Object.keys(methods).filter(isMethodName);

export function isMethodName(name: string): name is MethodName {
	return Object.hasOwn(methods, name);
}

export type OwnMethodName = keyof typeof ownMethods;

export function isOwnMethod(name: MethodName): name is OwnMethodName {
	return Object.hasOwn(ownMethods, name);
}

/** The body of `POST /interactions/{id}`. */
export const answerBodySchema = v.strictObject({ ...session, clientId: optional(text), answer: answerSchema });
