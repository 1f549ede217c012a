import { expect, it } from "vitest";
import type { CreationOptions } from "../../api/session-options.ts";
import type { ModelChange } from "../session/session-model.ts";
import { readCreationOptions, toPersistedCreationOptions, withModel } from "./creation-options.ts";

const noBudgets = {
	sessionTokens: null,
	sessionSeconds: null,
	sessionToolCalls: null,
	turnTokens: null,
	turnSeconds: null,
	turnToolCalls: null,
};
const plain: CreationOptions = {
	model: null,
	provider: null,
	maxAnswerTokens: null,
	maxSteps: null,
	systemPrompt: null,
	tools: "none",
	budgets: noBudgets,
	mode: {},
	permissions: {},
};
const full: CreationOptions = {
	model: "m",
	provider: "p",
	thinking: false,
	maxAnswerTokens: 1,
	maxSteps: 2,
	systemPrompt: "Be a cat.",
	tools: "all",
	agent: "okabe",
	mode: { planMode: false, approvesEverything: false, isAway: true },
	permissions: { whenUnattended: "reject" },
	budgets: {
		sessionTokens: 1,
		sessionSeconds: 0.5,
		sessionToolCalls: 2,
		turnTokens: 3,
		turnSeconds: 4.5,
		turnToolCalls: 5,
	},
};

it.each([[plain], [full], [{ ...plain, maxAnswerTokens: 0 }]])(
	"restores persisted creation options",
	(creationOptions) => {
		const persisted: unknown = JSON.parse(JSON.stringify(toPersistedCreationOptions(creationOptions)));
		expect(readCreationOptions(persisted)).toEqual(creationOptions);
	},
);

it.each<[unknown, ModelChange, object]>([
	[null, { model: "k2", thinking: null }, { model: "k2" }],
	[null, { model: null, thinking: true }, { thinking: true }],
	[
		{ tools: "all", model: "m", provider: "p" },
		{ model: null, thinking: false },
		{ tools: "all", model: "m", provider: "p", thinking: false },
	],
	[
		{ tools: "all", model: "m", provider: "p", thinking: true },
		{ model: "k2", thinking: null },
		{ tools: "all", model: "k2", thinking: true },
	],
	[
		{ tools: "every", model: "m" },
		{ model: "k2", thinking: null },
		{ tools: "none", model: "k2" },
	],
])("%j with the choice %j are %j", (persisted, change, expected) => {
	const changed = withModel(persisted, change);
	expect(changed).toEqual(expected);
	expect(readCreationOptions(changed)).not.toBeNull();
});

it("persists no absent options", () => {
	expect(toPersistedCreationOptions(plain)).toEqual({ tools: "none", budgets: {} });
});

it("persists neither what may have keys nor what the state has", () => {
	const environment = { TOKEN: "secret" };
	const creationOptions = {
		...plain,
		environment,
		mcpServers: [],
		additionalDirs: ["/more"],
	};
	expect(toPersistedCreationOptions(creationOptions)).toEqual({ tools: "none", budgets: {} });
});

it("has defaults for all but the tools, and ignores unknown keys", () => {
	expect(readCreationOptions({ tools: "all", color: "red" })).toEqual({ ...plain, tools: "all" });
});

it.each([
	null,
	"all",
	[],
	{},
	{ tools: "every" },
	{ tools: "all", model: 5 },
	{ tools: "all", max_steps: 0 },
	{ tools: "all", budgets: { turn_tokens: -1 } },
	{ tools: "all", budgets: { turn_seconds: "5" } },
])("returns null for %j", (value) => expect(readCreationOptions(value)).toBeNull());
