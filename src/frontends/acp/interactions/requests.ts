// Kernel interactions as client requests. Each is self-contained, because a client may show it alone.
import type { Answer, ApprovalInteraction, Interaction } from "../../../api/values/interaction.ts";
import type { Outgoing } from "../../shared/event-pump.ts";
import { approvalContent, textContent } from "../calls/call-content.ts";
import { type CallDescription, planTools } from "../calls/call-description.ts";
import type { Call } from "../calls/calls.ts";
import type { Codec } from "../codec.ts";
import type { Projection } from "../projection.ts";
import type { PermissionOption, ToolCallUpdate, ToolContent } from "../wire-updates.ts";
import { permissionOptions, readApproval } from "./permissions.ts";
import { readChosen, readForm, toChoices, toForm, toOptions, toPlanChoices } from "./questions.ts";

type InteractionRequest = Extract<Outgoing, { kind: "interaction" }>;

interface Place {
	readonly sessionId: string;
	readonly workDir: string;
	readonly projection: Projection;
	readonly codec: Codec;
}

export function toRequest(interaction: Interaction, place: Place): InteractionRequest | null {
	switch (interaction.kind) {
		case "approval":
			return toApprovalRequest(interaction, place);
		case "question":
			return toQuestionRequest(interaction, place);
		// Clients of this protocol provide neither tools nor hooks.
		case "client-tool":
		case "hook":
			return null;
	}
}

function toApprovalRequest(interaction: ApprovalInteraction, place: Place): InteractionRequest {
	const { projection, workDir } = place;
	const call = projection.calls.find(interaction.toolCallId, interaction.agentId);
	const content = approvalContent(interaction.display, workDir);
	const toolCall = call === null ? describeAct(interaction, content) : describe(call, call.description, content);
	return permissionRequest(interaction.id, place, toolCall, permissionOptions(interaction), readApproval);
}

function toQuestionRequest(interaction: Extract<Interaction, { kind: "question" }>, place: Place) {
	const { sessionId, projection } = place;
	const { id, questions, toolCallId } = interaction;
	const call = projection.calls.find(toolCallId, null);
	const isAboutPlan = call !== null && planTools.has(call.name);
	if (projection.settings.client.elicitation.form && !isAboutPlan) {
		return request(id, "elicitation/create", (result) => readForm(result, questions), {
			mode: "form",
			message: questions.map(({ question }) => question).join("\n"),
			sessionId,
			toolCallId: call?.id ?? toolCallId,
			requestedSchema: { type: "object", properties: toForm(questions) },
		});
	}
	const [question] = questions;
	if (question === undefined) return null;
	const isHandedIn = call?.name === "ExitPlanMode";
	const choices = isHandedIn ? toPlanChoices(question) : toChoices(question);
	const texts = isHandedIn ? [projection.plan] : [question.question, question.body, ...optionLines(question.options)];
	const content = texts.filter((text) => text !== "").map(textContent);
	const about: CallDescription = { title: question.question, kind: "other", locations: [] };
	const toolCall = call === null ? toUpdate(toolCallId, about, content) : describe(call, call.description, content);
	return permissionRequest(id, place, toolCall, toOptions(choices), (result) => readChosen(result, question, choices));
}

const optionLines = (options: readonly { readonly label: string; readonly description: string }[]) =>
	options.flatMap(({ label, description }) => (description === "" ? [] : [`${label}: ${description}`]));

function permissionRequest(
	id: string,
	{ sessionId, codec }: Place,
	toolCall: ToolCallUpdate,
	options: readonly PermissionOption[],
	readResult: (result: unknown) => Answer | null,
): InteractionRequest {
	return request(
		id,
		"session/request_permission",
		readResult,
		codec.encodePermission({ sessionId, toolCall, options: [...options] }),
	);
}

function request(
	id: string,
	method: string,
	readResult: (result: unknown) => Answer | null,
	params: object,
): InteractionRequest {
	return { kind: "interaction", interactionId: id, id, method, params: () => params, readResult };
}

/** The whole call, because the client may not have received it, or may show the request elsewhere. */
function describe(call: Call, description: CallDescription, content: readonly ToolContent[]): ToolCallUpdate {
	const terminal = call.terminalId === null ? [] : [{ type: "terminal" as const, terminalId: call.terminalId }];
	return { ...toUpdate(call.id, description, [...terminal, ...content]), name: call.name };
}

function describeAct(interaction: ApprovalInteraction, content: readonly ToolContent[]): ToolCallUpdate {
	const { toolCallId, action, sender, subjects = [] } = interaction;
	const command = subjects.find(({ kind }) => kind === "command");
	const isCommand = command?.kind === "command";
	const title = isCommand ? command.text : action;
	const kind = isCommand ? "execute" : "other";
	return { ...toUpdate(toolCallId, { title, kind, locations: [], rawInput: subjects }, content), name: sender };
}

function toUpdate(toolCallId: string, description: CallDescription, content: readonly ToolContent[]): ToolCallUpdate {
	const { title, kind, locations, rawInput } = description;
	return {
		toolCallId,
		title,
		kind,
		status: "pending",
		...(rawInput === undefined ? {} : { rawInput }),
		locations: [...locations],
		content: [...content],
	};
}
