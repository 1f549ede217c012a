// The app-server protocol of Codex, described as far as it is served here.
import { codexRules, errorNumbers } from "../../src/frontends/codex/envelope.ts";
import { codexClosing, codexIntroduction, codexTexts } from "../../src/frontends/codex/protocol.texts.ts";
import { codexProtocol } from "../../src/frontends/codex/protocol.ts";
import * as wire from "../../src/frontends/codex/wire.ts";
import * as items from "../../src/frontends/codex/wire-items.ts";
import * as updates from "../../src/frontends/codex/wire-updates.ts";
import type { Carried, ProtocolDescription } from "./description.ts";

const carry: Carried = (method, params) => ({ method: { const: method }, params: params ?? {} });

export const codex: ProtocolDescription = {
	name: "codex",
	title: "Codex app-server",
	introduction: codexIntroduction,
	closing: codexClosing,
	protocol: codexProtocol,
	carry: { event: carry, request: carry },
	rules: codexRules,
	errors: Object.values(errorNumbers).map((code) => ({ name: null, numbers: { code } })),
	errorData: null,
	values: {
		Thread: { schema: wire.threadSchema },
		ThreadStatus: { schema: wire.threadStatusSchema },
		Goal: { schema: wire.goalSchema },
		GoalStatus: { schema: wire.goalStatusSchema },
		Turn: { schema: items.turnSchema },
		TurnError: { schema: items.turnErrorSchema },
		Item: { schema: items.itemSchema },
		UserContent: { schema: items.userContentSchema },
		Change: { schema: items.changeSchema },
		ContentItem: { schema: items.contentItemSchema },
		InputItem: { schema: wire.inputItemSchema },
		ApprovalPolicy: { schema: wire.approvalPolicySchema },
		SandboxMode: { schema: wire.sandboxModeSchema },
		SandboxPolicy: { schema: wire.sandboxPolicySchema },
		ClientTool: { schema: wire.clientToolSchema },
		Model: { schema: wire.modelSchema },
		Usage: { schema: updates.usageSchema },
		PlanStep: { schema: updates.planStepSchema },
		Question: { schema: updates.questionSchema },
		QuestionOption: { schema: updates.questionOptionSchema },
	},
	sinceOf: null,
	texts: codexTexts,
};
