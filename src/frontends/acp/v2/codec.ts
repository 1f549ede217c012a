// Version 2: one update kind for calls, separate terminals, patches, and a state that marks a prompt's end.

import type { AgentEvent, TurnOutcome } from "../../../api/values/event.ts";
import { toKernelError } from "../../../base/errors.ts";
import { toThrown } from "../../shared/error-numbers.ts";
import type { Codec } from "../codec.ts";
import { toErrorObject } from "../errors.ts";
import { stopReasonOf } from "../stop-reason.ts";
import type { ConfigOption } from "../wire.ts";
import type { PermissionRequest, ToolCallUpdate, ToolContent, Update } from "../wire-updates.ts";
import { toPatch } from "./patch.ts";
import type * as draft from "./wire.ts";
import type * as draftUpdates from "./wire-updates.ts";

type DraftUpdate = draftUpdates.DraftUpdate;

type State = "running" | "requires_action" | "idle";

export function createCodec(): Codec {
	let state: State = "idle";
	/** Requests that the user must answer before the turn continues. */
	const waiting = new Set<string>();
	const change = (next: State, more: object = {}): readonly DraftUpdate[] => {
		if (next === state) return [];
		state = next;
		return [{ sessionUpdate: "state_update", state: next, ...more }];
	};
	const around = ({
		body,
		agentPath,
	}: AgentEvent): { readonly before: readonly DraftUpdate[]; readonly after: readonly DraftUpdate[] } => {
		const nothing = { before: [], after: [] };
		switch (body.type) {
			case "turn.started":
				return agentPath.length > 0 ? nothing : { before: change("running"), after: [] };
			case "turn.ended":
				// A nested turn has the outcome null, and the outer one continues.
				if (agentPath.length > 0 || body.outcome === null) return nothing;
				waiting.clear();
				return { before: [], after: change("idle", stopReason(body.outcome)) };
			case "interaction.requested": {
				const { interaction } = body;
				const isBackground = interaction.kind === "approval" && interaction.sourceKind === "background_agent";
				if (state === "idle" || isBackground) return nothing;
				waiting.add(interaction.id);
				return { before: change("requires_action"), after: [] };
			}
			case "interaction.resolved":
				if (!waiting.delete(body.interactionId) || waiting.size > 0) return nothing;
				return { before: [], after: change("running") };
			default:
				return nothing;
		}
	};
	return {
		echoesPrompts: true,
		encodeEvent(event, updates) {
			const { before, after } = around(event);
			return [...before, ...updates.flatMap(encode), ...after];
		},
		encode,
		encodePermission,
		encodeState(now) {
			state = now;
			return [{ sessionUpdate: "state_update", state: now }];
		},
	};
}

function stopReason(outcome: TurnOutcome): object {
	const reason = stopReasonOf(outcome);
	if (reason !== null) return { stopReason: reason };
	const thrown = outcome.status === "failed" ? toThrown(outcome.error) : toKernelError(outcome);
	return { stopReason: "error", error: toErrorObject(thrown) };
}

function encode(update: Update): readonly DraftUpdate[] {
	switch (update.sessionUpdate) {
		case "user_message_chunk":
		case "agent_message_chunk":
		case "agent_thought_chunk":
		case "session_info_update":
		case "usage_update":
		case "notice":
		case "compaction_update":
			return [update];
		case "tool_call":
		case "tool_call_update":
			return encodeCall(update);
		case "plan":
			return [{ sessionUpdate: "plan_update", plan: { type: "items", planId: "todos", entries: update.entries } }];
		case "available_commands_update": {
			const availableCommands = update.availableCommands.map(({ input, ...command }) => ({
				type: "command" as const,
				...command,
				input: { type: "text" as const, ...input },
			}));
			return [{ sessionUpdate: "available_commands_update", availableCommands }];
		}
		case "current_mode_update":
			// The mode is one of the configuration options.
			return [];
		case "config_option_update":
			return [{ sessionUpdate: "config_option_update", configOptions: update.configOptions.map(encodeOption) }];
	}
}

export function encodeOption({ id, ...option }: ConfigOption): draft.ConfigOption {
	return { configId: id, ...option };
}

function encodeCall(
	update: Extract<Update, { sessionUpdate: "tool_call" | "tool_call_update" }>,
): readonly DraftUpdate[] {
	const { sessionUpdate: _, _meta, ...call } = update;
	const { terminal_info, terminal_output, terminal_exit, ...notes } = _meta ?? {};
	const changes = { ...encodeToolCall(call), ...(Object.keys(notes).length === 0 ? {} : { _meta: notes }) };
	const isChanged = Object.keys(changes).length > 1;
	const sent: DraftUpdate[] = [];
	if (terminal_info !== undefined) {
		const { terminal_id: terminalId, cwd } = terminal_info;
		sent.push({ sessionUpdate: "terminal_update", terminalId, cwd });
	}
	if (terminal_output !== undefined) {
		const data = Buffer.from(terminal_output.data).toString("base64");
		sent.push({ sessionUpdate: "terminal_output_chunk", terminalId: terminal_output.terminal_id, data });
	}
	if (terminal_exit !== undefined) {
		const { terminal_id: terminalId, exit_code: exitCode, signal } = terminal_exit;
		sent.push({ sessionUpdate: "terminal_update", terminalId, exitStatus: { exitCode, signal } });
	}
	if (isChanged) sent.push({ sessionUpdate: "tool_call_update", ...changes });
	return sent;
}

function encodeToolCall({ content, ...call }: ToolCallUpdate): draftUpdates.ToolCall {
	return { ...call, ...(content === undefined ? {} : { content: content.map(encodeContent) }) };
}

function encodeContent(content: ToolContent): draftUpdates.ToolContent {
	if (content.type !== "diff") return content;
	const { path, oldText } = content;
	const operation = oldText === null ? "add" : "modify";
	const patch = { format: "git_patch" as const, text: toPatch(content) };
	return { type: "diff", changes: [{ operation, path, fileType: "text" }], patch };
}

function encodePermission({ sessionId, toolCall, options }: PermissionRequest): object {
	const { title = "", content = [] } = toolCall;
	const texts = content.flatMap((each) =>
		each.type === "content" && each.content.type === "text" ? [each.content.text] : [],
	);
	return {
		sessionId,
		title,
		...(texts.length === 0 ? {} : { description: texts.join("\n") }),
		subject: { type: "tool_call", toolCall: encodeToolCall(toolCall) },
		options,
	};
}
