import * as v from "valibot";
import type { ClientCapability, JsonSchema } from "../../api/session-options.ts";
import { type ToolReturn, toolError } from "../../api/values/content.ts";
import type { Subject } from "../../api/values/subject.ts";
import { isSystemError } from "../../base/errors.ts";
import { issueSentence } from "./argument-schemas.ts";
import type { ApprovalNeed, OpenedCall, Preparation, Refusal, Tool, ToolCallContext } from "./tool.ts";

export interface ToolDefinition<Schema extends v.GenericSchema> {
	readonly name: string;
	readonly description: string;
	readonly needs?: readonly ClientCapability[];
	readonly schema: Schema;
	/** The brief for a file system error; without it, such an error counts as a bug. */
	readonly failureBrief?: string;
	/** Reads and checks, changes nothing; see `Tool.open`. */
	prepare(input: v.InferOutput<Schema>, context: ToolCallContext): Preparation | Promise<Preparation>;
}

export function settled(result: ToolReturn): Preparation {
	return { kind: "settled", result };
}

type Execute = (signal: AbortSignal) => Promise<ToolReturn | Refusal>;

/** A call that changes nothing outside the kernel and has no subject for rules. */
export function readOnly(execute: Execute): Preparation {
	return { kind: "ready", approval: null, hasEffect: false, target: null, execute };
}

/** A call that changes nothing and is allowed unless a rule denies its subject. */
export function freeUnlessRuled(
	need: { readonly action: string; readonly subject: Subject; readonly description: string },
	execute: Execute,
): Preparation {
	const { action, subject, description } = need;
	const approval: ApprovalNeed = { byDefault: "allow", action, subjects: [subject], description, display: [] };
	return { kind: "ready", approval, hasEffect: false, target: null, execute };
}

export function cancelledResult(): ToolReturn {
	return toolError("The call was cancelled.", "Cancelled");
}

/** The JSON Schema for models: without `$schema`; members with a default are optional. */
async function toParameters(schema: v.GenericSchema): Promise<JsonSchema> {
	const { toJsonSchema } = await import("@valibot/to-json-schema");
	// For a coercing schema, the model should write the output type.
	const { $schema, additionalProperties, required, ...parameters } = toJsonSchema(schema, {
		typeMode: "output",
		ignoreActions: ["check"],
	});
	// Older drafts require a nonempty list.
	return required === undefined || required.length === 0 ? parameters : { ...parameters, required };
}

/** Cache: schema to JSON Schema. Sessions have their own tools but mostly share schemas. */
const knownParameters = new WeakMap<v.GenericSchema, Promise<JsonSchema>>();

export function defineTool<Schema extends v.GenericSchema>(definition: ToolDefinition<Schema>): Tool {
	const guard = async <T>(work: () => T | Promise<T>, toValue: (result: ToolReturn) => T): Promise<T> => {
		try {
			return await work();
		} catch (thrown) {
			if (definition.failureBrief === undefined || !isSystemError(thrown)) throw thrown;
			return toValue(toolError(`${definition.failureBrief}: ${thrown.message}.`, definition.failureBrief));
		}
	};

	return {
		name: definition.name,
		needs: definition.needs ?? [],
		description: definition.description,
		parameters() {
			const { schema } = definition;
			const known = knownParameters.get(schema);
			if (known !== undefined) return known;
			const parameters = toParameters(schema);
			knownParameters.set(schema, parameters);
			parameters.catch(() => knownParameters.delete(schema));
			return parameters;
		},
		async open(value, context): Promise<OpenedCall> {
			const parsed = v.safeParse(definition.schema, value);
			if (!parsed.success) return { ok: false, issue: issueSentence(parsed.issues[0]) };
			const preparation = await guard(() => definition.prepare(parsed.output, context), settled);
			if (preparation.kind === "settled") return { ok: true, preparation };
			return {
				ok: true,
				preparation: {
					...preparation,
					execute: (signal, progress) =>
						guard<ToolReturn | Refusal>(
							() => preparation.execute(signal, progress),
							(result) => result,
						),
				},
			};
		},
	};
}
