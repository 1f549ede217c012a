// The effect of a group of commits on a session, computed before it is stored.
import type { ContextRow } from "../../../api/values/conversation.ts";
import { type AgentEvent, eventDeclarations } from "../../../api/values/event.ts";
import { RunningSummary } from "../journal-summary.ts";
import type { Batch, SessionState } from "../session-store.ts";
import { toTitle } from "../title.ts";

/** A batch of changes to store; `establishes` keeps the session even if it is empty. */
export interface Commit {
	readonly batch: Batch;
	readonly establishes: boolean;
}

/** Position of a context's first row: a later system prompt gets the position before it. */
export const firstRow = 1;

/** Events after which a summary is stored even within a turn, so that an opening reads at most this many. */
const summaryInterval = 2_000;

export interface Change {
	readonly events: readonly AgentEvent[];
	readonly numbered: readonly (readonly AgentEvent[])[];
	readonly lastSeq: number;
	readonly generation: number;
	/** Rows with their positions in the generation. */
	readonly rows: readonly { readonly n: number; readonly row: ContextRow }[];
	readonly nextRow: number;
	readonly hasPrompt: boolean;
	readonly hasContext: boolean;
	readonly hasMessage: boolean;
	readonly isEstablished: boolean;
	readonly firstTitle: string | null;
	readonly state: SessionState;
	readonly changesState: boolean;
	readonly changesTitle: boolean;
	readonly changesArchive: boolean;
	readonly summary: RunningSummary;
	readonly storesSummary: boolean;
	readonly answeredSeq: number;
}

function isDurable({ body }: AgentEvent): boolean {
	return eventDeclarations[body.type].class === "durable";
}

export function hasContent({ events = [], context, state }: Batch): boolean {
	const changesContext = context !== undefined && (context.kind === "replace" || context.rows.length > 0);
	return changesContext || (state !== undefined && Object.keys(state).length > 0) || events.some(isDurable);
}

/** The effect of these commits on the data stored `now`. `summarySeq` is the last event in the stored summary. */
export function toChange(
	now: Change,
	commits: readonly Commit[],
	{ epoch, summarySeq }: { readonly epoch: string; readonly summarySeq: number },
): Change {
	const summary = new RunningSummary(now.summary.current);
	const events: AgentEvent[] = [];
	const numbered: (readonly AgentEvent[])[] = [];
	let { lastSeq, generation, nextRow, hasPrompt, hasContext, hasMessage, firstTitle, answeredSeq } = now;
	let rows: { n: number; row: ContextRow }[] = [];
	let [state, changed]: [SessionState, Partial<SessionState>] = [now.state, {}];
	let endsTurn = false;
	for (const { batch } of commits) {
		const own = (batch.events ?? []).map((event) => {
			if (!isDurable(event)) return event;
			lastSeq += 1;
			const stored = { ...event, seq: lastSeq, epoch };
			events.push(stored);
			summary.addEvent(stored);
			if (event.agentPath.length > 0) return stored;
			if (event.body.type === "turn.started") firstTitle ??= toTitle(event.body.input);
			if (event.body.type === "turn.ended") endsTurn = true;
			return stored;
		});
		numbered.push(own);
		const { context } = batch;
		if (context !== undefined) {
			if (context.kind === "replace") {
				generation += 1;
				[rows, nextRow, hasPrompt, hasMessage] = [[], firstRow, false, false];
			}
			for (const [index, row] of context.rows.entries()) {
				const isPrompt = row.type === "system-prompt";
				const goesFirst = isPrompt && index === 0 && !hasPrompt && context.kind === "append";
				rows.push({ n: goesFirst ? 0 : nextRow, row });
				if (!goesFirst) nextRow += 1;
				hasPrompt ||= isPrompt;
				hasMessage ||= row.type === "message";
			}
			hasContext ||= context.rows.length > 0;
			const wasInStep = summary.current.isInStep;
			summary.addContext(context);
			if (wasInStep && !summary.current.isInStep) answeredSeq = lastSeq;
		}
		if (batch.state !== undefined) {
			state = { ...state, ...batch.state };
			changed = { ...changed, ...batch.state };
		}
	}
	const isEstablished = commits.some(({ establishes }) => establishes);
	const { customTitle, archivedAt, ...others } = changed;
	return {
		events,
		numbered,
		lastSeq,
		generation,
		rows,
		nextRow,
		hasPrompt,
		hasContext: hasContext || isEstablished,
		hasMessage,
		isEstablished,
		firstTitle,
		state,
		changesState: Object.keys(others).length > 0,
		changesTitle: customTitle !== undefined,
		changesArchive: archivedAt !== undefined,
		summary,
		storesSummary: endsTurn || lastSeq - summarySeq >= summaryInterval,
		answeredSeq,
	};
}
