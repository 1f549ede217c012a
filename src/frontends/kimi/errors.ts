import type { ErrorNumbers } from "../shared/error-numbers.ts";

export const errorNumbers: ErrorNumbers = {
	busy: { code: -32000 },
	"no-turn": { code: -32000 },
	unsupported: { code: -32000 },
	overloaded: { code: -32000 },
	closed: { code: -32000 },
	// The log says which model was requested.
	"model-not-set": { code: -32001, isBare: true },
	"capability-missing": { code: -32002 },
	"provider-failed": { code: -32003 },
	"login-expired": { code: -32004 },
	// Clients show this error's text as is; they take other numbers for their own bugs.
	"budget-exhausted": { code: -32003 },
	"hook-failed": { code: -32003 },
	"invalid-input": { code: -32602 },
	"session-not-found": { code: -32603 },
	"storage-failed": { code: -32603 },
	internal: { code: -32603 },
};
