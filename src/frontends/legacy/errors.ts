import type { ErrorNumbers } from "../shared/error-numbers.ts";

const runFailed = { code: -32099, text: (text: string) => `Run failed: ${text}` };

export const errorNumbers: ErrorNumbers = {
	busy: { code: -32000, text: () => "Run already in progress" },
	"invalid-input": { code: -32602, text: () => "`input` (or `prompt`) must be a string" },
	"model-not-set": { code: -32001, text: () => "LLM is not configured" },
	"provider-failed": { code: -32002, text: (text) => `LLM provider error: ${text}` },
	"login-expired": { code: -32002, text: (text) => `LLM provider error: ${text}` },
	"capability-missing": { code: -32003, text: (text) => `LLM not supported: ${text}` },
	overloaded: { code: -32000 },
	"budget-exhausted": runFailed,
	"hook-failed": runFailed,
	closed: runFailed,
	"no-turn": runFailed,
	unsupported: runFailed,
	"session-not-found": runFailed,
	"storage-failed": runFailed,
	internal: runFailed,
};
