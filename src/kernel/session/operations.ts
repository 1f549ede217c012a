import type { ApprovalInteraction } from "../../api/values/interaction.ts";
import type { Identifiers } from "../../base/ids.ts";
import { planInstructions } from "../../core/definitions/plan-reminders.ts";
import type { Model } from "../../core/models/model.ts";
import type {
	MediaOperations,
	PlanCall,
	PlanOutcome,
	PlanReview,
	QuestionOperations,
} from "../../core/tools/operations.ts";
import type { ApprovalMode } from "../interactions/approval-mode.ts";
import type { PlanMode } from "../plan/plan-mode.ts";
import type { SessionEvents } from "./session-events.ts";
import type { SessionOperations } from "./session-parts.ts";

export type SharedOperations = Pick<SessionOperations, "questions" | "plan">;

export interface OperationsSettings {
	readonly events: SessionEvents;
	readonly plan: PlanMode;
	readonly mode: ApprovalMode;
	readonly identifiers: Identifiers;
}

export function createSharedOperations(settings: OperationsSettings): SharedOperations {
	const { events, plan, mode } = settings;
	const { clients } = events;
	const isAway = () => mode.isAway;
	const questions = createQuestions(settings, isAway);
	return {
		questions,
		plan: {
			isOn: () => plan.isOn,
			file: () => plan.file,
			read: () => plan.read(),
			set: (enabled) => plan.set(enabled, false),
			show: async (content, file) => events.emit({ type: "plan.displayed", content, file_path: file }),
			canShow: () => events.can("plan-mode"),
			canAsk: () => events.can("plan-mode") && (events.can("questions") || clients.reviewsByApproval),
			entersUnasked: () => mode.isYolo || mode.isAway,
			isAway,
			instructions: planInstructions,
			ask: async (question, review, call, signal) =>
				clients.reviewsByApproval && !isAway()
					? await requestApproval(settings, review, call, signal)
					: await questions.ask([question], call.id, signal),
		},
	};
}

function createQuestions({ events, identifiers }: OperationsSettings, isAway: () => boolean): QuestionOperations {
	return {
		async ask(asked, toolCallId, signal) {
			if (isAway()) return { kind: "away" };
			if (!events.can("questions")) return { kind: "unsupported" };
			const questions = asked.map(({ question, header, options, multi_select, other_label = "" }) => ({
				question,
				header,
				options: [...options],
				multi_select,
				body: "",
				other_label,
				other_description: "",
			}));
			const interaction = { kind: "question", id: identifiers.uuid(), toolCallId, questions } as const;
			const settlement = events.interactions.wait(interaction, "question", signal);
			await events.emit({ type: "interaction.requested", interaction });
			const { answer, by } = await settlement;
			await events.emit({ type: "interaction.resolved", interactionId: interaction.id, answer, by });
			const isAnswered = Object.keys(answer.answers).length > 0;
			return isAnswered ? { kind: "answered", answers: answer.answers } : { kind: "dismissed" };
		},
	};
}

async function requestApproval(
	{ identifiers, events }: OperationsSettings,
	{ description, text }: PlanReview,
	{ id: toolCallId, tool }: PlanCall,
	signal: AbortSignal,
): Promise<PlanOutcome> {
	const interaction: ApprovalInteraction = {
		kind: "approval",
		id: identifiers.uuid(),
		toolCallId,
		sender: tool,
		action: "change plan mode",
		description,
		sourceKind: "foreground_turn",
		sourceId: events.turn.id,
		agentId: null,
		subagentType: null,
		sourceDescription: null,
		display: text === "" ? [] : [{ type: "brief", text }],
		grants: [],
	};
	const settlement = events.interactions.wait(interaction, "approval", signal);
	await events.emit({ type: "interaction.requested", interaction });
	const { answer, by } = await settlement;
	await events.emit({ type: "interaction.resolved", interactionId: interaction.id, answer, by });
	if (by.kind !== "client") return { kind: "dismissed" };
	return answer.decision === "reject" ? { kind: "rejected", feedback: answer.feedback } : { kind: "approved" };
}

export function toMediaOperations(model: Model | null): MediaOperations {
	const uploadVideo = model?.uploadVideo?.bind(model);
	return {
		takesImages: model?.capabilities.has("image_in") === true,
		takesVideos: model?.capabilities.has("video_in") === true,
		uploadVideo:
			uploadVideo === undefined
				? null
				: async (video, signal) => {
						const upload = await uploadVideo(video, signal);
						return upload.ok ? upload : { ok: false, reason: upload.failure.message };
					},
	};
}
