import { describe, expect, it } from "vitest";
import { toCodexAction } from "../arguments/options/codex-options.ts";
import { readConfigOverrides } from "./config-overrides.ts";

describe("the overrides of codex exec", () => {
	it("are TOML, or else a string, and the later one counts", async () => {
		const given = [
			"model=a",
			'model="b"',
			'sandbox_mode="workspace-write"',
			"sandbox_workspace_write.network_access=true",
			'sandbox_workspace_write={writable_roots=["/w"]}',
			'model_reasoning_effort="minimal"',
			'web_search="disabled"',
			'approval_policy="on-request"',
			'mcp_servers.files.command="node"',
			'mcp_servers.files.args=["a.js"]',
			'mcp_servers.files.env={A = "1"}',
			"mcp_servers.web={url = 'https://a.example', http_headers = {X = 'y'}}",
			"hide_agent_reasoning=true",
		];
		expect(await readConfigOverrides(given)).toEqual({
			model: "b",
			thinking: false,
			sandbox: "workspace-write",
			network: true,
			writable: ["/w"],
			searchesWeb: false,
			instructions: [],
			mcpServers: {
				files: { command: "node", args: ["a.js"], env: { A: "1" } },
				web: { url: "https://a.example", headers: { X: "y" } },
			},
			ignored: ["hide_agent_reasoning"],
		});
	});

	it.each([
		["model", "takes KEY=VALUE"],
		["model=1", "model must be a string"],
		['sandbox_mode="none"', "sandbox_mode must be read-only, workspace-write, danger-full-access"],
		['openai_base_url="http://a"', "openai_base_url is not supported"],
		['model_providers.mine.base_url="http://a"', "model_providers.mine.base_url is not supported"],
		["sandbox_workspace_write.exclude_slash_tmp=true", "is not supported"],
		['mcp_servers.a.bearer_token_env_var="T"', "is not supported; a server takes command"],
		["mcp_servers=1", "mcp_servers is not supported"],
	])("refuse %s", async (given, reason) => {
		await expect(readConfigOverrides([given])).rejects.toThrow(reason);
	});
});

describe("the words of codex exec", () => {
	const exec = (line: string) => {
		const action = toCodexAction(line.split(" "));
		return action?.name === "exec" ? action.options : null;
	};

	it("have flags on both sides of what they name", () => {
		expect(exec("-c a=1 exec --json -s read-only resume T -i a.png --image=b.png go")).toEqual({
			json: true,
			prompt: "go",
			resume: { id: "T" },
			images: ["a.png", "b.png"],
			outputSchema: null,
			workDir: null,
			additionalDirs: [],
			model: null,
			sandbox: "read-only",
			config: ["a=1"],
		});
		expect(exec("exec resume --last -")).toMatchObject({ resume: "last", prompt: null });
		expect(exec("exec resume --last go")).toMatchObject({ resume: "last", prompt: "go" });
		expect(exec("exec --full-auto -- --go")).toMatchObject({ sandbox: "workspace-write", prompt: "--go" });
	});

	it.each([
		["exec --ephemeral hi", "does not know --ephemeral"],
		["exec --json=1", "takes no value"],
		["exec --model", "needs a value (MODEL)"],
		["exec -s all", "--sandbox must be"],
		["exec one two", "takes one PROMPT"],
		["exec resume", "needs a THREAD, or --last"],
		["exec --last hi", "--last works only with resume"],
		["review", "does not know 'review'"],
	])("are refused: %s", (line, reason) => {
		expect(() => toCodexAction(line.split(" "))).toThrow(reason);
	});
});
