import * as v from "valibot";
import type { ParamsProblem, RpcId } from "./envelope.ts";

/** Sends the result before the handler has finished; a later result is ignored. */
export type Respond<Result = unknown> = (result: Result) => void;

/** Message types that a method accepts: requests (answered), notifications (not answered) or both. */
export type ActsOn = "requests" | "notifications" | "both";

export type MethodCall = (respond: Respond, id: RpcId | null) => Promise<unknown>;

export interface Method {
	prepare(params: unknown): MethodCall | ParamsProblem;
	/** A request outside `actsOn` gets the unknown method error; a notification is ignored. */
	readonly actsOn: ActsOn;
}

export type MethodTable = ReadonlyMap<string, Method>;

interface MethodDefinition<Params extends v.GenericSchema, Result extends v.GenericSchema> {
	readonly params: Params;
	readonly result?: Result | null;
	readonly actsOn?: ActsOn;
	/** `respond` may send the result early. `id` is null for a notification. */
	handle(
		params: v.InferOutput<Params>,
		respond: Respond<v.InferOutput<Result>>,
		id: RpcId | null,
	): Promise<v.InferOutput<Result>> | Promise<void>;
}

export function defineMethod<Params extends v.GenericSchema, Result extends v.GenericSchema>(
	definition: MethodDefinition<Params, Result>,
): Method {
	return {
		actsOn: definition.actsOn ?? "requests",
		prepare: (params) => {
			const parsed = v.safeParse(definition.params, params);
			return parsed.success
				? (respond, id) => definition.handle(parsed.output, respond, id)
				: toProblem(params, parsed.issues);
		},
	};
}

function toProblem(params: unknown, [issue]: readonly [v.BaseIssue<unknown>, ...unknown[]]): ParamsProblem {
	if (params === undefined || params === null) return { kind: "missing" };
	const place = v.getDotPath(issue);
	const reason = place === null ? issue.message : `${place}: ${issue.message}`;
	return { kind: "unfit", reason, place, expected: issue.expected };
}
