// The Agent Client Protocol, described as far as it is served here: version 1.
import * as content from "../../src/frontends/acp/content.ts";
import { acpRules } from "../../src/frontends/acp/envelope.ts";
import { errorNumbers } from "../../src/frontends/acp/errors.ts";
import { acpClosing, acpIntroduction, acpTexts } from "../../src/frontends/acp/protocol.texts.ts";
import { acpProtocol } from "../../src/frontends/acp/protocol.ts";
import * as wire from "../../src/frontends/acp/wire.ts";
import * as updates from "../../src/frontends/acp/wire-updates.ts";
import { acpExamples } from "./acp-examples.ts";
import type { Carried, ProtocolDescription } from "./description.ts";

/** An update has its name among its members; other notifications are methods of their own. */
export const carryUpdate: Carried = (type, payload) => {
	if (type in updates.notificationSchemas) return { method: { const: type }, params: payload ?? {} };
	return {
		method: { const: "session/update" },
		params: {
			type: "object",
			properties: {
				sessionId: { type: "string" },
				update: { ...payload, properties: { sessionUpdate: { const: type } }, required: ["sessionUpdate"] },
			},
			required: ["sessionId", "update"],
			additionalProperties: false,
		},
	};
};

export const acp: ProtocolDescription = {
	name: "acp",
	title: "Agent Client Protocol",
	introduction: acpIntroduction,
	closing: acpClosing,
	protocol: acpProtocol,
	carry: { event: carryUpdate, request: (method, params) => ({ method: { const: method }, params: params ?? {} }) },
	rules: acpRules,
	// A client of this version is answered with this version, whichever it asks for.
	errors: Object.values(errorNumbers).map((code) => ({ name: null, numbers: { code } })),
	errorData: wire.errorDataSchema,
	values: {
		ClientCapabilities: { schema: wire.clientCapabilitiesSchema },
		AuthMethod: { schema: wire.authMethodSchema },
		StdioServer: { schema: wire.stdioServerSchema },
		RemoteServer: { schema: wire.remoteServerSchema },
		Modes: { schema: wire.modesSchema },
		Mode: { schema: wire.modeSchema },
		ConfigOption: { schema: wire.configOptionSchema },
		Choice: { schema: wire.choiceSchema },
		SessionInfo: { schema: wire.sessionInfoSchema },
		ContentBlock: { schema: content.sentBlockSchema, fromClient: content.contentBlockSchema },
		TextBlock: { schema: content.sentTextSchema, fromClient: content.textBlockSchema },
		ImageBlock: { schema: content.sentImageSchema, fromClient: content.imageBlockSchema },
		AudioBlock: { schema: content.sentAudioSchema, fromClient: content.audioBlockSchema },
		ResourceLink: { schema: content.sentLinkSchema, fromClient: content.resourceLinkSchema },
		ResourceBlock: { schema: content.resourceBlockSchema },
		TextResource: { schema: content.textResourceSchema },
		BlobResource: { schema: content.blobResourceSchema },
		ToolContent: { schema: updates.toolContentSchema },
		CallMeta: { schema: updates.callMetaSchema },
		Location: { schema: updates.locationSchema },
		PlanEntry: { schema: updates.planEntrySchema },
		Command: { schema: updates.commandSchema },
		PermissionOutcome: { schema: updates.permissionOutcomeSchema },
		PermissionOption: { schema: updates.permissionOptionSchema },
		FormProperty: { schema: updates.formPropertySchema },
	},
	sinceOf: null,
	texts: acpTexts,
	examples: acpExamples,
};
