import { expect, it } from "vitest";
import { narrowAgent } from "./agent-restriction.ts";
import { builtInAgents } from "./built-in-agents.ts";

const { default: agent } = builtInAgents;
const shell = "kimi_cli.tools.shell:Shell";
const variables = {
	now: "",
	workDir: "/work",
	workDirListing: "",
	agentsMd: "",
	skills: "",
	additionalDirsInfo: "",
	os: "",
	shell: "",
};

it("removes all tools of an agent", () => {
	const narrowed = narrowAgent(agent, "none", null);
	expect([narrowed.toolPaths, narrowed.types]).toEqual([[], []]);
});

it("removes commands from the agent and its subagents", () => {
	const narrowed = narrowAgent(agent, "without-commands", null);
	expect(narrowed.toolPaths).toEqual(agent.toolPaths.filter((path) => path !== shell));
	expect(narrowed.types.map(({ name }) => name)).toEqual(agent.types.map(({ name }) => name));
	expect(narrowed.types.flatMap(({ toolPaths }) => toolPaths)).not.toContain(shell);
});

it("changes nothing else, except a replaced prompt", () => {
	expect(narrowAgent(agent, "all", null)).toEqual(agent);
	const { prompt, role } = narrowAgent({ ...agent, role: "A role." }, "all", "Be brief.");
	expect(role).toBe("");
	expect(prompt?.(variables)).toBe("Be brief.");
});
