// Method tables: one row per inbound method, each with the schemas of its params and result and its handler.
import * as v from "valibot";

/** Sends the result now, before the handler is done; a later result is not sent. */
export type Respond<Result = unknown> = (result: Result) => void;

/** Which messages a method acts on: requests, which are answered, notifications, which are not, or both. */
export type ActsOn = "requests" | "notifications" | "both";

export interface Method {
	/** Checks the params and returns the call ready to run, or null when they do not fit. */
	prepare(params: unknown): ((respond: Respond) => Promise<unknown>) | null;
	/** A request it does not act on is that of an unknown method; a notification is passed over. */
	readonly actsOn: ActsOn;
}

export type MethodTable = ReadonlyMap<string, Method>;

interface MethodDefinition<Params extends v.GenericSchema, Result extends v.GenericSchema> {
	readonly params: Params;
	/** What the result is like; it is not checked here. */
	readonly result?: Result | null;
	/** Requests, if it is not said. */
	readonly actsOn?: ActsOn;
	/** Resolves to the result, unless it responded before. What it throws is answered as an error. */
	handle(
		params: v.InferOutput<Params>,
		respond: Respond<v.InferOutput<Result>>,
	): Promise<v.InferOutput<Result>> | Promise<void>;
}

export function defineMethod<Params extends v.GenericSchema, Result extends v.GenericSchema>(
	definition: MethodDefinition<Params, Result>,
): Method {
	return {
		actsOn: definition.actsOn ?? "requests",
		prepare: (params) => {
			const parsed = v.safeParse(definition.params, params);
			return parsed.success ? (respond) => definition.handle(parsed.output, respond) : null;
		},
	};
}
