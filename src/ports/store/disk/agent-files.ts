import path from "node:path";
import * as v from "valibot";
import type { ContextRow } from "../../../api/values/conversation.ts";
import type { AgentEvent } from "../../../api/values/event.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Files } from "../../files/port.ts";
import type { AgentDescription, AgentStatus, StoredAgent } from "../session-store.ts";
import { createContextLog } from "./logs/context-log.ts";
import { toEventLines, toHeader } from "./logs/event-log.ts";
import { parseLine } from "./logs/json-lines.ts";
import type { LineFile } from "./logs/line-file.ts";
import { withStorageError } from "./logs/storage-error.ts";

const statuses = ["idle", "running_foreground", "running_background", "completed", "failed", "killed"] as const;

const metaSchema = v.looseObject({
	agent_id: v.string(),
	subagent_type: v.string(),
	status: v.picklist(statuses),
	description: v.optional(v.string(), ""),
	created_at: v.number(),
	last_task_id: v.optional(v.nullable(v.string()), null),
	launch_spec: v.optional(
		v.looseObject({
			model_override: v.optional(v.nullable(v.string()), null),
			effective_model: v.optional(v.nullable(v.string()), null),
		}),
		{},
	),
});

export interface AgentFilesOptions {
	readonly files: Files;
	readonly clock: Clock;
	readonly directory: string;
	readonly protocolVersion: string;
	/** Creates an append-only file that is synced and closed with the session's files. */
	lineFile(file: string, knownSize: number, header?: string): LineFile;
	readContext(file: string): Promise<() => readonly ContextRow[]>;
	/** Runs the work while the session is open; fails `closed` afterwards. */
	whileOpen<T>(work: () => Promise<T>): Promise<T>;
	replace(file: string, text: string): Promise<void>;
	appendText(file: string, text: string): Promise<void>;
}

const agentsDirectory = "subagents";
const metaName = "meta.json";
/** Rejects path syntax in an id that the model chose. */
const idPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

export async function openAgentFiles(id: string, options: AgentFilesOptions): Promise<StoredAgent | null> {
	if (!idPattern.test(id)) return null;
	const meta = await readMeta(path.join(options.directory, agentsDirectory, id, metaName), options.files);
	return meta === null ? null : await createAgentFiles(toDescription(id, meta), options, meta.last_task_id);
}

/** Marks subagents as failed whose process died while they were running. Fails `storage-failed`. */
export async function failStaleAgents(
	options: Pick<AgentFilesOptions, "files" | "clock" | "directory">,
): Promise<void> {
	const parent = path.join(options.directory, agentsDirectory);
	if ((await options.files.status(parent))?.kind !== "directory") return;
	for (const { name } of await options.files.list(parent)) {
		if (!idPattern.test(name)) continue;
		const file = path.join(parent, name, metaName);
		const meta = await readMeta(file, options.files);
		if (meta === null || !isRunning(meta.status)) continue;
		const text = toMetaText(toDescription(name, meta), "failed", meta.last_task_id, options.clock.now());
		await withStorageError(file, () => options.files.replace(file, text));
	}
}

/** A subagent never outlives its process. */
function isRunning(status: AgentStatus): boolean {
	return status === "running_foreground" || status === "running_background";
}

async function readMeta(file: string, files: Files): Promise<v.InferOutput<typeof metaSchema> | null> {
	const text = (await files.read(file))?.toString("utf8");
	const parsed = text === undefined ? null : v.safeParse(metaSchema, parseLine(text));
	return parsed?.success === true ? parsed.output : null;
}

function toDescription(id: string, meta: v.InferOutput<typeof metaSchema>): AgentDescription {
	const { subagent_type, description, created_at, launch_spec } = meta;
	return {
		id,
		type: subagent_type,
		description,
		createdAt: created_at * 1000,
		modelOverride: launch_spec.model_override,
		effectiveModel: launch_spec.effective_model,
	};
}

/** `now` is in milliseconds since the epoch; the file uses seconds. */
function toMetaText(agent: AgentDescription, status: AgentStatus, lastTaskId: string | null, now: number): string {
	const { id, type, description, createdAt, modelOverride, effectiveModel } = agent;
	const meta = {
		agent_id: id,
		subagent_type: type,
		status,
		description,
		created_at: createdAt / 1000,
		updated_at: now / 1000,
		last_task_id: lastTaskId,
		launch_spec: {
			agent_id: id,
			subagent_type: type,
			model_override: modelOverride,
			effective_model: effectiveModel,
			created_at: createdAt / 1000,
		},
	};
	return `${JSON.stringify(meta, null, 2)}\n`;
}

/** Opens or creates a subagent's files. Writes nothing before the first call. */
export async function createAgentFiles(
	agent: AgentDescription,
	options: AgentFilesOptions,
	knownTaskId: string | null = null,
): Promise<StoredAgent> {
	const { files, clock } = options;
	const directory = path.join(options.directory, agentsDirectory, agent.id);
	const at = (name: string) => path.join(directory, name);
	const sizeOf = async (name: string) => (await files.status(at(name)))?.size ?? 0;
	const contextRows = await options.readContext(at("context.jsonl"));
	const contextLines = options.lineFile(at("context.jsonl"), await sizeOf("context.jsonl"));
	const context = createContextLog({ files, path: at("context.jsonl"), lines: contextLines, opened: contextRows });
	const events = options.lineFile(at("wire.jsonl"), await sizeOf("wire.jsonl"), toHeader(options.protocolVersion));
	const write = (name: string, text: string) => options.replace(at(name), text);
	let lastTaskId = knownTaskId;

	const setStatus = async (status: AgentStatus): Promise<void> => {
		await write(metaName, toMetaText(agent, status, lastTaskId, clock.now()));
		if (isRunning(status)) return;
		// A session may have any number of subagents; finished ones keep no file open.
		await withStorageError(directory, () => Promise.all([contextLines.close(), events.close()]));
	};

	return {
		description: agent,
		contextRows: contextRows(),
		async begin(prompt, taskId) {
			lastTaskId = taskId ?? lastTaskId;
			await write("prompt.txt", prompt);
			await setStatus(taskId === undefined ? "running_foreground" : "running_background");
		},
		setStatus,
		changeContext: (change) => options.whileOpen(() => context.change(change)),
		appendEvents: (batch: readonly AgentEvent[]) => {
			const lines = toEventLines(batch.map((event) => ({ ...event, agentPath: event.agentPath.slice(1) })));
			return options.whileOpen(() => events.append(lines));
		},
		appendOutput: (text) => options.appendText(at("output"), text),
	};
}
