// What the sandbox of commands means for permissions: leaving it is always asked about, and within it commands can be
// allowed without asking.
import type { PermissionRequest, Policy } from "./policy.ts";

const outside = { decision: "ask", by: "rule", reason: "The command would run outside of the sandbox." } as const;

const leavesSandbox = ({ subjects }: PermissionRequest) =>
	subjects.some((subject) => subject.kind === "command" && subject.outsideSandbox === true);

/** Asks about every command that a model wants to run outside of the sandbox, in yolo too. */
export const outsidePolicy: Policy = {
	name: "outside of the sandbox",
	decide: async (request) => (leavesSandbox(request) ? { ...outside, widens: true } : null),
};

/** Asks about every command where the machine lacks the sandbox that the settings ask for. */
export const missingSandboxPolicy: Policy = {
	name: "without the sandbox",
	decide: async (request) => (leavesSandbox(request) ? outside : null),
};

/** Allows commands in the sandbox that have no network. */
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
