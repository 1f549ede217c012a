import * as v from "valibot";
import type { AnswerTo, ApprovalInteraction, Interaction } from "../../api/values/interaction.ts";
import { ClientRefusal, type Frames } from "./frames.ts";
import { editingTools, toClientCall, toOwnName } from "./tool-names.ts";
import {
	type PermissionAnswer,
	type PermissionMode,
	type PermissionUpdate,
	permissionAnswerSchema,
	permissionModeSchema,
} from "./wire.ts";

type Input = Readonly<Record<string, unknown>>;

export interface AskedCall {
	readonly id: string;
	readonly name: string;
	readonly input: Input;
}

export type Verdict =
	| { readonly kind: "allow"; readonly input: Input; readonly forSession: boolean }
	| { readonly kind: "deny"; readonly message: string };

export interface PermissionSettings {
	readonly frames: Frames;
	readonly asksClient: boolean;
	/** Whether a path is in the session's directories. */
	readonly isInside: (path: string) => boolean;
	readonly setMode: (mode: PermissionMode) => Promise<void>;
	readonly interrupt: () => Promise<void>;
	readonly denied: (call: AskedCall) => void;
}

export class Permissions {
	mode: PermissionMode;
	readonly #allowedCalls = new Set<string>();
	readonly allowedTools: Set<string>;
	readonly #settings: PermissionSettings;

	constructor(mode: PermissionMode, allowedTools: readonly string[], settings: PermissionSettings) {
		this.mode = mode;
		this.allowedTools = new Set(allowedTools);
		this.#settings = settings;
	}

	allowCall(id: string): void {
		this.#allowedCalls.add(id);
	}

	async decide(approval: ApprovalInteraction, call: AskedCall, signal: AbortSignal): Promise<AnswerTo<"approval">> {
		const answer = (decision: "approve" | "approve_for_session" | "reject", feedback = "") =>
			({ kind: "approval", decision, feedback }) as const;
		if (this.#allowedCalls.delete(call.id) || this.#isAcceptedEdit(approval)) return answer("approve");
		const suggestions = toSuggestions(approval);
		const verdict = await this.ask(call, suggestions, approval.summary ?? approval.description, signal);
		if (verdict.kind === "deny") return answer("reject", verdict.message);
		if (!isSame(verdict.input, call.input)) {
			this.#settings.denied(call);
			return answer("reject", changedInput(verdict.input));
		}
		return answer(verdict.forSession ? "approve_for_session" : "approve");
	}

	/** The client may change the input of its own tools. */
	async decideOwnTool(call: AskedCall, signal: AbortSignal): Promise<Verdict> {
		const allowed = { kind: "allow", input: call.input, forSession: false } as const;
		const server = call.name.split("__").slice(0, 2).join("__");
		const isAllowed = [call.name, server, `${server}__*`].some((name) => this.allowedTools.has(name));
		if (this.#allowedCalls.delete(call.id) || isAllowed || this.mode === "bypassPermissions") return allowed;
		const suggestion: PermissionUpdate = {
			type: "addRules",
			rules: [{ toolName: call.name }],
			behavior: "allow",
			destination: "session",
		};
		const verdict = await this.ask(call, [suggestion], "", signal);
		if (verdict.kind === "allow" && verdict.forSession) this.allowedTools.add(call.name);
		return verdict;
	}

	async ask(
		call: AskedCall,
		suggestions: readonly PermissionUpdate[],
		description: string,
		signal: AbortSignal,
	): Promise<Verdict> {
		const { asksClient, frames, denied, interrupt } = this.#settings;
		const deny = (message: string): Verdict => {
			denied(call);
			return { kind: "deny", message };
		};
		if (!asksClient || this.mode === "dontAsk")
			return deny(`${call.name} needs a permission that nobody can give here. Go on without it.`);
		const request = {
			subtype: "can_use_tool",
			tool_name: call.name,
			input: call.input,
			tool_use_id: call.id,
			...(suggestions.length === 0 ? {} : { permission_suggestions: suggestions }),
			...(description === "" ? {} : { description }),
		};
		let answer: PermissionAnswer;
		try {
			const parsed = v.safeParse(permissionAnswerSchema, await frames.request(request, signal));
			if (!parsed.success) return deny("The client's decision cannot be read.");
			answer = parsed.output;
		} catch (thrown) {
			if (thrown instanceof ClientRefusal) return deny(`The client could not decide: ${thrown.message}`);
			throw thrown;
		}
		if (answer.behavior === "deny") {
			if (answer.interrupt === true) await interrupt();
			return deny(answer.message === "" ? "The user does not want this call." : answer.message);
		}
		const updates = answer.updatedPermissions ?? [];
		await this.#applyModes(updates);
		const forSession =
			suggestions.length > 0 && suggestions.every((each) => updates.some((one) => isSameRules(one, each)));
		return { kind: "allow", input: answer.updatedInput ?? call.input, forSession };
	}

	#isAcceptedEdit({ sender, subjects = [], reason }: ApprovalInteraction): boolean {
		if (this.mode !== "acceptEdits" || !editingTools.has(sender) || reason !== undefined) return false;
		return subjects.length > 0 && subjects.every((each) => each.kind === "file" && this.#settings.isInside(each.path));
	}

	async #applyModes(updates: readonly PermissionUpdate[]): Promise<void> {
		for (const { type, mode } of updates) {
			const parsed = v.safeParse(permissionModeSchema, mode);
			if (type === "setMode" && parsed.success) await this.#settings.setMode(parsed.output);
		}
	}
}

function toSuggestions({ grants = [] }: ApprovalInteraction): readonly PermissionUpdate[] {
	if (grants.length === 0) return [];
	const rules = grants.map((grant) => {
		const { tool = grant, content } = /^(?<tool>[^(]+)\((?<content>[\s\S]*)\)$/.exec(grant)?.groups ?? {};
		const toolName = toClientCall(toOwnName(tool), {}).name;
		return content === undefined ? { toolName } : { toolName, ruleContent: content };
	});
	return [{ type: "addRules", rules, behavior: "allow", destination: "session" }];
}

function isSameRules(one: PermissionUpdate, other: PermissionUpdate): boolean {
	if (one.type !== other.type || one.behavior !== other.behavior) return false;
	const texts = ({ rules = [] }: PermissionUpdate) =>
		rules.map(({ toolName, ruleContent }) => `${toolName}(${ruleContent ?? ""})`).sort();
	return isSame(texts(one), texts(other));
}

export function isSame(one: unknown, other: unknown): boolean {
	if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
	const left = Object.entries(one);
	const right = new Map(Object.entries(other));
	return left.length === right.size && left.every(([key, value]) => right.has(key) && isSame(value, right.get(key)));
}

/** What the model reads when a call was allowed only with other input. */
export function changedInput(input: Input): string {
	return `This call was not made: it is allowed only with this input, exactly: ${JSON.stringify(input)}`;
}

type Question = Extract<Interaction, { kind: "question" }>;

export function toAnswers({ questions }: Question, verdict: Verdict): AnswerTo<"question"> {
	if (verdict.kind === "deny") return { kind: "question", answers: {} };
	const { answers } = verdict.input;
	const given = typeof answers === "object" && answers !== null ? Object.entries(answers) : [];
	const texts = given.flatMap(([key, value]) => (typeof value === "string" ? [[key, value] as const] : []));
	return {
		kind: "question",
		answers: Object.fromEntries(texts.filter(([key]) => questions.some(({ question }) => question === key))),
	};
}

const keepPlanning = "Reject";
const refusals: ReadonlySet<string> = new Set([keepPlanning, "Reject and Exit"]);

/** The answer to a plan question: the first way to carry it out, or the client's own words. */
export function toPlanAnswer({ questions }: Question, verdict: Verdict): AnswerTo<"question"> {
	const [asked] = questions;
	if (asked === undefined) return { kind: "question", answers: {} };
	const approval = asked.options.find(({ label }) => !refusals.has(label))?.label ?? "Approve";
	if (verdict.kind === "allow") return { kind: "question", answers: { [asked.question]: approval } };
	// A reason that equals an option's label must not choose that option.
	const isLabel = asked.options.some(({ label }) => label === verdict.message);
	return { kind: "question", answers: { [asked.question]: isLabel ? keepPlanning : verdict.message } };
}
