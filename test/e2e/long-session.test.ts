// A session of hundreds of steps, against a model on loopback that knows only what its requests contain: it reads notes
// one by one, and in the end says what was in them.
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { isRecord } from "../../src/base/json.ts";
import { createStage } from "../support/executable/executable.ts";
import { lastOf, outline, type Server } from "../support/executable/running-server.ts";
import { sendEvents } from "../support/models/provider-server.ts";
import { configFor, startProvider } from "../support/models/provider-stage.ts";

const noteCount = 300;
const secretOf = (n: number) => String((n * 7919) % 10_007);

/** The facts in all that a model is shown, by the number of their note. */
function factsIn(text: string): ReadonlyMap<number, string> {
	return new Map([...text.matchAll(/FACT (\d+) IS (\d+)\./g)].map(([, n, secret]) => [Number(n), secret ?? ""]));
}

/** What the model answers: a summary where it has no tools, the next note as long as one is unread, then all it knows. */
function answer(body: unknown) {
	const request = isRecord(body) ? body : {};
	const shown = JSON.stringify(request["messages"]);
	const facts = factsIn(shown);
	const known = [...facts].map(([n, secret]) => `FACT ${n} IS ${secret}.`).join(" ");
	const next = Math.max(0, ...facts.keys()) + 1;
	const mayCall = Array.isArray(request["tools"]) && request["tools"].length > 0;
	const delta =
		mayCall && next <= noteCount
			? {
					tool_calls: [
						{
							index: 0,
							id: `call_${next}`,
							type: "function",
							function: { name: "ReadFile", arguments: JSON.stringify({ path: `note-${next}.txt` }) },
						},
					],
				}
			: { content: `This is known: ${known}` };
	const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "reader" };
	const usage = { prompt_tokens: Math.ceil(shown.length / 4), completion_tokens: Math.ceil(known.length / 4) };
	const lines = [
		{ ...head, choices: [{ index: 0, delta, finish_reason: "stop" }] },
		{ ...head, choices: [], usage },
	];
	return sendEvents(`${lines.map((line) => `data: ${JSON.stringify(line)}\n\n`).join("")}data: [DONE]\n\n`);
}

async function lastAnswer(
	server: Server,
	question: string,
): Promise<{ readonly text: string; readonly all: string[] }> {
	server.prompt(question);
	const lines = await server.readUntil((line) => line.id === "prompt");
	const said = lines.flatMap(({ params }) =>
		params?.type === "ContentPart" ? [String(params.payload["text"] ?? "")] : [],
	);
	return { text: lastOf(said), all: outline(lines) };
}

it("compacts itself several times in three hundred steps and still knows what it read first, also when resumed", async () => {
	const provider = await startProvider(answer);
	const stage = createStage();
	for (let n = 1; n <= noteCount; n += 1) {
		writeFileSync(
			path.join(stage.workDir, `note-${n}.txt`),
			`FACT ${n} IS ${secretOf(n)}.\n${"Chaff. ".repeat(400)}\n`,
		);
	}
	const reader = { type: "openai_legacy", model: "reader", settings: { agentwire: { sync: "off" } } };
	const config = configFor(`${provider.url}/v1`, reader);
	const words = ["--config", config, "--session", "5ac1e9f4-0000-4000-8000-0000000000a1", "--wire"];

	const server = stage.serve(...words);
	const { text, all } = await lastAnswer(server, "Read all the notes, then tell what is in them.");
	expect(lastOf(all)).toBe("finished");
	expect(all.filter((word) => word === "ToolResult")).toHaveLength(noteCount);
	const compactions = all.filter((word) => word === "CompactionEnd").length;
	expect(compactions).toBeGreaterThanOrEqual(3);
	for (const n of [1, 150, noteCount]) expect(text).toContain(`FACT ${n} IS ${secretOf(n)}.`);
	server.endInput();
	expect(await server.exited).toBe(0);

	const again = stage.serve(...words);
	expect((await lastAnswer(again, "And once more?")).text).toContain(`FACT 1 IS ${secretOf(1)}.`);
	again.endInput();
	expect(await again.exited).toBe(0);
	const sessions = path.join(stage.shareDir, "sessions");
	const directory = path.join(sessions, lastOf(readdirSync(sessions)), "5ac1e9f4-0000-4000-8000-0000000000a1");
	const rotations = readdirSync(directory).filter((name) => /^context_\d+\.jsonl$/.test(name));
	expect(rotations.length).toBeGreaterThanOrEqual(compactions);
}, 60_000);
