import * as v from "valibot";
import { type ToolReturn, toolError, toolSuccess } from "../../../api/values/content.ts";
import type { PlanCall, PlanOperations, PlanOutcome } from "../operations.ts";
import type { Refusal, Tool, ToolEnvironment } from "../tool.ts";
import { defineTool, readOnly } from "../tool-definition.ts";

const unsupported = toolError(
	"The connected client does not support plan mode. Do NOT call this tool again. Describe your plan in your answer instead.",
	"Client unsupported",
);

const brief = (text: string) => ({ display: [{ type: "brief" as const, text }] });

const enterDescription = `Ask the user to switch to plan mode, in which you explore and write a plan before anything is changed.

Use it before work that is large, risky or unclear in its design. Do not use it for small changes, for questions, or for research alone.`;

export function createEnterPlanMode({ plan }: ToolEnvironment): Tool {
	return defineTool({
		name: "EnterPlanMode",
		description: enterDescription,
		needs: ["plan-mode"],
		schema: v.object({}),
		prepare: (_input, { toolCallId }) =>
			readOnly((signal) => enter(plan, { id: toolCallId, tool: "EnterPlanMode" }, signal)),
	});
}

const enterQuestion = "Enter plan mode?";

async function enter(plan: PlanOperations, call: PlanCall, signal: AbortSignal): Promise<ToolReturn> {
	if (plan.isOn()) return toolError("Plan mode is on already.", "Already in plan mode");
	const turnOn = async (note: string): Promise<ToolReturn> => {
		await plan.set(true);
		return toolSuccess({ output: plan.instructions(plan.file() ?? ""), message: "Plan mode on", ...brief(note) });
	};
	if (!plan.canAsk()) return unsupported;
	if (plan.entersUnasked()) return await turnOn("Plan mode on (auto)");
	const options = [
		{ label: "Yes", description: "Explore and plan first; nothing is changed until you approve the plan." },
		{ label: "No", description: "Go on without a plan." },
	];
	const question = { question: enterQuestion, header: "Plan Mode", options, multi_select: false };
	const review = { description: "Enter plan mode: explore and plan before anything is changed", text: "" };
	const outcome = await plan.ask(question, review, call, signal);
	if (outcome.kind === "unsupported") return unsupported;
	const answer = toAnswer(outcome, enterQuestion, { approved: "Yes", rejected: "No" });
	if (answer === "Yes") return await turnOn("Plan mode on");
	if (answer === undefined) {
		return toolSuccess({
			output: "The user closed the question. Go on without plan mode.",
			message: "Dismissed",
			...brief("Dismissed"),
		});
	}
	const words = answer === "No" ? "" : ` They said: ${answer}`;
	return toolSuccess({
		output: `The user does not want plan mode.${words} Ask how to go on if that is not clear.`,
		message: "Declined",
		...brief("Declined"),
	});
}

function toAnswer(
	outcome: PlanOutcome,
	question: string,
	labels: { readonly approved: string; readonly rejected: string },
): string | undefined {
	switch (outcome.kind) {
		case "answered":
			return outcome.answers[question];
		case "approved":
			return labels.approved;
		case "rejected":
			return outcome.feedback === "" ? labels.rejected : outcome.feedback;
		case "dismissed":
		case "away":
		case "unsupported":
			return undefined;
	}
}

const exitDescription = `Hand in the plan you wrote to the plan file, for the user to approve. Only in plan mode, and only when the plan is written.

Pass \`options\` when the plan describes two or three alternatives to choose from.`;

const reserved: ReadonlySet<string> = new Set(["approve", "reject", "revise", "reject and exit"]);

const optionSchema = v.object({
	label: v.pipe(
		v.string(),
		v.minLength(1),
		v.check(
			(label) => !reserved.has(label.trim().toLowerCase()),
			"must not be Approve, Reject, Revise or Reject and Exit",
		),
		v.description("A short name of the alternative."),
	),
	description: v.optional(v.pipe(v.string(), v.description("What sets it apart.")), ""),
});

const exitSchema = v.object({
	options: v.optional(
		v.nullable(
			v.pipe(
				v.array(optionSchema),
				v.maxLength(3),
				v.check((options) => new Set(options.map(({ label }) => label)).size === options.length, "labels must differ"),
				v.description("Alternatives in the plan; null when there is one way."),
			),
		),
		null,
	),
});

type ExitOptions = v.InferOutput<typeof exitSchema>["options"];

export function createExitPlanMode({ plan }: ToolEnvironment): Tool {
	return defineTool({
		name: "ExitPlanMode",
		description: exitDescription,
		needs: ["plan-mode"],
		schema: exitSchema,
		failureBrief: "Failed to read the plan",
		prepare: ({ options }, { toolCallId }) =>
			readOnly((signal) => exit(plan, options, { id: toolCallId, tool: "ExitPlanMode" }, signal)),
	});
}

const exitQuestion = "Approve this plan";

async function exit(
	plan: PlanOperations,
	given: ExitOptions,
	call: PlanCall,
	signal: AbortSignal,
): Promise<ToolReturn | Refusal> {
	if (!plan.isOn()) return toolError("Plan mode is off: there is no plan to hand in.", "Not in plan mode");
	const written = await plan.read();
	if (written === null) {
		return toolError(`There is no plan yet. Write it to ${plan.file() ?? "the plan file"} first.`, "No plan file");
	}
	const approve = async (chosen: string | null): Promise<ToolReturn> => {
		await plan.set(false);
		const choice = chosen === null ? "" : `\n\nChosen: ${chosen}`;
		return toolSuccess({
			output: `The user approved the plan in ${written.file}. Plan mode is off; carry it out.${choice}\n\n${written.text}`,
			message: "Plan approved",
			...brief("Plan approved"),
		});
	};
	if (plan.isAway()) return await approve(null);
	if (plan.canShow()) await plan.show(written.text, written.file);
	if (!plan.canAsk()) return unsupported;
	const alternatives = given !== null && given.length >= 2 ? given : [];
	const approvals = alternatives.length > 0 ? alternatives : [{ label: "Approve", description: "Carry the plan out." }];
	const options = [
		...approvals,
		{ label: "Reject", description: "Stay in plan mode and wait." },
		{ label: "Reject and Exit", description: "Leave plan mode without carrying the plan out." },
	];
	const question = { question: exitQuestion, header: "Plan", options, multi_select: false, other_label: "Revise" };
	const review = { description: `Approve the plan in ${written.file}`, text: written.text };
	const outcome = await plan.ask(question, review, call, signal);
	if (outcome.kind === "unsupported") return unsupported;
	// An approval request cannot offer alternatives.
	if (outcome.kind === "approved") return await approve(null);
	const answer = toAnswer(outcome, exitQuestion, { approved: "Approve", rejected: "Reject" });
	if (answer === undefined) {
		return toolSuccess({
			output: "The user closed the question. Plan mode stays on; wait for them.",
			message: "Dismissed",
			...brief("Dismissed"),
		});
	}
	if (answer === "Reject")
		return refusal("The user rejected the plan. Plan mode stays on. Wait for what they say.", "Plan rejected");
	if (answer === "Reject and Exit") {
		await plan.set(false);
		return refusal(
			"The user rejected the plan and left plan mode. Wait for what they say.",
			"Plan rejected, exited plan mode",
		);
	}
	const chosen = alternatives.find(({ label }) => label === answer);
	if (chosen !== undefined) return await approve(chosen.label);
	if (alternatives.length === 0 && answer === "Approve") return await approve(null);
	return toolSuccess({
		output: `The user wants the plan revised. Plan mode stays on. They said: ${answer}`,
		message: "Plan revision requested",
		...brief("Plan revision requested"),
	});
}

function refusal(message: string, text: string): Refusal {
	return { kind: "refusal", result: toolError(message, text) };
}
