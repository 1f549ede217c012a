import { KernelError } from "../../base/errors.ts";

export function notFound(id: string): KernelError {
	return new KernelError("session-not-found", `Session not found: ${id}`);
}

export function programEnds(): KernelError {
	return new KernelError("closed", "The program is ending.");
}

export function tooManyTurns(limit: number): KernelError {
	return new KernelError("overloaded", `Too many turns run at once (${limit}); start it when one has ended.`, {
		data: { limit },
	});
}

export function tooManySessions(used: number, limit: number): KernelError {
	return new KernelError("overloaded", `Max sessions reached (${used}/${limit})`, { data: { limit } });
}
