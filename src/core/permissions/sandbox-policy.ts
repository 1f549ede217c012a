// What the sandbox of commands means for permissions: leaving it is always asked about, and within it commands can be
// allowed without asking.
import type { PermissionRequest, Policy } from "./policy.ts";

/** Asks about every command outside of the sandbox that the settings ask for. */
export const outsidePolicy: Policy = {
	name: "outside of the sandbox",
	decide: async ({ subjects }) =>
		subjects.some((subject) => subject.kind === "command" && subject.outsideSandbox === true)
			? { decision: "ask", by: "rule", reason: "The command would run outside of the sandbox." }
			: null,
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
