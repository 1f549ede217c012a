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

it("leaves an agent without any tools", () => {
	const narrowed = narrowAgent(agent, "none", null);
	expect([narrowed.toolPaths, narrowed.types]).toEqual([[], []]);
});

it("takes commands from the agent and from its subagents", () => {
	const narrowed = narrowAgent(agent, "without-commands", null);
	expect(narrowed.toolPaths).toEqual(agent.toolPaths.filter((path) => path !== shell));
	expect(narrowed.types.map(({ name }) => name)).toEqual(agent.types.map(({ name }) => name));
	expect(narrowed.types.flatMap(({ toolPaths }) => toolPaths)).not.toContain(shell);
});

it("leaves it all as it is, but for a prompt that takes the place of its own", () => {
	expect(narrowAgent(agent, "all", null)).toEqual(agent);
	const { prompt, role } = narrowAgent({ ...agent, role: "A role." }, "all", "Be brief.");
	expect(role).toBe("");
	expect(prompt?.(variables)).toBe("Be brief.");
});
