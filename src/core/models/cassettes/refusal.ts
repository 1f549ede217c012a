const types = new Map([
	[429, { type: "rate_limit_error", status: "RESOURCE_EXHAUSTED" }],
	[529, { type: "overloaded_error", status: "UNAVAILABLE" }],
]);
const invalid = { type: "invalid_request_error", status: "INVALID_ARGUMENT" };
const broken = { type: "api_error", status: "INTERNAL" };

export function refusal(code: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
	const error = { message, code, ...(types.get(code) ?? (code >= 500 ? broken : invalid)) };
	return new Response(JSON.stringify({ type: "error", error }), {
		status: code,
		headers: { "content-type": "application/json", ...headers },
	});
}
