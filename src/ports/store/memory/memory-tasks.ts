// Tasks and notifications in memory, outliving the session object. No commands: a worker process would need a directory.
import type {
	StoredNotification,
	StoredNotifications,
	StoredTask,
	StoredTasks,
	TaskControl,
	TaskRuntime,
	TaskSpec,
} from "../stored-tasks.ts";
import { newRuntime, noControl } from "../stored-tasks.ts";
import type { SessionChange } from "./session-change.ts";

interface MemoryTask {
	readonly spec: TaskSpec;
	readonly runtime: TaskRuntime;
	readonly control: TaskControl;
	readonly output: Buffer;
}

export interface MemoryBackground {
	readonly tasks: Map<string, MemoryTask>;
	readonly notifications: Map<string, StoredNotification>;
}

export function createMemoryBackground(): MemoryBackground {
	return { tasks: new Map(), notifications: new Map() };
}

type TaskChange = Extract<SessionChange, { readonly type: "task" | "task-removed" | "notification" }>;

export function applyBackground({ tasks, notifications }: MemoryBackground, change: TaskChange): void {
	switch (change.type) {
		case "task": {
			const { spec, runtime, control, output } = change;
			const before = tasks.get(spec.id)?.output ?? Buffer.alloc(0);
			tasks.set(spec.id, { spec, runtime, control, output: Buffer.concat([before, Buffer.from(output)]) });
			return;
		}
		case "task-removed":
			tasks.delete(change.id);
			return;
		case "notification":
			notifications.set(change.stored.notification.id, change.stored);
			return;
	}
}

/** Applies a change while the session is open; null checks only that it is. */
export type Write = (change: SessionChange | null) => Promise<void>;

function openMemoryTask(tasks: ReadonlyMap<string, MemoryTask>, opened: MemoryTask, write: Write): StoredTask {
	const { spec } = opened;
	const current = () => tasks.get(spec.id) ?? opened;
	const change = (to: Partial<Omit<MemoryTask, "output">>, output = "") => {
		const { runtime, control } = current();
		return write({ type: "task", spec, runtime, control, ...to, output });
	};
	return {
		spec,
		directory: null,
		runtime: async () => current().runtime,
		setRuntime: (runtime) => change({ runtime }),
		control: async () => current().control,
		setControl: (control) => change({ control }),
		noteSeen: () => write(null),
		appendOutput: (text) => change({}, text),
		async outputTail(limit) {
			const { output } = current();
			return { bytes: output.subarray(Math.max(0, output.length - limit)), size: output.length };
		},
		remove: () => write({ type: "task-removed", id: spec.id }),
	};
}

export function openMemoryBackground(
	{ tasks, notifications }: MemoryBackground,
	write: Write,
): { readonly tasks: StoredTasks; readonly notifications: StoredNotifications } {
	const open = (persisted: MemoryTask) => openMemoryTask(tasks, persisted, write);
	return {
		tasks: {
			any: async () => tasks.size > 0,
			async create(spec) {
				const task = { spec, runtime: newRuntime, control: noControl };
				await write({ type: "task", ...task, output: "" });
				return open({ ...task, output: Buffer.alloc(0) });
			},
			list: async () => [...tasks.values()].map(open),
			async find(id) {
				const persisted = tasks.get(id);
				return persisted === undefined ? null : open(persisted);
			},
		},
		notifications: {
			any: async () => notifications.size > 0,
			list: async () => [...notifications.values()],
			add: (stored) => write({ type: "notification", stored }),
			setDelivery(id, delivery) {
				const stored = notifications.get(id);
				return write(stored === undefined ? null : { type: "notification", stored: { ...stored, delivery } });
			},
		},
	};
}
