import { type TaskWorkerFlags, taskWorkerCommand } from "../../../host/task-worker-arguments.ts";
import { UsageError } from "../usage-error.ts";

const defaults = { heartbeatInterval: 5000, controlPollInterval: 500, killGracePeriod: 2000 };

export function parseTaskWorker(words: readonly string[]): TaskWorkerFlags {
	let flags: TaskWorkerFlags = { taskDirectory: "", ...defaults, keep: false, contain: "off" };
	for (let index = 0; index < words.length; index += 1) {
		const name = words[index];
		const value = () => {
			index += 1;
			return words[index] ?? "";
		};
		if (name === "--task-dir") flags = { ...flags, taskDirectory: value() };
		else if (name === "--heartbeat-interval-ms") flags = { ...flags, heartbeatInterval: toMilliseconds(name, value()) };
		else if (name === "--control-poll-interval-ms") {
			flags = { ...flags, controlPollInterval: toMilliseconds(name, value()) };
		} else if (name === "--kill-grace-period-ms") flags = { ...flags, killGracePeriod: toMilliseconds(name, value()) };
		else if (name === "--keep") flags = { ...flags, keep: true };
		else if (name === "--contain") flags = { ...flags, contain: "auto" };
		else throw new UsageError(`The command '${taskWorkerCommand}' does not know '${name}'.`);
	}
	if (flags.taskDirectory === "") throw new UsageError(`The command '${taskWorkerCommand}' needs --task-dir.`);
	return flags;
}

function toMilliseconds(name: string, text: string): number {
	const value = /^\d+$/.test(text) ? Number(text) : 0;
	if (value >= 1 && Number.isSafeInteger(value)) return value;
	throw new UsageError(`${name} must be an integer of at least 1.`);
}
