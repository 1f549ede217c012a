// Method tables: one row per inbound method, each with the schema of its params and its handler.
import * as v from "valibot";

/** Sends the result now, before the handler is done; a later result is not sent. */
export type Respond = (result: unknown) => void;

export interface Method {
	/** Checks the params and returns the call ready to run, or null when they do not fit. */
	prepare(params: unknown): ((respond: Respond) => Promise<unknown>) | null;
	/** Whether the method also acts when sent without an id; otherwise such a message is passed over. */
	readonly actsAsNotification: boolean;
}

export type MethodTable = ReadonlyMap<string, Method>;

interface MethodDefinition<S extends v.GenericSchema> {
	readonly params: S;
	readonly actsAsNotification?: boolean;
	/** Resolves to the result. What it throws is answered as an error. */
	handle(params: v.InferOutput<S>, respond: Respond): Promise<unknown>;
}

export function defineMethod<S extends v.GenericSchema>(definition: MethodDefinition<S>): Method {
	return {
		actsAsNotification: definition.actsAsNotification ?? false,
		prepare: (params) => {
			const parsed = v.safeParse(definition.params, params);
			return parsed.success ? (respond) => definition.handle(parsed.output, respond) : null;
		},
	};
}
