// Encodings shared by stores with a journal: numbered events, session state, history summaries, as JSON. Validates when reading.
import * as v from "valibot";
import { todoSchema, userInputSchema } from "../../api/values/content.ts";
import { type AgentEvent, readEventBody } from "../../api/values/event.ts";
import { createSchemaReader } from "../../base/schema-reader.ts";
import type { JournalSummary, SessionState } from "./session-store.ts";

export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** Greater numbers are damage: beyond them, consecutive numbers could not be distinguished. */
const greatestSeq = 2 ** 48;
export const lastSeq = v.pipe(count, v.maxValue(greatestSeq));
const amount = v.pipe(v.number(), v.minValue(0));
const agentSchema = v.object({
	parentToolCallId: v.nullable(v.string()),
	agentId: v.nullable(v.string()),
	subagentType: v.nullable(v.string()),
});
const eventSchema = v.object({
	seq: v.pipe(lastSeq, v.minValue(1)),
	at: v.number(),
	turn: v.nullable(v.string()),
	log: v.optional(v.boolean(), false),
	agents: v.optional(v.array(agentSchema), () => []),
	event: v.unknown(),
});
const readPlaced = createSchemaReader(eventSchema);
const approval = v.object({ yolo: v.boolean(), afk: v.boolean(), autoApproveActions: v.array(v.string()) });
const stateSchema = v.object({
	approval: v.exactOptional(approval),
	additionalDirs: v.exactOptional(v.array(v.string())),
	customTitle: v.exactOptional(v.nullable(v.string())),
	planMode: v.exactOptional(v.boolean()),
	planSessionId: v.exactOptional(v.nullable(v.string())),
	planSlug: v.exactOptional(v.nullable(v.string())),
	todos: v.exactOptional(v.array(todoSchema)),
	archivedAt: v.exactOptional(v.nullable(v.number())),
	creationOptions: v.exactOptional(v.unknown()),
	forkedFrom: v.exactOptional(v.nullable(v.string())),
});
export const summaryEntries = {
	used: v.object({ tokens: amount, milliseconds: amount, toolCalls: amount }),
	unfinishedCalls: v.array(
		v.object({ toolCallId: v.string(), name: v.string(), arguments: v.nullable(v.string()), isRecovered: v.boolean() }),
	),
	unretained: v.array(v.unknown()),
	isInStep: v.optional(v.boolean(), false),
	openTurn: v.optional(v.nullable(v.string()), null),
	startedInputs: v.optional(v.array(v.object({ turnId: v.string(), input: userInputSchema })), () => []),
	waitingSteers: v.optional(v.array(v.object({ turnId: v.string(), input: userInputSchema })), () => []),
	keyedTurns: v.optional(v.array(v.object({ key: v.string(), turnId: v.string(), digest: v.string() })), () => []),
};
const summarySchema = v.object(summaryEntries);

export function toEventRecord({ seq, at, turnId, isFromLog, agentPath, body }: AgentEvent): object {
	const agents = agentPath.length === 0 ? {} : { agents: agentPath };
	return { seq, at, turn: turnId, ...(isFromLog === true ? { log: true } : {}), ...agents, event: body };
}

export interface RecordOrigin {
	readonly sessionId: string;
	readonly epoch: string;
}

export function fromEventRecord(line: unknown, { sessionId, epoch }: RecordOrigin): AgentEvent | null {
	const placed = readPlaced(line);
	if (placed === null) return null;
	const { seq, at, turn, log, agents, event } = placed;
	const body = readEventBody(event);
	if (body === null) return null;
	const read = { sessionId, turnId: turn, agentPath: agents, at, seq, epoch, body };
	return log ? { ...read, isFromLog: true } : read;
}

export function fromStateRecord(value: unknown): Partial<SessionState> | null {
	const parsed = v.safeParse(stateSchema, value);
	return parsed.success ? parsed.output : null;
}

export function toSummaryRecord({
	unretained,
	openTurn,
	startedInputs,
	waitingSteers,
	keyedTurns,
	...summary
}: JournalSummary): object {
	return {
		...summary,
		unretained: unretained.map(toEventRecord),
		...(openTurn === null ? {} : { openTurn }),
		...(startedInputs.length === 0 ? {} : { startedInputs }),
		...(waitingSteers.length === 0 ? {} : { waitingSteers }),
		...(keyedTurns.length === 0 ? {} : { keyedTurns }),
	};
}

export function fromSummaryRecord(value: unknown, origin: RecordOrigin): JournalSummary | null {
	const parsed = v.safeParse(summarySchema, value);
	if (!parsed.success) return null;
	return { ...parsed.output, unretained: toEvents(parsed.output.unretained, origin) };
}

export function toEvents(values: readonly unknown[], origin: RecordOrigin): AgentEvent[] {
	return values.flatMap((value) => fromEventRecord(value, origin) ?? []);
}
