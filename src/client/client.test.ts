import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, onTestFinished } from "vitest";
import { describeClient } from "../../test/contracts/client-contract.ts";
import { createAgent } from "../index.ts";

async function makeDirectory(): Promise<string> {
	const directory = await mkdtemp(path.join(tmpdir(), "client-"));
	onTestFinished(() => rm(directory, { recursive: true, force: true }));
	return directory;
}

describe("in the same process", () => {
	describeClient({
		async connect(scripts) {
			const home = await makeDirectory();
			const file = path.join(home, "scripts.json");
			await writeFile(file, JSON.stringify(scripts));
			const kernel = await createAgent({
				home,
				settings: {
					default_model: "m",
					models: { m: { provider: "p", model: "m", max_context_size: 100_000 } },
					providers: {
						p: { type: "_scripted_echo", base_url: "", api_key: "", env: { KIMI_SCRIPTED_ECHO_SCRIPTS: file } },
					},
				},
			});
			return { kernel, workDir: await makeDirectory() };
		},
	});
});
