import { existsSync } from "node:fs";
import path from "node:path";
import { expectTranscript, recordedAgent, type ScriptedAnswers, scriptedAgent } from "agentwire/testing";
import { expect, it, onTestFinished } from "vitest";
import { writeReleaseNotes } from "./release-notes.ts";

async function start(answers: ScriptedAnswers) {
	const agent = await scriptedAgent({ answers });
	onTestFinished(() => agent.close());
	return agent;
}

it("returns what the model writes", async () => {
	const agent = await start(["- Faster start"]);
	expect(await writeReleaseNotes(agent, agent.workDir)).toBe("- Faster start");
	expect(agent.model.remaining).toBe(0);
});

it("lets the model change nothing", async () => {
	const agent = await start([
		{ calls: [{ tool: "Shell", arguments: { command: "touch released" } }] },
		"- Nothing is released yet",
	]);
	await writeReleaseNotes(agent, agent.workDir);
	expect(existsSync(path.join(agent.workDir, "released"))).toBe(false);
	for await (const { id } of agent.sessions()) {
		const session = await agent.open({ id });
		await expectTranscript(session, new URL("transcripts/changes-nothing.txt", import.meta.url));
	}
});

// Skipped until you record it: AGENTWIRE_UPDATE_CASSETTES=1 and the key of a provider in the environment.
const cassette = new URL("cassettes/release-notes.jsonl", import.meta.url);
const canRun = existsSync(cassette) || process.env.AGENTWIRE_UPDATE_CASSETTES === "1";

it.skipIf(!canRun)("copes with the answers of a real model", async () => {
	const agent = await recordedAgent({ cassette });
	onTestFinished(() => agent.close());
	expect(await writeReleaseNotes(agent, agent.workDir)).not.toBe("");
});

it("fails with the provider's reason", async () => {
	const agent = await start([{ failure: { kind: "status", statusCode: 401, message: "The key has expired." } }]);
	await expect(writeReleaseNotes(agent, agent.workDir)).rejects.toThrow("The key has expired.");
});

it("does not take half an answer for release notes", async () => {
	const agent = await start([{ text: "- Faster", truncated: true }]);
	await expect(writeReleaseNotes(agent, agent.workDir)).rejects.toThrow("No release notes");
});
