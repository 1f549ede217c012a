import type { ElicitResult } from "@modelcontextprotocol/client";
import { beginning } from "../../base/text/well-formed.ts";
import type { Question, QuestionOutcome } from "../tools/operations.ts";
import { type FormField, readForm } from "./form-field.ts";
import type { ElicitParams } from "./link.ts";
import type { Asker } from "./running-call.ts";

/** Maximum attempts per field after invalid answers. */
const tries = 3;

interface OwnChoice {
	readonly label: string;
	readonly otherLabel: string;
	readonly description: string;
}

const refusal = { label: "Decline", otherLabel: "Decline to answer", description: "Tell the server nothing." };
const omission = { label: "Leave out", otherLabel: "Leave it out", description: "Go on without an answer to this." };

/** The added choice with a label that differs from the field's choices. */
function besides({ label, otherLabel, description }: OwnChoice, { choices }: FormField) {
	const isTaken = choices.some((choice) => choice.label === label);
	return { label: isTaken ? otherLabel : label, description };
}

type Form = NonNullable<ElicitResult["content"]>;

/** Asks one question at a time. Declines if no user can be asked; cancels if the user dismisses a question. */
export async function answerForm(
	params: ElicitParams,
	server: string,
	asker: Asker,
	signal: AbortSignal,
): Promise<ElicitResult> {
	const fields = readForm("requestedSchema" in params ? params.requestedSchema : null);
	if (fields === null) return { action: "decline" };
	const preface = `The MCP server ${server} asks: ${params.message}`;
	if (fields.length === 0) return await askConsent(preface, asker, signal);
	const content: Form = {};
	for (const field of fields) {
		const answer = await askField(field, preface, asker, signal);
		if (answer.kind !== "value") return { action: answer.kind };
		if (answer.value !== null) content[field.name] = answer.value;
	}
	return { action: "accept", content };
}

type FieldAnswer =
	| { readonly kind: "value"; readonly value: Form[string] | null }
	| { readonly kind: "decline" | "cancel" };

async function askField(field: FormField, preface: string, asker: Asker, signal: AbortSignal): Promise<FieldAnswer> {
	let complaint = "";
	const [omit, refuse] = [besides(omission, field), besides(refusal, field)];
	for (let count = 0; count < tries; count += 1) {
		const question = [preface, field.label, complaint].filter((line) => line !== "").join("\n");
		const outcome = await ask(
			{
				question,
				header: "MCP",
				options: [...field.choices, ...(field.isOptional ? [omit] : []), refuse],
				multi_select: field.isList,
			},
			asker,
			signal,
		);
		if (outcome.kind !== "answered") return toRefusal(outcome);
		const text = Object.values(outcome.answers)[0] ?? "";
		if (text === refuse.label) return { kind: "decline" };
		if (text === omit.label && field.isOptional) return { kind: "value", value: null };
		const read = field.read(text);
		if (read.ok) return { kind: "value", value: read.value };
		complaint = `"${beginning(text, 100)}" does not fit: ${read.issue}.`;
	}
	return { kind: "cancel" };
}

async function askConsent(preface: string, asker: Asker, signal: AbortSignal): Promise<ElicitResult> {
	const consent = { label: "Accept", description: "Let the server go on." };
	const question = {
		question: preface,
		header: "MCP",
		options: [consent, { label: refusal.label, description: refusal.description }],
		multi_select: false,
	};
	const outcome = await ask(question, asker, signal);
	if (outcome.kind !== "answered") return { action: toRefusal(outcome).kind };
	const isAccepted = Object.values(outcome.answers)[0] === consent.label;
	return isAccepted ? { action: "accept", content: {} } : { action: "decline" };
}

function ask(question: Question, { questions, toolCallId }: Asker, signal: AbortSignal): Promise<QuestionOutcome> {
	return questions.ask([question], toolCallId, signal);
}

/** In the protocol, `cancel` means that the user did not choose. */
function toRefusal({ kind }: Exclude<QuestionOutcome, { kind: "answered" }>): { readonly kind: "decline" | "cancel" } {
	return { kind: kind === "dismissed" ? "cancel" : "decline" };
}
