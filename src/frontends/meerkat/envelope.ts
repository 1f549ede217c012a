// The JSON-RPC rules of Meerkat RPC: ids are strings or 64-bit integers, and every refusal gives a reason.
import type { EnvelopeRules, RpcId } from "../../ports/rpc/envelope.ts";
import { type Era, errorObject, toErrorObject } from "./errors.ts";

export function createRules(era: () => Era): EnvelopeRules {
	return {
		isId,
		exactIds: true,
		refusalsNameId: true,
		versionOptional: false,
		unknownKeysRefused: false,
		blankLinesIgnored: true,
		errorDataAlways: false,
		parseError: errorObject("seed", "PARSE_ERROR", "Parse error: the line is not JSON"),
		invalidRequest: errorObject(
			"seed",
			"INVALID_REQUEST",
			'Invalid request: an object with "jsonrpc":"2.0", a method and an id that is a string or an integer is needed',
		),
		invalidResponse: null,
		unknownMethod: (method) => errorObject(era(), "METHOD_NOT_FOUND", `Method not found: ${method}`),
		invalidParams: (_method, problem) =>
			errorObject(era(), "INVALID_PARAMS", problem.kind === "missing" ? "Missing params" : toText(problem.reason)),
		tooManyRequests: (limit) =>
			errorObject(
				era(),
				"OVERLOADED",
				`Too many requests at once: at most ${limit} are handled at a time; wait for answers before sending more.`,
				{ limit },
			),
		toErrorObject: (thrown) => toErrorObject(era(), thrown),
	};
}

function isId(value: unknown): value is RpcId {
	return typeof value === "string" || typeof value === "bigint" || Number.isInteger(value);
}

function toText(reason: string): string {
	const id = /^session_id: (Invalid session_id: .*)$/s.exec(reason)?.[1];
	return id ?? `Invalid params: ${reason}`;
}
