import * as v from "valibot";
import { decodeArguments } from "../../api/values/call-arguments.ts";
import { mediaPart, type ToolReturn, textPart } from "../../api/values/content.ts";
import type { Answer, ApprovalInteraction, Interaction } from "../../api/values/interaction.ts";
import type { Outgoing } from "../shared/event-pump.ts";
import * as updates from "./wire-updates.ts";

type Question = Extract<Interaction, { kind: "question" }>;
type ClientTool = Extract<Interaction, { kind: "client-tool" }>;
type Request = Extract<Outgoing, { kind: "interaction" }>;

export interface RequestPlace {
	readonly threadId: string;
	readonly turnId: string;
	readonly workDir: string;
	readonly at: number;
	cancelTurn(): void;
}

export function toRequest(interaction: Interaction, place: RequestPlace): Request | null {
	switch (interaction.kind) {
		case "approval":
			return toApproval(interaction, place);
		case "question":
			return toQuestions(interaction, place);
		case "client-tool":
			return toToolCall(interaction, place);
		case "hook":
			return null;
	}
}

function toApproval(interaction: ApprovalInteraction, place: RequestPlace): Request {
	const { id, toolCallId: itemId, subjects = [], reason = null, description, summary = description } = interaction;
	const { threadId, turnId, workDir, at } = place;
	const shared = { threadId, turnId, itemId, reason, startedAtMs: at };
	const isChange = subjects.length > 0 && subjects.every(({ kind }) => kind === "file");
	const command = subjects.find((subject) => subject.kind === "command");
	// Server and plugin tools have no request of their own: they are asked about by their effect.
	const run = { command: command?.text ?? summary, cwd: command?.cwd ?? workDir };
	return {
		kind: "interaction",
		interactionId: id,
		id,
		method: isChange ? "item/fileChange/requestApproval" : "item/commandExecution/requestApproval",
		params: () => (isChange ? shared : { ...shared, ...run }),
		readResult(result) {
			const answer = v.safeParse(updates.decisionSchema, result);
			if (!answer.success) return null;
			const { decision } = answer.output;
			if (decision === "cancel") place.cancelTurn();
			// With feedback the model continues; a plain refusal would end the turn.
			const feedback = decision === "decline" ? "The user declined it. Continue without it." : "";
			return { kind: "approval", decision: decisions[decision], feedback };
		},
	};
}

const decisions = {
	accept: "approve",
	acceptForSession: "approve_for_session",
	decline: "reject",
	cancel: "reject",
} as const;

function toQuestions({ id, toolCallId: itemId, questions }: Question, place: RequestPlace): Request {
	const { threadId, turnId } = place;
	const asked = questions.map(({ question, header, options }, index) => ({
		id: `q${index + 1}`,
		header,
		question,
		isOther: true as const,
		isSecret: false as const,
		options: options.map(({ label, description }) => ({ label, description })),
	}));
	return {
		kind: "interaction",
		interactionId: id,
		id,
		method: "item/tool/requestUserInput",
		params: () => ({ threadId, turnId, itemId, questions: asked }),
		readResult(result): Answer | null {
			const read = v.safeParse(updates.answersSchema, result);
			if (!read.success) return null;
			const answered = asked.flatMap((each) => {
				const given = read.output.answers[each.id]?.answers ?? [];
				return given.length === 0 ? [] : [[each.question, given.join(", ")] as const];
			});
			return { kind: "question", answers: Object.fromEntries(answered) };
		},
	};
}

function toToolCall({ id, toolCallId: callId, name: tool, arguments: json }: ClientTool, place: RequestPlace): Request {
	const { threadId, turnId } = place;
	const decoded = decodeArguments(json);
	return {
		kind: "interaction",
		interactionId: id,
		id,
		method: "item/tool/call",
		params: () => ({ threadId, turnId, callId, tool, arguments: decoded.ok ? decoded.value : json }),
		readResult(result): Answer | null {
			const answer = v.safeParse(updates.toolAnswerSchema, result);
			if (!answer.success) return null;
			const { success, contentItems } = answer.output;
			const output = contentItems.map((each) =>
				each.type === "inputText" ? textPart(each.text) : mediaPart("image", each.imageUrl),
			);
			const value: ToolReturn = { is_error: !success, output, message: "", display: [], extras: null };
			return { kind: "client-tool", result: value };
		},
	};
}
