import { describe, expect, it } from "vitest";
import { call, createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createToolDouble } from "../../../test/support/sessions/turn-subject.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { toolSuccess } from "../../api/values/content.ts";

const file = "/home/me/project/AGENTS.md";

describe("/init", () => {
	it.each<[string, string | null, string | null, RegExp]>([
		["wrote the file", null, "Run make.\n", /which wrote .*AGENTS\.md\. .*Run make\./],
		["replaced the file", "Run it.\n", "Run make.\n", /which wrote .*AGENTS\.md\. .*Run make\./],
		["wrote nothing", null, null, /there is no .*AGENTS\.md/],
		["left the file unchanged", "Run it.\n", null, /left .*AGENTS\.md as it was/],
		["wrote the same content", "Run it.\n", "Run it.\n", /left .*AGENTS\.md as it was/],
	])("that %s reports that to the session's agent", async (_name, before, written, delivered) => {
		const files = createMemoryFiles();
		await files.makeDirectory("/home/me/project");
		if (before !== null) await files.replace(file, before);
		const write = createToolDouble("Write", {
			async execute() {
				if (written !== null) await files.replace(file, written);
				return toolSuccess({ output: "" });
			},
		});
		const model = createScriptedModel([
			[call("c1", "Write"), done()],
			[say("Done."), done()],
			[say("I know."), done()],
		]);
		const planPlace = { files, shareDir: "/share", home: "/home/me", startsOn: false, isSupported: true };
		const { session, attach } = await createSessionSubject(model, [write], { planPlace });
		const client = attach();
		await session.send({ type: "turn.start", input: "/init" });
		await client.next("turn.ended");
		await client.next("turn.ended");
		await session.send({ type: "turn.start", input: "Go on." });
		await client.next("turn.ended");
		const known = JSON.stringify(model.requests.at(-1)?.messages);
		expect(known).toMatch(delivered);
		expect(/which wrote/.test(known)).toBe(written !== null && written !== before);
	});
});
