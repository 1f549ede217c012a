// Method tables: one row per inbound method, with the schemas of its params and result and its handler.
import * as v from "valibot";
import type { ParamsProblem, RpcId } from "./envelope.ts";

/** Sends the result now, before the handler has finished; a later result is not sent. */
export type Respond<Result = unknown> = (result: Result) => void;

/** Which messages a method acts on: requests, which are answered, notifications, which are not, or both. */
export type ActsOn = "requests" | "notifications" | "both";

/** A call with valid params; `id` is that of its request, null for a notification. */
export type MethodCall = (respond: Respond, id: RpcId | null) => Promise<unknown>;

export interface Method {
	/** Checks the params; returns the call, or why they are invalid. */
	prepare(params: unknown): MethodCall | ParamsProblem;
	/** A request that it does not act on gets the error for an unknown method; a notification is ignored. */
	readonly actsOn: ActsOn;
}

export type MethodTable = ReadonlyMap<string, Method>;

interface MethodDefinition<Params extends v.GenericSchema, Result extends v.GenericSchema> {
	readonly params: Params;
	/** The schema of the result, which is not checked here. */
	readonly result?: Result | null;
	/** Requests by default. */
	readonly actsOn?: ActsOn;
	/**
	 * Resolves to the result, unless it responded before. What it throws is answered as an error. `id` is that of the
	 * request; null for a notification.
	 */
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
