// Sandbox policies: leaving the sandbox always asks, and sandboxed commands can be allowed without asking.
import type { PermissionRequest, Policy } from "./policy.ts";

const outside = { decision: "ask", by: "rule", reason: "The command would run outside of the sandbox." } as const;

const leavesSandbox = ({ subjects }: PermissionRequest) =>
	subjects.some((subject) => subject.kind === "command" && subject.outsideSandbox === true);

/** Asks before every command that a model wants to run outside of the sandbox, even in yolo mode. */
export const outsidePolicy: Policy = {
	name: "outside of the sandbox",
	decide: async (request) => (leavesSandbox(request) ? { ...outside, widens: true } : null),
};

/** Asks before every command if the machine lacks the configured sandbox. */
export const missingSandboxPolicy: Policy = {
	name: "without the sandbox",
	decide: async (request) => (leavesSandbox(request) ? outside : null),
};

/** Allows sandboxed commands without network access. */
export const autoAllowPolicy: Policy = {
	name: "commands in the sandbox",
	decide: async (request) =>
		isSandboxed(request)
			? { decision: "allow", by: "rule", reason: "Commands in the sandbox are allowed (sandbox.auto_allow)." }
			: null,
};

function isSandboxed({ subjects }: PermissionRequest): boolean {
	return (
		subjects.length > 0 &&
		subjects.every((subject) => subject.kind === "command" && subject.outsideSandbox === undefined)
	);
}
