import { rewoundSchema } from "../../api/values/file-changes.ts";
import type { Protocol } from "../shared/protocol.ts";
import * as wire from "./wire.ts";
import * as updates from "./wire-updates.ts";

export const acpProtocol = {
	methods: {
		initialize: { params: wire.initializeParamsSchema, result: wire.initializeResultSchema },
		authenticate: { params: wire.authenticateParamsSchema, result: wire.emptyResultSchema },
		logout: { params: wire.emptyParamsSchema, result: wire.emptyResultSchema },
		"session/new": { params: wire.newSessionParamsSchema, result: wire.newSessionResultSchema },
		"session/load": { params: wire.openSessionParamsSchema, result: wire.openSessionResultSchema },
		"session/resume": { params: wire.openSessionParamsSchema, result: wire.openSessionResultSchema },
		"session/list": { params: wire.listParamsSchema, result: wire.listResultSchema },
		"session/delete": { params: wire.sessionParamsSchema, result: wire.emptyResultSchema },
		"session/close": { params: wire.sessionParamsSchema, result: wire.emptyResultSchema },
		"session/fork": { params: wire.forkSessionParamsSchema, result: wire.newSessionResultSchema },
		"session/prompt": { params: wire.promptParamsSchema, result: wire.promptResultSchema },
		"session/cancel": { params: wire.sessionParamsSchema, result: null, actsOn: "notifications" },
		"session/set_mode": { params: wire.setModeParamsSchema, result: wire.emptyResultSchema },
		"session/set_config_option": {
			params: wire.setConfigOptionParamsSchema,
			result: wire.setConfigOptionResultSchema,
		},
		"_session/steering": { params: wire.promptParamsSchema, result: wire.steeringResultSchema },
		"_session/rewind": { params: wire.rewindParamsSchema, result: rewoundSchema },
		"$/cancel_request": { params: wire.cancelRequestParamsSchema, result: null, actsOn: "notifications" },
	},
	events: { ...updates.updateSchemas, ...updates.notificationSchemas },
	requests: {
		"session/request_permission": {
			payload: updates.permissionRequestSchema,
			result: updates.permissionResultSchema,
		},
		"elicitation/create": { payload: updates.elicitationRequestSchema, result: updates.elicitationResultSchema },
		"fs/read_text_file": { payload: updates.readFileRequestSchema, result: updates.readFileResultSchema },
		"fs/write_text_file": { payload: updates.writeFileRequestSchema, result: updates.writeFileResultSchema },
	},
} as const satisfies Protocol;
