import type { Protocol } from "../shared/protocol.ts";
import {
	anyParamsSchema,
	approvalPayloadSchema,
	approvalResultSchema,
	eventPayloads,
	interruptResultSchema,
	runParamsSchema,
	runResultSchema,
} from "./wire.ts";

export const legacyProtocol = {
	methods: {
		run: { params: runParamsSchema, result: runResultSchema },
		interrupt: { params: anyParamsSchema, result: interruptResultSchema, actsOn: "both" },
	},
	events: eventPayloads,
	requests: { approval: { payload: approvalPayloadSchema, result: approvalResultSchema } },
} as const satisfies Protocol;
