import * as v from "valibot";
import type { ContextChange } from "../../../../api/values/conversation.ts";
import { createKeyedQueue } from "../../../../base/keyed-queue.ts";
import { toLineText, wholeText } from "../../../../base/text/long-text.ts";
import { toLine } from "../../context-row.ts";
import { toEventRecord } from "../../record.ts";
import type { AgentDescription, StoredAgent } from "../../session-store.ts";
import { firstRow } from "../commit-change.ts";
import { removeOldRows, toContextRows } from "../context-rows.ts";
import type { SessionParts } from "./session-parts.ts";
import { integer, toColumn } from "./session-row.ts";

const agentSchema = v.object({
	id: v.string(),
	type: v.string(),
	description: v.string(),
	created_at: v.number(),
	model_override: v.nullable(v.string()),
	effective_model: v.nullable(v.string()),
	context_generation: integer,
	last_event: integer,
	last_output: integer,
});
type AgentRow = v.InferOutput<typeof agentSchema>;

export async function openAgent(id: string, parts: SessionParts): Promise<StoredAgent | null> {
	const row = await readAgent(id, parts);
	if (row === null) return null;
	const description: AgentDescription = {
		id: row.id,
		type: row.type,
		description: row.description,
		createdAt: row.created_at,
		modelOverride: row.model_override,
		effectiveModel: row.effective_model,
	};
	return await toAgent(description, row, parts);
}

/** Opens or creates a subagent. Writes nothing before the first call. */
export async function createAgent(description: AgentDescription, parts: SessionParts): Promise<StoredAgent> {
	return await toAgent(description, await readAgent(description.id, parts), parts);
}

async function readAgent(id: string, { database, sessionId }: SessionParts): Promise<AgentRow | null> {
	if (id.includes("\0")) return null;
	const { schema } = database;
	const [row] = await database.query(
		`select a.*,
			(select coalesce(max(n), 0) from ${schema}.agent_event where session_id = $1 and agent_id = $2) as last_event,
			(select coalesce(max(n), 0) from ${schema}.agent_output where session_id = $1 and agent_id = $2) as last_output
		from ${schema}.agent a where session_id = $1 and id = $2`,
		[sessionId, id],
	);
	return row === undefined ? null : v.parse(agentSchema, row);
}

async function toAgent(agent: AgentDescription, row: AgentRow | null, parts: SessionParts): Promise<StoredAgent> {
	const { database, log, sessionId, writes, whileOpen } = parts;
	const { schema } = database;
	let generation = row?.context_generation ?? 0;
	let lastEvent = row?.last_event ?? 0;
	let lastOutput = row?.last_output ?? 0;
	const found = await database.query(
		`select n, body from ${schema}.context_row where session_id = $1 and agent_id = $2 and generation = $3 order by n`,
		[sessionId, agent.id, generation],
	);
	const opened = await toContextRows(found, log, sessionId);
	let nextRow = Math.max(firstRow, opened.last + 1);
	let hasPrompt = opened.rows.some((each) => each.type === "system-prompt");
	const queue = createKeyedQueue();
	/** Serialized, because each append depends on the current count. */
	const inOrder = (work: () => Promise<void>): Promise<void> => whileOpen(() => queue.run("", work));

	const describe = (change: string, values: readonly unknown[]): Promise<void> =>
		writes.write(
			`insert into ${schema}.agent as a
				(session_id, id, type, description, created_at, model_override, effective_model, status, last_task_id, prompt)
			select id, $4, $5, $6, $7::float8, $8, $9, $10, $11, $12 from head
			on conflict (session_id, id) do update set ${change}`,
			[
				agent.id,
				toColumn(agent.type),
				toColumn(agent.description),
				agent.createdAt,
				agent.modelOverride,
				agent.effectiveModel,
				...values,
			],
		);

	const changeContext = async ({ kind, rows }: ContextChange): Promise<void> => {
		const isReplaced = kind === "replace";
		const target = isReplaced ? generation + 1 : generation;
		const isPrompt = rows[0]?.type === "system-prompt";
		const goesFirst = isPrompt && !isReplaced && !hasPrompt;
		const start = isReplaced ? firstRow : goesFirst ? nextRow - 1 : nextRow;
		const places = rows.map((_, index) => (goesFirst && index === 0 ? firstRow - 1 : start + index));
		await writes.write(
			`insert into ${schema}.context_row (session_id, agent_id, generation, n, body)
			select head.id, $4, $5::bigint, r.n, r.body from head, unnest($6::bigint[], $7::text[]) as r(n, body)
			on conflict do nothing`,
			[agent.id, target, places, rows.map((each) => wholeText(toLine(each)))],
		);
		if (isReplaced) {
			await writes.write(
				`update ${schema}.agent a set context_generation = $5::bigint from head where a.session_id = head.id and a.id = $4`,
				[agent.id, target],
			);
			void removeOldRows(database, sessionId, agent.id, target).catch(() => undefined);
		}
		generation = target;
		nextRow = start + rows.length;
		hasPrompt = (hasPrompt && !isReplaced) || rows.some((each) => each.type === "system-prompt");
	};

	return {
		description: agent,
		contextRows: opened.rows,
		begin: (prompt, taskId) =>
			inOrder(() =>
				describe(
					"status = excluded.status, prompt = excluded.prompt, last_task_id = coalesce(excluded.last_task_id, a.last_task_id)",
					[taskId === undefined ? "running_foreground" : "running_background", taskId ?? null, toColumn(prompt)],
				),
			),
		setStatus: (status) => inOrder(() => describe("status = excluded.status", [status, null, null])),
		changeContext: (change) => inOrder(() => changeContext(change)),
		appendEvents: (events) =>
			inOrder(async () => {
				if (events.length === 0) return;
				const bodies = events.map((event) => wholeText(toLineText(toEventRecord(event))));
				await writes.write(
					`insert into ${schema}.agent_event (session_id, agent_id, n, body)
					select head.id, $4, $5::bigint + e.n, e.body from head, unnest($6::text[]) with ordinality as e(body, n)
					on conflict do nothing`,
					[agent.id, lastEvent, bodies],
				);
				lastEvent += bodies.length;
			}),
		appendOutput: (text) =>
			inOrder(async () => {
				await writes.write(
					`insert into ${schema}.agent_output (session_id, agent_id, n, body) select id, $4, $5::bigint, $6 from head on conflict do nothing`,
					[agent.id, lastOutput + 1, toColumn(text)],
				);
				lastOutput += 1;
			}),
	};
}
