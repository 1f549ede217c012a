// stream-json in the crash campaign: clients of one session each, with ids that they choose.
import { isRecord } from "../../../src/base/json.ts";
import { parseClaudeFlags } from "../../../src/cli/arguments/sdk/claude-options.ts";
import { readClaudeOptions } from "../../../src/cli/claude/claude-settings.ts";
import { serveClaude } from "../../../src/frontends/claude/serve.ts";
import type { CrashDialect } from "../frame/crash-round.ts";
import { serveFront } from "../frame/hosted-life.ts";
import type { Fields, Part } from "../frame/life.ts";
import { workDir } from "../frame/memory-life.ts";
import { answersOf, commandsOf, ofPlans, type Plans, type SessionPlan, said } from "../frame/session-plan.ts";
import { type Claim, judgeClaims } from "./crash-claims.ts";

const flags = ["--input-format", "stream-json", "--output-format", "stream-json", "--permission-prompt-tool", "stdio"];
const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;

function parse(line: string): Fields {
	const frame: unknown = JSON.parse(line);
	return isRecord(frame) ? frame : {};
}

function sessionOf(line: string): string | null {
	const { session_id: id } = parse(line);
	return typeof id === "string" && id !== "" ? id : null;
}

/** Prompts as often as planned, one after the other. */
function toPart(plan: SessionPlan, life: number, words: readonly string[]): Part {
	const prompts = life === 1 ? plan.prompts : 1;
	return {
		models: { plain: life === 1 && !plan.hasTools ? [said, said, said] : answersOf(plan, life) },
		argv: [...flags, ...words],
		async play({ write, read }) {
			const send = (frame: Fields): void => write(`${JSON.stringify(frame)}\n`);
			const prompt = (number: number): void => {
				const content = `session ${plan.index}, life ${life}, prompt ${number}`;
				send({ type: "user", message: { role: "user", content }, session_id: "" });
			};
			prompt(1);
			let done = 0;
			for (let count = 1; ; count += 1) {
				const line = await read();
				if (line === null) return false;
				const { type, request, request_id } = parse(line);
				if (count === plan.cancelAfter && life === 1)
					send({ type: "control_request", request_id: "interrupt", request: { subtype: "interrupt" } });
				if (type === "control_request") {
					const { choice } = life === 1 ? plan : { choice: "approve" as const };
					if (choice === null) return true;
					const response = decide(isRecord(request) ? request : {}, choice);
					send({ type: "control_response", response: { subtype: "success", request_id, response } });
				}
				if (type !== "result") continue;
				done += 1;
				if (done === prompts) return true;
				prompt(done + 1);
			}
		},
	};
}

function decide(request: Fields, choice: NonNullable<SessionPlan["choice"]>): Fields {
	if (choice === "reject") return { behavior: "deny", message: "no" };
	const updates = choice === "approve" ? {} : { updatedPermissions: request["permission_suggestions"] ?? [] };
	return { behavior: "allow", updatedInput: request["input"], ...updates };
}

function toClaims(line: string): readonly Claim[] {
	const { type, subtype, message } = parse(line);
	if (subtype === "init") return [];
	if (type === "result") return subtype === "success" ? [{ kind: "end", value: "" }] : [];
	const content = isRecord(message) ? message["content"] : null;
	const [block] = Array.isArray(content) ? content : [];
	const { type: kind, text, thinking, id, tool_use_id: of, content: result } = isRecord(block) ? block : {};
	if (kind === "text") return [{ kind, value: String(text) }];
	if (kind === "thinking") return [{ kind: "think", value: String(thinking) }];
	if (kind === "tool_use") return [{ kind: "call", value: String(id) }];
	// What was broken off has a result for the client alone.
	return kind === "tool_result" && !String(result).startsWith("The call was ")
		? [{ kind: "result", value: String(of) }]
		: [];
}

export const claudeCrash: CrashDialect<Plans> = {
	...ofPlans,
	partsOf(scenario, kind, life, known) {
		if (kind === "earlier") return [];
		if (kind === "stopped") return scenario.map((plan) => toPart(plan, life, ["--session-id", idOf(plan.index)]));
		return scenario.flatMap((plan) => {
			const id = idOf(plan.index);
			return known.includes(id) ? [toPart(plan, life, ["--resume", id])] : [];
		});
	},
	serve: serveFront(async (transport, host, { argv }, { files }) => {
		const options = await readClaudeOptions(parseClaudeFlags(argv), { currentDir: workDir, home: "/home" }, files);
		const { ended, finish } = serveClaude(transport, host, options, new AbortController().signal);
		return { finish: () => ended.then(finish) };
	}),
	sessionOf,
	commandsOf: (scenario, id) => scenario.flatMap((plan) => (idOf(plan.index) === id ? commandsOf(plan) : [])),
	judge: (_id, lives) => judgeClaims(lives, toClaims, () => null),
};
