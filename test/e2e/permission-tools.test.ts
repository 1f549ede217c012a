// Tools that are not ours, in every mode: those of an MCP server, of a plugin, and of a client.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { isResponse } from "../support/executable/running-server.ts";
import { fixture, writeServers } from "../support/mcp/mcp-stage.ts";

type Decision = "allow" | "ask" | "deny";
type Fate = "runs" | "is asked about" | "is denied";

const modes = {
	default: [],
	auto: ["--afk"],
	yolo: ["--yolo"],
} as const;

const external_tools = [{ name: "paint", description: "Paints.", parameters: { type: "object" } }];

interface Kind {
	/** The call, and the rule that speaks of it. */
	readonly call: string;
	readonly pattern: string;
	/** What becomes of it where no rule speaks of it. */
	readonly open: Readonly<Record<keyof typeof modes, Fate>>;
}

const kinds: Readonly<Record<string, Kind>> = {
	"a tool of an MCP server": {
		call: toolCall("c", "echo", { text: "hello" }),
		pattern: "mcp__tools__echo",
		open: { default: "is asked about", auto: "runs", yolo: "runs" },
	},
	"a tool of a plugin": {
		call: toolCall("c", "say", {}),
		pattern: "Plugin(say)",
		open: { default: "is asked about", auto: "runs", yolo: "runs" },
	},
	"a tool of the client": {
		call: toolCall("c", "paint", {}),
		pattern: "ClientTool(paint)",
		open: { default: "runs", auto: "runs", yolo: "runs" },
	},
};

const fates: Readonly<Record<Decision, Readonly<Record<keyof typeof modes, Fate>>>> = {
	allow: { default: "runs", auto: "runs", yolo: "runs" },
	ask: { default: "is asked about", auto: "is denied", yolo: "runs" },
	deny: { default: "is denied", auto: "is denied", yolo: "is denied" },
};

/** Puts a plugin where its installation would. */
function writePlugin(stage: Stage): void {
	const directory = path.join(stage.shareDir, "plugins", "demo");
	mkdirSync(directory, { recursive: true });
	const tools = [{ name: "say", description: "Says it.", command: ["echo", "said"] }];
	const manifest = { name: "demo", version: "1.0.0", description: "Says things.", tools };
	writeFileSync(path.join(directory, "plugin.json"), JSON.stringify(manifest));
}

/** Plays the call, rejects what is asked, and says what became of it. */
async function play(stage: Stage, flags: readonly string[]): Promise<Fate> {
	const server = stage.serve("--wire", ...flags);
	server.request("i", "initialize", { protocol_version: "1.10", external_tools });
	await server.readUntil((line) => isResponse(line, "i"));
	server.prompt("go", "p");
	let asked = false;
	let executed = false;
	await server.readUntil((line) => {
		if (typeof line.id === "string" && line.params?.type === "ApprovalRequest") {
			asked = true;
			server.answer(line.id, { request_id: line.id, response: "reject" });
		}
		if (typeof line.id === "string" && line.params?.type === "ToolCallRequest") {
			executed = true;
			const return_value = { is_error: false, output: "painted", message: "", display: [] };
			server.answer(line.id, { tool_call_id: "c", return_value });
		}
		return isResponse(line, "p");
	});
	server.endInput();
	await server.exited;
	if (asked) return "is asked about";
	const [id = ""] = stage.sessionIds();
	const journal = readFileSync(path.join(stage.sessionDir(id), "journal.jsonl"), "utf8");
	const started = journal.includes('"type":"tool.started"');
	if (executed) expect(started).toBe(true);
	return started ? "runs" : "is denied";
}

describe.each(Object.entries(kinds))("%s", (_name, { call, pattern, open }) => {
	it.each(Object.entries(modes))("has the fate that rules and mode say in the mode %s", async (mode, flags) => {
		const found: unknown[] = [];
		const expected: unknown[] = [];
		for (const decision of [null, "allow", "ask", "deny"] as const) {
			const stage = createStage({ scripts: [call, "text: done"] });
			writeServers(stage, { tools: fixture() });
			writePlugin(stage);
			if (decision !== null) {
				appendFileSync(
					path.join(stage.shareDir, "config.toml"),
					`\n[[permission.rules]]\ndecision = "${decision}"\npattern = "${pattern}"\n`,
				);
			}
			found.push([decision, await play(stage, flags)]);
			expected.push([decision, (decision === null ? open : fates[decision])[mode as keyof typeof modes]]);
		}
		expect(found).toEqual(expected);
	});
});
