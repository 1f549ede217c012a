import * as v from "valibot";
import { isRecord } from "../../../../base/json.ts";
import { createKeyedQueue } from "../../../../base/keyed-queue.ts";
import {
	fromControlFile,
	fromRuntimeFile,
	fromSpecFile,
	toControlFile,
	toRuntimeFile,
	toSpecFile,
} from "../../disk/background/task-shapes.ts";
import { parseLine } from "../../disk/logs/json-lines.ts";
import {
	newRuntime,
	noControl,
	type StoredTask,
	type StoredTasks,
	type TaskSpec,
	unreadableRuntime,
} from "../../stored-tasks.ts";
import { createCommandTask, createLocalTasks, type TaskCopy } from "../command-tasks.ts";
import type { SessionParts } from "./session-parts.ts";
import { integer } from "./session-row.ts";

const taskSchema = v.object({
	spec: v.string(),
	runtime: v.nullable(v.string()),
	control: v.nullable(v.string()),
	output_size: integer,
});

export function createTasks(parts: SessionParts): StoredTasks {
	const { database, log, sessionId, writes, whileOpen } = parts;
	const { schema } = database;
	const local = parts.local === null ? null : createLocalTasks({ ...parts, ...parts.local });
	const withFiles = async (spec: TaskSpec, found: StoredTask | null): Promise<StoredTask> => {
		const task = createTask(spec, parts);
		return spec.kind === "bash" && local !== null ? createCommandTask(task, found, parts.now) : task;
	};
	const toTask = async (text: unknown): Promise<StoredTask | null> => {
		const spec = fromSpecFile(parseLine(String(text)));
		if (spec === null) log.warn("a background task could not be read", { sessionId });
		return spec === null ? null : await withFiles(spec, (await local?.find(spec.id)) ?? null);
	};
	return {
		async any() {
			const rows = await database.query(`select 1 from ${schema}.task where session_id = $1 limit 1`, [sessionId]);
			return rows.length > 0;
		},
		create: (spec) =>
			whileOpen(async () => {
				await writes.write(
					`insert into ${schema}.task (session_id, id, created_at, spec) select id, $4, $5::float8, $6 from head
					on conflict (session_id, id) do update set spec = excluded.spec`,
					[spec.id, spec.createdAt, JSON.stringify(toSpecFile(spec))],
				);
				const found = spec.kind === "bash" && local !== null ? await local.create(spec) : null;
				return await withFiles(spec, found);
			}),
		async list() {
			const rows = await database.query(
				`select spec from ${schema}.task where session_id = $1 order by created_at, id`,
				[sessionId],
			);
			const tasks = await Promise.all(rows.map(({ spec }) => toTask(spec)));
			return tasks.filter((task) => task !== null);
		},
		async find(id) {
			if (id.includes("\0")) return null;
			const [row] = await database.query(`select spec from ${schema}.task where session_id = $1 and id = $2`, [
				sessionId,
				id,
			]);
			return row === undefined ? null : await toTask(row["spec"]);
		},
	};
}

function createTask(spec: TaskSpec, { database, log, sessionId, writes, whileOpen }: SessionParts): TaskCopy {
	const { schema } = database;
	const read = async (): Promise<v.InferOutput<typeof taskSchema> | null> => {
		const [row] = await database.query(
			`select spec, runtime, control, output_size from ${schema}.task where session_id = $1 and id = $2`,
			[sessionId, spec.id],
		);
		return row === undefined ? null : v.parse(taskSchema, row);
	};
	const queue = createKeyedQueue();
	const inOrder = (work: () => Promise<void>): Promise<void> => whileOpen(() => queue.run("", work));
	const set = (column: "runtime" | "control" | "seen_size", value: unknown): Promise<void> =>
		inOrder(() =>
			writes.write(
				`update ${schema}.task t set ${column} = $5${column === "seen_size" ? "::bigint" : ""} from head where t.session_id = head.id and t.id = $4`,
				[spec.id, isRecord(value) ? JSON.stringify(value) : value],
			),
		);
	return {
		spec,
		directory: null,
		async runtime() {
			const text = (await read())?.runtime ?? null;
			if (text === null) return newRuntime;
			const runtime = fromRuntimeFile(parseLine(text));
			if (runtime !== null) return runtime;
			log.warn("the state of a background task could not be read", { sessionId, id: spec.id });
			return unreadableRuntime;
		},
		setRuntime: (runtime) => set("runtime", toRuntimeFile(runtime)),
		async control() {
			const text = (await read())?.control ?? null;
			return (text === null ? null : fromControlFile(parseLine(text))) ?? noControl;
		},
		setControl: (control) => set("control", toControlFile(control)),
		noteSeen: (outputSize) => set("seen_size", outputSize),
		appendOutput: (text) =>
			inOrder(async () => {
				const start = (await read())?.output_size ?? 0;
				const bytes = Buffer.from(text);
				if (bytes.length === 0) return;
				await writes.write(
					`insert into ${schema}.task_output (session_id, task_id, start, bytes) select id, $4, $5::bigint, $6::bytea from head
					on conflict do nothing`,
					[spec.id, start, bytes],
				);
				await writes.write(
					`update ${schema}.task t set output_size = greatest(t.output_size, $5::bigint) from head where t.session_id = head.id and t.id = $4`,
					[spec.id, start + bytes.length],
				);
			}),
		copyOutput: (bytes, size) =>
			inOrder(async () => {
				const start = size - bytes.length;
				await writes.write(
					`delete from ${schema}.task_output o using head where o.session_id = head.id and o.task_id = $4 and o.start <> $5::bigint`,
					[spec.id, start],
				);
				await writes.write(
					`insert into ${schema}.task_output (session_id, task_id, start, bytes) select id, $4, $5::bigint, $6::bytea from head
					on conflict (session_id, task_id, start) do update set bytes = excluded.bytes`,
					[spec.id, start, bytes],
				);
				await writes.write(
					`update ${schema}.task t set output_size = $5::bigint from head where t.session_id = head.id and t.id = $4`,
					[spec.id, size],
				);
			}),
		async outputTail(limit) {
			const size = (await read())?.output_size ?? 0;
			const from = Math.max(0, size - limit);
			const rows = await database.query(
				`select substr(bytes, greatest(1, ($3::bigint - start + 1))::int) as bytes from ${schema}.task_output
				where session_id = $1 and task_id = $2 and start + length(bytes) > $3::bigint and start < $4::bigint order by start`,
				[sessionId, spec.id, from, size],
			);
			const pieces = rows.flatMap(({ bytes }) => (Buffer.isBuffer(bytes) ? [bytes] : []));
			return { bytes: Buffer.concat(pieces).subarray(0, size - from), size };
		},
		remove: () =>
			inOrder(async () => {
				await writes.write(
					`delete from ${schema}.task_output o using head where o.session_id = head.id and o.task_id = $4`,
					[spec.id],
				);
				await writes.write(`delete from ${schema}.task t using head where t.session_id = head.id and t.id = $4`, [
					spec.id,
				]);
			}),
	};
}
