// Tasks and notifications of a session in memory: the twin of task-files.ts and notification-files.ts. What is kept
// outlives the session object. No process can be told of a directory here, so commands have no place in it.
import type {
	KeptNotification,
	StoredNotifications,
	StoredTask,
	StoredTasks,
	TaskControl,
	TaskRuntime,
	TaskSpec,
} from "../stored-tasks.ts";
import { newRuntime, noControl } from "../stored-tasks.ts";

interface KeptTask {
	readonly spec: TaskSpec;
	runtime: TaskRuntime;
	control: TaskControl;
	output: Buffer;
}

export interface KeptBackground {
	readonly tasks: Map<string, KeptTask>;
	readonly notifications: Map<string, KeptNotification>;
}

export function createKeptBackground(): KeptBackground {
	return { tasks: new Map(), notifications: new Map() };
}

/** `write` carries a change out while the session is open. */
type Write = (change: () => void) => Promise<void>;

function openKeptTask(tasks: Map<string, KeptTask>, kept: KeptTask, write: Write): StoredTask {
	return {
		spec: kept.spec,
		directory: null,
		runtime: async () => kept.runtime,
		setRuntime: (runtime) =>
			write(() => {
				kept.runtime = runtime;
			}),
		control: async () => kept.control,
		setControl: (control) =>
			write(() => {
				kept.control = control;
			}),
		noteSeen: () => write(() => {}),
		appendOutput: (text) =>
			write(() => {
				kept.output = Buffer.concat([kept.output, Buffer.from(text)]);
			}),
		outputTail: async (limit) => ({
			bytes: kept.output.subarray(Math.max(0, kept.output.length - limit)),
			size: kept.output.length,
		}),
		remove: () => write(() => void tasks.delete(kept.spec.id)),
	};
}

export function openKeptBackground(
	{ tasks, notifications }: KeptBackground,
	write: Write,
): { readonly tasks: StoredTasks; readonly notifications: StoredNotifications } {
	const open = (kept: KeptTask) => openKeptTask(tasks, kept, write);
	return {
		tasks: {
			any: async () => tasks.size > 0,
			async create(spec) {
				const kept: KeptTask = { spec, runtime: newRuntime, control: noControl, output: Buffer.alloc(0) };
				await write(() => void tasks.set(spec.id, kept));
				return open(kept);
			},
			list: async () => [...tasks.values()].map(open),
			async find(id) {
				const kept = tasks.get(id);
				return kept === undefined ? null : open(kept);
			},
		},
		notifications: {
			any: async () => notifications.size > 0,
			list: async () => [...notifications.values()],
			add: (kept) => write(() => void notifications.set(kept.notification.id, kept)),
			setDelivery: (id, delivery) =>
				write(() => {
					const kept = notifications.get(id);
					if (kept !== undefined) notifications.set(id, { ...kept, delivery });
				}),
		},
	};
}
