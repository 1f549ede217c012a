import * as v from "valibot";
import type { Protocol } from "../shared/protocol.ts";
import * as wire from "./wire.ts";

export const claudeProtocol = {
	methods: {
		initialize: { params: wire.initializeSchema, result: wire.initializeAnswerSchema },
		interrupt: { params: wire.noMembersSchema, result: wire.emptyAnswerSchema },
		set_permission_mode: { params: wire.setPermissionModeSchema, result: wire.setPermissionModeSchema },
		set_model: { params: wire.setModelSchema, result: wire.emptyAnswerSchema },
		set_max_thinking_tokens: { params: wire.setThinkingSchema, result: wire.emptyAnswerSchema },
		mcp_status: { params: wire.noMembersSchema, result: wire.mcpStatusAnswerSchema },
		mcp_reconnect: { params: wire.reconnectSchema, result: wire.emptyAnswerSchema },
		mcp_message: { params: wire.clientMcpMessageSchema, result: wire.emptyAnswerSchema },
		rewind_files: { params: wire.rewindSchema, result: wire.rewindAnswerSchema },
		rename_session: { params: wire.renameSchema, result: wire.emptyAnswerSchema },
		stop_task: { params: wire.stopTaskSchema, result: wire.emptyAnswerSchema },
		get_binary_version: { params: wire.noMembersSchema, result: v.object({ version: v.string() }) },
	},
	events: {},
	requests: {
		can_use_tool: { payload: wire.canUseToolSchema, result: wire.permissionAnswerSchema },
		hook_callback: { payload: wire.hookCallbackSchema, result: wire.hookAnswerSchema },
		mcp_message: { payload: wire.mcpMessageSchema, result: wire.mcpAnswerSchema },
	},
} as const satisfies Protocol;

export type ControlName = keyof (typeof claudeProtocol)["methods"];

export const refusedRequests = [
	"mcp_set_servers",
	"mcp_toggle",
	"mcp_call",
	"mcp_read_resource",
	"seed_read_state",
	"read_file",
	"file_suggestions",
	"get_context_usage",
	"get_session_cost",
	"get_settings",
	"apply_flag_settings",
	"update_settings",
	"get_usage",
	"get_hooks_listing",
	"get_task_output",
	"list_models",
	"list_permission_rules",
	"reload_skills",
	"reload_plugins",
	"reload_output_styles",
	"register_repo_root",
	"background_tasks",
	"cancel_async_message",
	"set_color",
	"set_has_subscribers",
] as const;
