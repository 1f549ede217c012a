// Starts a process that may outlive this one. Nothing here ends it: it reads requests from stdin, or ends by itself.
import { spawn } from "node:child_process";
import type { DetachedProcess, DetachedRequest } from "../port.ts";

export async function startDetached(request: DetachedRequest): Promise<DetachedProcess> {
	const child = spawn(request.file, request.arguments, {
		cwd: request.workDir,
		env: request.environment,
		detached: true,
		stdio: ["pipe", "ignore", "ignore"],
		windowsHide: true,
	});
	const gone = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
	await new Promise<void>((resolve, reject) => {
		child.once("spawn", () => resolve());
		child.on("error", reject);
	});
	const { pid, stdin } = child;
	if (pid === undefined) throw new Error(`${request.file} has no process id`);
	// It need not read its input.
	stdin.on("error", () => undefined);
	child.unref();
	return {
		processId: pid,
		gone,
		send: (line) => void stdin.write(`${line}\n`),
		release: () => void stdin.end(),
	};
}
