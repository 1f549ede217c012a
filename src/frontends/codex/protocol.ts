import type { Protocol } from "../shared/protocol.ts";
import * as wire from "./wire.ts";
import * as updates from "./wire-updates.ts";

const none = wire.emptyResultSchema;

export const codexProtocol = {
	methods: {
		initialize: { params: wire.initializeParamsSchema, result: wire.initializeResultSchema },
		initialized: { params: wire.anyParamsSchema, result: null, actsOn: "notifications" },
		"thread/start": { params: wire.threadStartParamsSchema, result: wire.openedThreadSchema },
		"thread/resume": { params: wire.threadResumeParamsSchema, result: wire.openedThreadSchema },
		"thread/fork": { params: wire.threadForkParamsSchema, result: wire.openedThreadSchema },
		"thread/revert": { params: wire.threadRevertParamsSchema, result: wire.threadResultSchema },
		"thread/list": { params: wire.threadListParamsSchema, result: wire.threadListResultSchema },
		"thread/read": { params: wire.threadReadParamsSchema, result: wire.threadResultSchema },
		"thread/archive": { params: wire.threadParamsSchema, result: none },
		"thread/unarchive": { params: wire.threadParamsSchema, result: wire.threadResultSchema },
		"thread/name/set": { params: wire.threadNameParamsSchema, result: none },
		"thread/goal/set": { params: wire.goalSetParamsSchema, result: wire.goalResultSchema },
		"thread/goal/clear": { params: wire.threadParamsSchema, result: wire.goalClearResultSchema },
		"thread/compact/start": { params: wire.threadParamsSchema, result: none },
		"turn/start": { params: wire.turnStartParamsSchema, result: wire.turnResultSchema },
		"turn/steer": { params: wire.turnSteerParamsSchema, result: wire.turnSteerResultSchema },
		"turn/interrupt": { params: wire.turnInterruptParamsSchema, result: none },
		"model/list": { params: wire.anyParamsSchema, result: wire.modelListResultSchema },
		"account/read": { params: wire.anyParamsSchema, result: wire.accountResultSchema },
		"account/login/cancel": { params: wire.loginCancelParamsSchema, result: wire.loginCancelResultSchema },
		"account/logout": { params: wire.anyParamsSchema, result: none },
	},
	events: updates.notificationSchemas,
	requests: {
		"item/commandExecution/requestApproval": {
			payload: updates.commandApprovalSchema,
			result: updates.decisionSchema,
		},
		"item/fileChange/requestApproval": { payload: updates.fileApprovalSchema, result: updates.decisionSchema },
		"item/tool/requestUserInput": { payload: updates.questionsSchema, result: updates.answersSchema },
		"item/tool/call": { payload: updates.toolRequestSchema, result: updates.toolAnswerSchema },
	},
} as const satisfies Protocol;
