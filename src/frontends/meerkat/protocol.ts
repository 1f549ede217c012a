import * as v from "valibot";
import type { Protocol } from "../shared/protocol.ts";
import {
	configPatchParamsSchema,
	configResultSchema,
	configSetParamsSchema,
	configSetResultSchema,
} from "./configuration/wire-config.ts";
import { contractEvents, contractMembers, seedEvents } from "./wire/wire-events.ts";
import { forkAtParamsSchema, forkReplaceParamsSchema, forkResultSchema } from "./wire/wire-forks.ts";
import { sessionHistoryParamsSchema, sessionHistoryResultSchema } from "./wire/wire-history.ts";
import {
	externalEventParamsSchema,
	externalEventResultSchema,
	injectContextParamsSchema,
	injectContextResultSchema,
} from "./wire/wire-inputs.ts";
import { mcpAddParamsSchema, mcpReloadParamsSchema, mcpRemoveParamsSchema, mcpResultSchema } from "./wire/wire-mcp.ts";
import {
	approvalRequestSchema,
	approvalResultSchema,
	questionRequestSchema,
	questionResultSchema,
	toolExecuteSchema,
	toolResultSchema,
} from "./wire/wire-requests.ts";
import { skillsListResultSchema } from "./wire/wire-skills.ts";
import {
	stopRunParamsSchema,
	stopRunResultSchema,
	streamCloseParamsSchema,
	streamCloseResultSchema,
	streamEndSchema,
	streamOpenParamsSchema,
	streamOpenResultSchema,
} from "./wire/wire-streams.ts";
import {
	anyParamsSchema,
	archiveResultSchema,
	capabilitiesResultSchema,
	initializeParamsSchema,
	initializeResultSchema,
	interruptResultSchema,
	modelsCatalogResultSchema,
	runResultSchema,
	sessionCreateParamsSchema,
	sessionCreateResultSchema,
	sessionListParamsSchema,
	sessionListResultSchema,
	sessionParamsSchema,
	sessionReadResultSchema,
	toolsRegisterParamsSchema,
	toolsRegisterResultSchema,
	turnStartParamsSchema,
} from "./wire.ts";

/** Members that only the contract has are optional. */
function ofBothEras<E extends v.ObjectEntries, M extends v.ObjectEntries>(seed: v.ObjectSchema<E, undefined>, more: M) {
	return v.object({ ...seed.entries, ...v.partial(v.object(more)).entries });
}

const events = {
	run_started: ofBothEras(seedEvents.run_started, contractMembers.run_started),
	turn_started: ofBothEras(seedEvents.turn_started, contractMembers.turn_started),
	reasoning_delta: contractEvents.reasoning_delta,
	reasoning_complete: contractEvents.reasoning_complete,
	text_delta: ofBothEras(seedEvents.text_delta, contractMembers.text_delta),
	retrying: ofBothEras(seedEvents.retrying, contractMembers.retrying),
	text_complete: ofBothEras(seedEvents.text_complete, contractMembers.text_complete),
	tool_call_requested: seedEvents.tool_call_requested,
	tool_execution_started: seedEvents.tool_execution_started,
	tool_execution_completed: ofBothEras(seedEvents.tool_execution_completed, contractMembers.tool_execution_completed),
	tool_result_received: ofBothEras(seedEvents.tool_result_received, contractMembers.tool_result_received),
	turn_completed: ofBothEras(seedEvents.turn_completed, contractMembers.turn_completed),
	hook_started: seedEvents.hook_started,
	hook_completed: seedEvents.hook_completed,
	hook_failed: ofBothEras(seedEvents.hook_failed, contractMembers.hook_failed),
	hook_denied: seedEvents.hook_denied,
	budget_warning: seedEvents.budget_warning,
	run_completed: ofBothEras(seedEvents.run_completed, contractMembers.run_completed),
	run_failed: ofBothEras(seedEvents.run_failed, contractMembers.run_failed),
	extraction_succeeded: contractEvents.extraction_succeeded,
	extraction_failed: contractEvents.extraction_failed,
	skills_resolved: contractEvents.skills_resolved,
	tool_config_changed: contractEvents.tool_config_changed,
	skill_resolution_failed: contractEvents.skill_resolution_failed,
	stream_end: streamEndSchema,
};

export const meerkatProtocol = {
	methods: {
		initialize: { params: initializeParamsSchema, result: initializeResultSchema },
		initialized: { params: anyParamsSchema, result: null, actsOn: "notifications" },
		"capabilities/get": { params: anyParamsSchema, result: capabilitiesResultSchema },
		"tools/register": { params: toolsRegisterParamsSchema, result: toolsRegisterResultSchema },
		"session/create": { params: sessionCreateParamsSchema, result: sessionCreateResultSchema },
		"session/list": { params: sessionListParamsSchema, result: sessionListResultSchema },
		"session/read": { params: sessionParamsSchema, result: sessionReadResultSchema },
		"session/history": { params: sessionHistoryParamsSchema, result: sessionHistoryResultSchema },
		"session/stream_open": { params: streamOpenParamsSchema, result: streamOpenResultSchema },
		"session/stream_close": { params: streamCloseParamsSchema, result: streamCloseResultSchema },
		"session/fork_at": { params: forkAtParamsSchema, result: forkResultSchema },
		"session/fork_replace": { params: forkReplaceParamsSchema, result: forkResultSchema },
		"session/inject_context": { params: injectContextParamsSchema, result: injectContextResultSchema },
		"session/external_event": { params: externalEventParamsSchema, result: externalEventResultSchema },
		"session/archive": { params: sessionParamsSchema, result: archiveResultSchema },
		"turn/start": { params: turnStartParamsSchema, result: runResultSchema },
		"turn/interrupt": { params: sessionParamsSchema, result: interruptResultSchema },
		"turn/stop_run": { params: stopRunParamsSchema, result: stopRunResultSchema },
		"models/catalog": { params: anyParamsSchema, result: modelsCatalogResultSchema },
		"skills/list": { params: anyParamsSchema, result: skillsListResultSchema },
		"mcp/add": { params: mcpAddParamsSchema, result: mcpResultSchema },
		"mcp/remove": { params: mcpRemoveParamsSchema, result: mcpResultSchema },
		"mcp/reload": { params: mcpReloadParamsSchema, result: mcpResultSchema },
		"config/get": { params: anyParamsSchema, result: configResultSchema },
		"config/set": { params: configSetParamsSchema, result: configSetResultSchema },
		"config/patch": { params: configPatchParamsSchema, result: configResultSchema },
	},
	events,
	requests: {
		"approval/request": { payload: approvalRequestSchema, result: approvalResultSchema },
		"question/request": { payload: questionRequestSchema, result: questionResultSchema },
		"tool/execute": { payload: toolExecuteSchema, result: toolResultSchema },
	},
} as const satisfies Protocol;
