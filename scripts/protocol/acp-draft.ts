// The Agent Client Protocol, version 2, which is a draft, described as far as it is served here.
import * as content from "../../src/frontends/acp/content.ts";
import { acpRules } from "../../src/frontends/acp/envelope.ts";
import { errorNumbers, unsupportedVersion } from "../../src/frontends/acp/errors.ts";
import { acpTexts } from "../../src/frontends/acp/protocol.texts.ts";
import { draftClosing, draftIntroduction, draftTexts } from "../../src/frontends/acp/v2/protocol.texts.ts";
import { draftProtocol } from "../../src/frontends/acp/v2/protocol.ts";
import * as draft from "../../src/frontends/acp/v2/wire.ts";
import * as draftUpdates from "../../src/frontends/acp/v2/wire-updates.ts";
import * as wire from "../../src/frontends/acp/wire.ts";
import * as updates from "../../src/frontends/acp/wire-updates.ts";
import { carryUpdate } from "./acp.ts";
import type { ProtocolDescription } from "./description.ts";

export const acpDraft: ProtocolDescription = {
	name: "acp-v2",
	title: "Agent Client Protocol, version 2",
	introduction: draftIntroduction,
	closing: draftClosing,
	protocol: draftProtocol,
	carry: {
		event: carryUpdate,
		request: (method, params) => ({ method: { const: method }, params: params ?? {} }),
	},
	rules: acpRules,
	errors: [...Object.values(errorNumbers), unsupportedVersion].map((code) => ({ name: null, numbers: { code } })),
	errorData: null,
	values: {
		ClientCapabilities: { schema: draft.clientCapabilitiesSchema },
		AuthMethod: { schema: draft.authMethodSchema },
		StdioServer: { schema: draft.stdioServerSchema },
		RemoteServer: { schema: draft.remoteServerSchema },
		ConfigOption: { schema: draft.configOptionSchema },
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
		ToolContent: { schema: draftUpdates.toolContentSchema },
		CallMeta: { schema: draftUpdates.callMetaSchema },
		Location: { schema: updates.locationSchema },
		PlanEntry: { schema: updates.planEntrySchema },
		Command: { schema: draftUpdates.commandSchema },
		PermissionOutcome: { schema: updates.permissionOutcomeSchema },
		PermissionOption: { schema: updates.permissionOptionSchema },
		FormProperty: { schema: updates.formPropertySchema },
	},
	sinceOf: null,
	texts: draftTexts,
	inherited: acpTexts,
};
