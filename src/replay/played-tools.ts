// Tools make the recorded requests and return the recorded results.
import { type DisplayBlock, type ToolReturn, toolError } from "../api/values/content.ts";
import type { ApprovalInteraction } from "../api/values/interaction.ts";
import { unlessAborted } from "../base/abort.ts";
import { isRecord } from "../base/json.ts";
import { visibleText } from "../base/text/visible-text.ts";
import type { Judge } from "../core/permissions/judge.ts";
import type { PermissionRequest, Verdict } from "../core/permissions/policy.ts";
import type { ApprovalNeed, Preparation, Refusal, Tool } from "../core/tools/tool.ts";
import type { SessionOperations } from "../kernel/session/session-parts.ts";
import type { PlayedCall } from "./calls.ts";
import { type Conductor, mainKey } from "./conductor.ts";
import type { Score } from "./score.ts";

const planAction = "change plan mode";

export class PlayedTools {
	readonly #conductor: Conductor;
	readonly #needs = new WeakMap<PermissionRequest, PlayedCall>();
	readonly #ofClients: ReadonlySet<string>;

	readonly #nameAgent: (id: string) => void;

	constructor(conductor: Conductor, ofClients: ReadonlySet<string>, nameAgent: (id: string) => void) {
		this.#conductor = conductor;
		this.#ofClients = ofClients;
		this.#nameAgent = nameAgent;
	}

	create(operations: SessionOperations, isSubagent: boolean): readonly Tool[] {
		const scores = [...this.#conductor.scores.values()].filter(({ key }) => (key !== mainKey) === isSubagent);
		const names = new Set(scores.flatMap(({ calls }) => calls.map(({ call }) => call.function.name)));
		return [...names]
			.filter((name) => !this.#ofClients.has(name))
			.map((name) => ({
				name,
				description: "",
				parameters: async () => ({}),
				open: async (value, { toolCallId, signal }) => {
					for (const score of scores) {
						const played = score.callOf(toolCallId);
						if (played === null) continue;
						played.isOpened = true;
						return { ok: true, preparation: await this.#prepare(played, value, score, operations, signal) };
					}
					return { ok: true, preparation: { kind: "settled", result: toolError("This call is not recorded.", "") } };
				},
			}));
	}

	readonly judge: Judge = {
		decide: async (request): Promise<Verdict | null> => {
			const played = this.#needs.get(request);
			// Another open approval that an approval for the session covers.
			if (played === undefined)
				return this.#isGranted(request) ? { decision: "allow", by: "session-grant", reason: "" } : null;
			const { decided } = played;
			if (decided !== null)
				return { decision: decided.decision === "approve" ? "allow" : "deny", by: decided.by, reason: decided.reason };
			const { reason } = approvalOf(played) ?? {};
			return reason === undefined ? null : { decision: "ask", by: "rule", reason };
		},
		propose: async (request) => {
			const played = this.#needs.get(request);
			const { grants = [], coverage = "" } = (played === undefined ? null : approvalOf(played)) ?? {};
			if (grants.length > 0) return { kind: "grants", patterns: grants };
			return { kind: "once", why: coverage.replace(/^It can only be approved once: /, "").replace(/\.$/, "") };
		},
		changesNothing: async () => false,
	};

	#isGranted({ action, subjects }: PermissionRequest): boolean {
		const wanted = JSON.stringify([action, subjects]);
		return [...this.#conductor.scores.values()].some(({ events }) =>
			events.some(({ body }) => {
				if (body.type !== "interaction.requested" || body.interaction.kind !== "approval") return false;
				const { id, action: asked, subjects: about = [] } = body.interaction;
				if (JSON.stringify([asked, about]) !== wanted) return false;
				return events.some(
					(other) =>
						other.body.type === "interaction.resolved" &&
						other.body.interactionId === id &&
						other.body.by?.kind === "session-grant",
				);
			}),
		);
	}

	async #prepare(
		played: PlayedCall,
		value: unknown,
		score: Score,
		operations: SessionOperations,
		signal: AbortSignal | undefined,
	): Promise<Preparation> {
		const { firstAt, startedAt, resultAt, decided, result } = played;
		const isReached = (index: number | null) => this.#reached(score, index, signal);
		await isReached(firstAt);
		const approval = decided ?? approvalOf(played);
		// Kimi Wire logs do not say that a call began.
		const isRun = startedAt !== null || (resultAt !== null && score.events[resultAt]?.isFromLog === true);
		if (!isRun && approval === null) return { kind: "settled", result: result ?? notRecorded };
		const need = approval === null ? null : toNeed(approval);
		if (need !== null) this.#needs.set(need, played);
		return {
			kind: "ready",
			approval: need,
			hasEffect: played.hasEffect,
			target: null,
			execute: async (ending) => {
				const own = await this.#act(played, value, operations, ending);
				await this.#reached(score, resultAt, ending);
				return own ?? (played.isRefusal ? { kind: "refusal", result: result ?? notRecorded } : withoutReminder(result));
			},
		};
	}

	async #reached(score: Score, index: number | null, signal: AbortSignal | undefined): Promise<void> {
		const reached = this.#conductor.when(() => index !== null && score.isReached(index));
		await (signal === undefined ? reached : unlessAborted(reached, signal));
	}

	/** Repeats the call's effect on the session. Null unless the result comes from the session. */
	async #act(
		{ call, asked, startedAt, plan, planAfter }: PlayedCall,
		value: unknown,
		{ agents, questions, plan: planMode }: SessionOperations,
		signal: AbortSignal,
	): Promise<ToolReturn | Refusal | null> {
		const {
			id,
			function: { name },
		} = call;
		if (agents !== null && this.#conductor.scores.has(id) && isRecord(value)) {
			const text = (key: string) => (typeof value[key] === "string" ? value[key] : null);
			const score = this.#conductor.scores.get(id);
			const agent = score?.events[score.position]?.agentPath.at(-1);
			const resume = text("resume");
			if (resume === null && agent?.agentId) this.#nameAgent(agent.agentId);
			const request = {
				description: text("description") ?? "",
				prompt: score === undefined ? "" : promptOf(score),
				type: agent?.subagentType ?? text("subagent_type") ?? "",
				model: id,
				resume,
				timeout: null,
			};
			return await agents.run(request, id, signal);
		}
		if (plan !== null) await planMode.show(plan.content, plan.file_path);
		for (const { index, interaction } of asked) {
			if (interaction.kind === "question") await questions.ask(interaction.questions, id, signal);
			if (
				interaction.kind !== "approval" ||
				interaction.action !== planAction ||
				startedAt === null ||
				index < startedAt
			)
				continue;
			const shown = interaction.display.find((block) => block.type === "brief");
			const review = {
				description: interaction.description,
				text: shown !== undefined && "text" in shown ? String(shown.text) : "",
			};
			await planMode.ask(
				{ question: "", header: "", options: [], multi_select: false },
				review,
				{ id, tool: interaction.sender },
				signal,
			);
		}
		if (/^(?:Enter|Exit)PlanMode$/.test(name) && planAfter !== null) await planMode.set(planAfter);
		return null;
	}
}

const notRecorded = toolError("No result is recorded.", "");

function promptOf({ events, position }: Score): string {
	const begun = events.slice(position).find(({ body }) => body.type === "turn.started")?.body;
	return begun?.type === "turn.started" && typeof begun.input === "string" ? begun.input : "";
}

function approvalOf({ asked, startedAt }: PlayedCall): ApprovalInteraction | null {
	for (const { index, interaction } of asked)
		if (interaction.kind === "approval" && (startedAt === null || index < startedAt)) return interaction;
	return null;
}

/** The tool's own description: the kernel adds its notes. */
function toNeed(approval: { readonly action: string } & Partial<ApprovalInteraction>): ApprovalNeed {
	const { action, subjects = [], summary = "", description = "", display = [] } = approval;
	const notes = description.slice(summary.length);
	const own: DisplayBlock[] = [...display];
	for (let last = own.at(-1); last?.type === "brief" && "text" in last; last = own.at(-1)) {
		if (!notes.includes(visibleText(String(last.text)))) break;
		own.pop();
	}
	return { byDefault: "ask", action, subjects, description: summary, display: own };
}

/** The kernel adds its repetition reminder again. */
function withoutReminder(result: ToolReturn | null): ToolReturn {
	if (result === null) return notRecorded;
	const { output } = result;
	if (typeof output !== "string") return result;
	const at = output.lastIndexOf("\n\n<system-reminder>");
	const isReminder = at >= 0 && /same call as before|was called \d+ times in a row/.test(output.slice(at));
	return isReminder ? { ...result, output: output.slice(0, at) } : result;
}
