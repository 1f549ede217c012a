// One turn without a kernel: everything the loop is given is a double, and one list keeps the order of what it does.

import type { ToolCall, ToolReturn, UserInput } from "../../../src/api/values/content.ts";
import { toolSuccess } from "../../../src/api/values/content.ts";
import type { ContextChange, ContextRow } from "../../../src/api/values/conversation.ts";
import type { EventBody } from "../../../src/api/values/event.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { Context } from "../../../src/core/agent/context.ts";
import type { ApprovalOutcome, TurnDependencies } from "../../../src/core/agent/dependencies.ts";
import { runTurn } from "../../../src/core/agent/turn.ts";
import { allowed } from "../../../src/core/hooks/hook.ts";
import type { Model } from "../../../src/core/models/model.ts";
import type { ApprovalNeed, OpenedCall, Refusal, Tool, ToolProgress } from "../../../src/core/tools/tool.ts";
import { createSteerQueue } from "../../../src/kernel/turn/steers.ts";

export interface TurnSubject {
	readonly events: EventBody[];
	readonly rows: ContextRow[];
	/** Events, rows, journal entries and effects in one order, a word or two each. */
	readonly order: string[];
	readonly controller: AbortController;
	readonly steers: ReturnType<typeof createSteerQueue>;
	/** From now on rows with this text cannot be persisted. */
	failRowsOf(text: string): void;
	run(input?: UserInput): ReturnType<typeof runTurn>;
}

export function createTurnSubject(
	model: Model | null,
	tools: readonly Tool[] = [],
	overrides: Partial<TurnDependencies> = {},
): TurnSubject {
	const events: EventBody[] = [];
	const rows: ContextRow[] = [];
	const order: string[] = [];
	const controller = new AbortController();
	const steers = createSteerQueue();
	let unpersisted: string | null = null;
	const log = {
		async change({ kind, rows: changed }: ContextChange) {
			if (unpersisted !== null && JSON.stringify(changed).includes(unpersisted)) throw new Error("disk full");
			rows.splice(kind === "append" ? rows.length : 0, rows.length, ...changed);
			order.push(`${kind === "append" ? "rows" : "replaced by"} ${changed.map(rowName).join(" ")}`);
		},
	};
	const dependencies: TurnDependencies = {
		model,
		unsetModelAlias: null,
		context: new Context(log, [], "Be brief."),
		tools: {
			specifications: async () => [],
			find: (name) => tools.find((tool) => tool.name === name) ?? null,
		},
		toolsReady: async () => {},
		steers,
		journal: {
			started: async (call) => void order.push(`started ${call.id}`),
			ended: async (call) => void order.push(`ended ${call.id}`),
		},
		limits: { maxSteps: 5, maxAttempts: 3 },
		progress: () => ({ report() {}, end() {} }),
		budget: { exhausted: () => null, takeToolCall: () => null },
		cacheKey: "key",
		isSubagent: false,
		planMode: () => false,
		watch: { before: async () => allowed, after() {}, crashed() {} },
		notices: async () => [],
		reminders: async () => [],
		compaction: {
			triggerRatio: 0.85,
			reservedTokens: 0,
			before: async (trigger, tokens) => void order.push(`before ${trigger} ${tokens}`),
			notes: async () => [],
			after: (trigger, tokens) => void order.push(`after ${trigger} ${tokens}`),
		},
		mailbox: null,
		stepFailed() {},
		clock: systemClock,
		random: () => 0,
		async emit(body) {
			events.push(body);
			order.push(eventName(body));
		},
		approve: async () => ({ kind: "approved", isShown: true }),
		commit: async () => void order.push("commit"),
		...overrides,
	};
	return {
		events,
		rows,
		order,
		controller,
		steers,
		failRowsOf(text) {
			unpersisted = text;
		},
		run: (input = "hi") => runTurn(input, dependencies, controller.signal),
	};
}

function rowName(row: ContextRow): string {
	return row.type === "message" ? row.message.role : row.type;
}

function eventName(body: EventBody): string {
	return body.type === "tool.result" ? `${body.type} ${body.toolCallId}` : body.type;
}

export interface ToolDouble {
	readonly approval?: ApprovalNeed | null;
	readonly hasEffect?: boolean;
	readonly target?: string | null;
	readonly result?: ToolReturn;
	open?(value: unknown): Promise<OpenedCall | null>;
	execute?(signal: AbortSignal, toolCallId: string, progress: ToolProgress): Promise<ToolReturn | Refusal>;
}

export function createToolDouble(name: string, double: ToolDouble = {}): Tool {
	const {
		approval = null,
		hasEffect = false,
		target = null,
		result = toolSuccess({ output: `${name} output` }),
	} = double;
	return {
		name,
		description: name,
		parameters: async () => ({ type: "object" }),
		async open(value, { toolCallId }) {
			const opened = (await double.open?.(value)) ?? null;
			if (opened !== null) return opened;
			const execute = async (signal: AbortSignal, progress: ToolProgress = () => {}) =>
				(await double.execute?.(signal, toolCallId, progress)) ?? result;
			return { ok: true, preparation: { kind: "ready", approval, hasEffect, target, execute } };
		},
	};
}

export const editNeed: ApprovalNeed = {
	byDefault: "ask",
	action: "edit file",
	subjects: [{ kind: "file", operation: "edit", path: "/home/me/project/src/a.ts" }],
	description: "Edit it",
	display: [],
};

/** Answers by call id; whoever is not named is approved and shown. */
export function approveBy(outcomes: Readonly<Record<string, ApprovalOutcome>>) {
	return async (_need: ApprovalNeed, call: ToolCall): Promise<ApprovalOutcome> =>
		outcomes[call.id] ?? { kind: "approved", isShown: true };
}
