// Tasks and notifications of a session in memory. Stored data outlives the session object. There is no directory for a worker
// process, so commands are not supported.
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

interface MemoryTask {
	readonly spec: TaskSpec;
	runtime: TaskRuntime;
	control: TaskControl;
	output: Buffer;
}

export interface MemoryBackground {
	readonly tasks: Map<string, MemoryTask>;
	readonly notifications: Map<string, StoredNotification>;
}

export function createMemoryBackground(): MemoryBackground {
	return { tasks: new Map(), notifications: new Map() };
}

/** `write` applies a change while the session is open. */
type Write = (change: () => void) => Promise<void>;

function openMemoryTask(tasks: Map<string, MemoryTask>, persisted: MemoryTask, write: Write): StoredTask {
	return {
		spec: persisted.spec,
		directory: null,
		runtime: async () => persisted.runtime,
		setRuntime: (runtime) =>
			write(() => {
				persisted.runtime = runtime;
			}),
		control: async () => persisted.control,
		setControl: (control) =>
			write(() => {
				persisted.control = control;
			}),
		noteSeen: () => write(() => {}),
		appendOutput: (text) =>
			write(() => {
				persisted.output = Buffer.concat([persisted.output, Buffer.from(text)]);
			}),
		outputTail: async (limit) => ({
			bytes: persisted.output.subarray(Math.max(0, persisted.output.length - limit)),
			size: persisted.output.length,
		}),
		remove: () => write(() => void tasks.delete(persisted.spec.id)),
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
				const persisted: MemoryTask = { spec, runtime: newRuntime, control: noControl, output: Buffer.alloc(0) };
				await write(() => void tasks.set(spec.id, persisted));
				return open(persisted);
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
			add: (persisted) => write(() => void notifications.set(persisted.notification.id, persisted)),
			setDelivery: (id, delivery) =>
				write(() => {
					const persisted = notifications.get(id);
					if (persisted !== undefined) notifications.set(id, { ...persisted, delivery });
				}),
		},
	};
}
