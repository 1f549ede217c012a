import { createErrorReader } from "../http/error-answer.ts";

export const errorReader = createErrorReader({
	// An account without credit gets a 429 like a rate limit; only the code or type differs.
	creditMarks: new Set([
		"credit_balance_exhausted",
		"organization_spend_limit_exceeded",
		"project_spend_limit_exceeded",
		"organization_usage_limit_exceeded",
		"insufficient_quota",
		"exceeded_current_quota_error",
	]),
	statusOfMark: new Map([
		["context_length_exceeded", 400],
		["invalid_prompt", 400],
		["invalid_request_error", 400],
		["server_error", 500],
		["service_unavailable_error", 503],
		["unavailable_error", 503],
		["engine_overloaded_error", 429],
		["rate_limit_reached_error", 429],
		["rate_limit_error", 429],
		["rate_limit_exceeded", 429],
	]),
});
