import type { ToolReturn } from "../../api/values/content.ts";
import type { AgentPathEntry, TurnOutcome } from "../../api/values/event.ts";
import type { ToolLimits } from "../../api/values/turn-options.ts";
import type { Clock } from "../../base/clock.ts";
import type { Identifiers } from "../../base/ids.ts";
import { beginning } from "../../base/text/well-formed.ts";
import { Context, type ContextLog, lastText } from "../../core/agent/context.ts";
import type { AgentType } from "../../core/definitions/agent-types.ts";
import { withRole } from "../../core/definitions/system-prompt.ts";
import type { Model } from "../../core/models/model.ts";
import type { AgentRequest, MailOperations } from "../../core/tools/operations.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { StoredAgent } from "../../ports/store/session-store.ts";
import type { ChosenModel } from "../session/session-model.ts";
import type { HookRunner } from "../turn/hook-runner.ts";
import { createMailbox, mailboxOf } from "../turn/mailbox.ts";
import { closeLostCalls } from "../turn/recovery.ts";
import { noReminders } from "../turn/reminders.ts";
import { createToolBox, limitTools } from "../turn/tool-box.ts";
import { createToolWatch } from "../turn/tool-hooks.ts";
import type { Agent, AgentServices } from "../turn/turn-dependencies.ts";
import { createTurnEmit } from "../turn/turn-emitter.ts";
import { createFailureNote, type EndedRun, type ReportedAgent, toResult } from "./subagent-report.ts";
import { runSubagentTurn } from "./subagent-turn.ts";

export type FindModel = (alias: string) => Promise<Model | null>;

export interface RunSettings {
	readonly types: readonly AgentType[];
	createTools(toolPaths: readonly string[], mail: MailOperations, model: Model | null): Promise<readonly Tool[]>;
	findModel: FindModel;
	chosen(): Pick<ChosenModel, "model" | "unsetModelAlias">;
	toolLimits?(): ToolLimits | undefined;
	systemPrompt(type: AgentType): Promise<string>;
	/** The repository state in a few lines; empty without a repository. */
	describeRepository(signal: AbortSignal): Promise<string>;
	readonly services: AgentServices;
	readonly hooks: HookRunner;
	readonly identifiers: Identifiers;
}

/** Reports with fewer characters are requested again. */
const shortReport = 200;
/** Maximum characters of prompts and reports in hook input. */
const hookText = 500;

const continuation =
	"Your report is very short. Write it again for someone who has seen nothing of your work: what you found or did, where, what follows from it, and what is open.";

export interface PreparedAgent extends ReportedAgent {
	readonly stored: StoredAgent;
	readonly type: AgentType;
	readonly model: Model | null;
	readonly unsetModelAlias: string | null;
	/** Tool limits of the starting turn, which may end before the run begins. */
	readonly toolLimits: ToolLimits | undefined;
}

/** Why there is no subagent to run. `brief` is for background tasks. */
export interface AgentRefusal {
	readonly message: string;
	readonly brief: "Agent not found" | "Invalid subagent type" | "Agent already running" | "Invalid model alias";
}

type Preparation =
	| { readonly ok: true; readonly agent: PreparedAgent }
	| { readonly ok: false; readonly refusal: AgentRefusal };

export async function prepareAgent(request: AgentRequest, settings: RunSettings): Promise<Preparation> {
	const { types, identifiers } = settings;
	const { stored, clock } = settings.services;
	const toolLimits = settings.toolLimits?.();
	const refuse = (message: string, brief: AgentRefusal["brief"]): Preparation => ({
		ok: false,
		refusal: { message, brief },
	});
	const known = request.resume === null ? null : await stored.openAgent(request.resume);
	if (request.resume !== null && known === null) {
		return refuse(`There is no subagent ${request.resume} in this session.`, "Agent not found");
	}
	const wanted = known?.description.type ?? request.type;
	const type = types.find(({ name }) => name === wanted);
	if (type === undefined) {
		const names = types.map(({ name }) => name).join(", ");
		return refuse(`There is no subagent type ${wanted}. Types: ${names}.`, "Invalid subagent type");
	}
	const alias = request.model ?? known?.description.modelOverride ?? type.model;
	const { model: own, unsetModelAlias } = settings.chosen();
	const model = alias === null ? own : await settings.findModel(alias);
	if (alias !== null && model === null) {
		return refuse(`There is no model ${alias} in the settings.`, "Invalid model alias");
	}
	const agent =
		known ??
		(await stored.createAgent({
			id: `a${identifiers.hex(8)}`,
			type: type.name,
			description: request.description,
			createdAt: clock.now(),
			modelOverride: request.model,
			effectiveModel: alias,
		}));
	const { id } = agent.description;
	const isResumed = known !== null;
	const chosen = { type, model, unsetModelAlias, toolLimits };
	return { ok: true, agent: { id, typeName: type.name, stored: agent, ...chosen, isResumed } };
}

export interface RunPlace {
	readonly toolCallId: string;
	readonly turnId: string;
	readonly services: AgentServices;
	/** Background task id; absent when the caller waits for the run. */
	readonly taskId?: string;
}

export interface FinishedRun extends EndedRun {
	readonly result: ToolReturn;
}

export async function runAgent(
	request: AgentRequest,
	prepared: PreparedAgent,
	place: RunPlace,
	settings: RunSettings,
	signal: AbortSignal,
): Promise<FinishedRun> {
	const { hooks } = settings;
	const { clock } = settings.services;
	const { services, turnId } = place;
	const { id, stored, type } = prepared;
	const path = [{ parentToolCallId: place.toolCallId, agentId: id, subagentType: type.name }];
	const deadline = createDeadline(request.timeout, clock);
	const either = AbortSignal.any([signal, deadline.signal]);
	const emitAsParent = createTurnEmit(services, [], turnId, signal);

	const started = { agent_name: type.name, prompt: beginning(request.prompt, hookText) };
	try {
		await hooks.run({ event: "SubagentStart", target: type.name, input: started }, emitAsParent, either);
		await services.persisted(stored.begin(request.prompt, place.taskId));
	} catch (thrown) {
		deadline.withdraw();
		throw thrown;
	}
	services.emitter.addAgent(id, stored);
	services.observation?.addAgent(id, prepared.model?.name ?? "");
	try {
		const note = createFailureNote(prepared.model);
		const agent = await openAgent({ ...prepared, model: note.model }, path, services, settings);
		const opening = type.startsWithGit && !prepared.isResumed ? await settings.describeRepository(either) : "";
		const prompt = opening === "" ? request.prompt : `${opening}\n\n${request.prompt}`;
		const turn = { services, turnId, hooks, clock, work: either, caller: signal };
		const first = await runSubagentTurn({ text: prompt, isOwn: false }, agent, turn);
		const isBlocked = first.blocked !== null;
		let { outcome } = first;
		let report = hasAnswer(outcome) && !isBlocked ? lastText(agent.context) : "";
		if (outcome.status === "finished" && !isBlocked && report.length < shortReport) {
			({ outcome } = await runSubagentTurn({ text: continuation, isOwn: true }, agent, turn));
			report = (hasAnswer(outcome) && lastText(agent.context)) || report;
		}
		deadline.withdraw();
		const isWell = hasAnswer(outcome) && !isBlocked;
		if (isWell) {
			const stopped = { agent_name: type.name, response: beginning(report, hookText) };
			const watch = createToolWatch(hooks, emitAsParent, clock, signal);
			watch.runConcurrently({ event: "SubagentStop", target: type.name, input: stopped });
			await watch.end();
		}
		const isTimedOut = outcome.status === "cancelled" && !signal.aborted;
		const blockedFor = first.blocked?.reason ?? null;
		const run = { outcome, report, blockedFor, isTimedOut, statusCode: note.statusCode() };
		const result = toResult(request, prepared, run);
		await services.persisted(stored.appendOutput(`${report === "" ? result.message : report}\n`));
		await services.persisted(stored.setStatus(isWell ? "idle" : signal.aborted ? "killed" : "failed"));
		return { ...run, result };
	} catch (thrown) {
		// If even this cannot be persisted, the next process detects it.
		await stored.setStatus("failed").catch(() => {});
		throw thrown;
	} finally {
		deadline.withdraw();
		services.emitter.removeAgent(id);
		services.observation?.removeAgent(id);
	}
}

/** Whether the run ended with a model answer, complete or not. */
function hasAnswer({ status }: TurnOutcome): boolean {
	return status === "finished" || status === "truncated";
}

/** Aborts after this many seconds unless cancelled; null disables it. */
function createDeadline(seconds: number | null, clock: Clock): { readonly signal: AbortSignal; withdraw(): void } {
	const controller = new AbortController();
	const withdraw = seconds === null ? () => {} : clock.after(seconds * 1000, () => controller.abort());
	return { signal: controller.signal, withdraw };
}

async function openAgent(
	{ stored, type, model, unsetModelAlias, toolLimits }: PreparedAgent,
	path: readonly AgentPathEntry[],
	services: AgentServices,
	settings: RunSettings,
): Promise<Agent> {
	const log: ContextLog = {
		change: (change) => services.persisted(stored.changeContext(change)),
	};
	const hasPrompt = stored.contextRows.some((row) => row.type === "system-prompt");
	const content = hasPrompt ? "" : withRole(await settings.systemPrompt(type), type.role);
	if (!hasPrompt) await log.change({ kind: "append", rows: [{ type: "system-prompt", content }] });
	const context = new Context(log, stored.contextRows, content);
	await closeLostCalls(context);
	const mailbox = createMailbox();
	mailbox.open(() => context.checkpointCount);
	const tools = await settings.createTools(type.toolPaths, mailbox, model);
	return {
		path,
		model,
		unsetModelAlias,
		context,
		tools: limitTools(createToolBox(tools), toolLimits),
		reminders: noReminders,
		notices: async () => [],
		mailbox: mailboxOf(tools, mailbox),
		compactionNotes: async () => [],
	};
}
