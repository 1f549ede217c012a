// Kimi Wire and legacy in the crash and kill campaigns: one script per session and life, with ids that are known from the
// beginning.
import { isRecord } from "../../../src/base/json.ts";
import type { CrashDialect, LifeKind } from "../frame/crash-round.ts";
import { choose } from "../frame/hostile-lines.ts";
import type { Part } from "../frame/life.ts";
import { play } from "./crash-client.ts";
import { judgeWire } from "./crash-judge.ts";
import { checkOrder } from "./crash-order.ts";
import { type LifeScript, placeholders, recovery, type Scenario, scenarios } from "./crash-scenarios.ts";
import { servedModel, serveWire, sessionId } from "./crash-server.ts";

const indexOf = (id: string): number => Number(id.at(-1));

function scriptsOf({ earlier, scripts, goesOnWith }: Scenario, kind: LifeKind, life: number): readonly LifeScript[] {
	switch (kind) {
		case "earlier":
			return earlier === null ? [] : [earlier];
		case "stopped":
			return scripts;
		case "recovery":
			return scripts.map((_, index) => recovery(life, index, goesOnWith));
	}
}

export function toPart(script: LifeScript, index: number): Part {
	return {
		models: { [script.hasServer ? servedModel : "scripted"]: script.model },
		argv: ["--session", sessionId(index)],
		play: (channel) => play(script, channel),
	};
}

/** The commands that the scripts of a model call for. */
function commandsOf({ model }: LifeScript): string[] {
	return model.flatMap((answer) =>
		answer.split("\n").flatMap((line) => {
			if (!line.startsWith("tool_call: ")) return [];
			const call: unknown = JSON.parse(line.slice("tool_call: ".length));
			const inner: unknown = isRecord(call) ? JSON.parse(String(call["arguments"])) : null;
			return isRecord(inner) && typeof inner["command"] === "string" ? [inner["command"]] : [];
		}),
	);
}

/** What needs names that only the files know is left to the crash campaign, and so are MCP servers: they are in memory. */
function suitsProcesses({ scripts }: Scenario): boolean {
	const texts = JSON.stringify(scripts.map(({ model }) => model));
	return !Object.values(placeholders).some((mark) => texts.includes(mark)) && scripts.every((one) => !one.hasServer);
}

export const wireCrash: CrashDialect<Scenario> = {
	scenarios,
	arbitrary: choose(...scenarios),
	processArbitrary: choose(...scenarios.filter(suitsProcesses)),
	describe: ({ name }) => [name],
	measure: (scenario) => ({ key: scenario.name, whole: scenario, share: 1 }),
	unwinds: ({ unwinds }) => unwinds,
	partsOf: (scenario, kind, life) => scriptsOf(scenario, kind, life).map(toPart),
	serve: serveWire,
	sessionsOf: ({ scripts }) => scripts.map((_, index) => sessionId(index)),
	sessionOf: (_line, part) => sessionId(part),
	commandsOf(scenario, id) {
		const index = indexOf(id);
		const recoveries = [2, 3, 4].map((life) => recovery(life, index, scenario.goesOnWith));
		const played = [scenario.earlier, scenario.scripts[index], ...recoveries];
		return played.flatMap((script) => (script === null || script === undefined ? [] : commandsOf(script)));
	},
	isUsed: () => true,
	judge: (_id, lives, { planSwitches }) => judgeWire(lives, planSwitches),
	checkOrder: (happenings, scenario) => checkOrder(happenings, scenario.scripts.length),
};
