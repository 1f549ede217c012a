import type { Protocol } from "../../shared/protocol.ts";
import * as first from "../wire.ts";
import * as firstUpdates from "../wire-updates.ts";
import * as wire from "./wire.ts";
import * as updates from "./wire-updates.ts";

export const draftProtocol = {
	methods: {
		initialize: { params: wire.initializeParamsSchema, result: wire.initializeResultSchema },
		"auth/login": { params: wire.loginParamsSchema, result: first.emptyResultSchema },
		"auth/logout": { params: first.emptyParamsSchema, result: first.emptyResultSchema },
		"session/new": { params: wire.newSessionParamsSchema, result: wire.newSessionResultSchema },
		"session/resume": { params: wire.resumeParamsSchema, result: wire.choicesResultSchema },
		"session/list": { params: first.listParamsSchema, result: first.listResultSchema },
		"session/delete": { params: first.sessionParamsSchema, result: first.emptyResultSchema },
		"session/close": { params: first.sessionParamsSchema, result: first.emptyResultSchema },
		"session/fork": { params: wire.forkParamsSchema, result: wire.newSessionResultSchema },
		"session/prompt": { params: wire.promptParamsSchema, result: wire.promptResultSchema },
		"session/cancel": { params: first.sessionParamsSchema, result: null, actsOn: "notifications" },
		"session/set_config_option": { params: wire.setConfigOptionParamsSchema, result: wire.choicesResultSchema },
		"$/cancel_request": { params: first.cancelRequestParamsSchema, result: null, actsOn: "notifications" },
	},
	events: { ...updates.updateSchemas, ...firstUpdates.notificationSchemas },
	requests: {
		"session/request_permission": {
			payload: updates.permissionRequestSchema,
			result: firstUpdates.permissionResultSchema,
		},
		"elicitation/create": {
			payload: firstUpdates.elicitationRequestSchema,
			result: firstUpdates.elicitationResultSchema,
		},
	},
} as const satisfies Protocol;
