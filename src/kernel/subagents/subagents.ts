// The subagents of a session: decides which may run, limits concurrency, and allows one run per subagent at a time.
import { type ToolReturn, toolError } from "../../api/values/content.ts";
import type { AgentOperations, AgentRequest } from "../../core/tools/operations.ts";
import { cutOff, type ReportedAgent } from "./subagent-report.ts";
import {
	type AgentRefusal,
	type FinishedRun,
	type PreparedAgent,
	prepareAgent,
	type RunPlace,
	type RunSettings,
	runAgent,
} from "./subagent-run.ts";

export interface SubagentParts extends Omit<RunSettings, "services" | "hooks" | "identifiers"> {
	readonly parallel: number;
}

export interface SubagentSettings extends RunSettings, SubagentParts {
	turnId(): string | null;
}

/** A subagent reserved for one caller until released. */
export interface HeldAgent extends ReportedAgent {
	run(request: AgentRequest, place: RunPlace, signal: AbortSignal): Promise<FinishedRun>;
	release(): void;
}

export type Hold =
	| { readonly ok: true; readonly agent: HeldAgent }
	| { readonly ok: false; readonly refusal: AgentRefusal };

export interface Subagents extends Pick<AgentOperations, "types" | "run"> {
	hold(request: AgentRequest): Promise<Hold>;
}

export function createSubagents(settings: SubagentSettings): Subagents {
	const running = new Set<string>();
	const waiting: (() => void)[] = [];
	let free = settings.parallel;

	const inTurn = async (): Promise<void> => {
		if (free > 0) {
			free -= 1;
			return;
		}
		await new Promise<void>((resolve) => waiting.push(resolve));
	};
	const leave = (): void => {
		const next = waiting.shift();
		if (next === undefined) free += 1;
		else next();
	};

	const toHeld = (agent: PreparedAgent): HeldAgent => ({
		id: agent.id,
		typeName: agent.typeName,
		isResumed: agent.isResumed,
		run: (request, place, signal) => runAgent(request, agent, place, settings, signal),
		release: () => void running.delete(agent.id),
	});

	const hold = async (request: AgentRequest): Promise<Hold> => {
		const { resume } = request;
		if (resume !== null && running.has(resume)) {
			const message = `The subagent ${resume} is still running.`;
			return { ok: false, refusal: { message, brief: "Agent already running" } };
		}
		// Reserve before awaiting: two calls of one answer may name the same subagent.
		if (resume !== null) running.add(resume);
		let isHeld = false;
		try {
			const prepared = await prepareAgent(request, settings);
			if (!prepared.ok) return prepared;
			isHeld = true;
			running.add(prepared.agent.id);
			return { ok: true, agent: toHeld(prepared.agent) };
		} finally {
			if (resume !== null && !isHeld) running.delete(resume);
		}
	};

	const runForCaller = async (request: AgentRequest, toolCallId: string, signal: AbortSignal): Promise<ToolReturn> => {
		const held = await hold(request);
		if (!held.ok) return toForegroundError(held.refusal);
		const place = { toolCallId, turnId: settings.turnId() ?? "", services: settings.services };
		try {
			return (await held.agent.run(request, place, signal)).result;
		} finally {
			held.agent.release();
		}
	};

	return {
		types: settings.types.map(({ name, whenToUse, toolPaths }) => ({
			name,
			whenToUse,
			tools: toolPaths.map((toolPath) => toolPath.slice(toolPath.lastIndexOf(":") + 1)),
		})),
		async run(request, toolCallId, signal) {
			await inTurn();
			try {
				return signal.aborted ? cutOff() : await runForCaller(request, toolCallId, signal);
			} finally {
				leave();
			}
		},
		hold,
	};
}

/** Waiting callers get one brief for most refusals, unlike background tasks. */
function toForegroundError({ message, brief }: AgentRefusal): ToolReturn {
	return toolError(message, brief === "Invalid model alias" ? brief : "Agent failed");
}
