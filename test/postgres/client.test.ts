// The client library over a gateway whose sessions a worker runs, in PostgreSQL.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, inject, onTestFinished } from "vitest";
import { connect } from "../../src/client/client.ts";
import { describeClient } from "../contracts/client-contract.ts";
import { createClusterPrograms } from "../support/postgres/cluster-programs.ts";

const url = inject("postgresUrl");

describe.skipIf(url === "")("the client library over a worker", { timeout: 60_000 }, () => {
	describeClient({
		async connect(scripts) {
			const programs = await createClusterPrograms(url);
			onTestFinished(() => programs.cleanUp());
			const settingsFile = path.join(programs.home, "config.toml");
			const settings = await readFile(settingsFile, "utf8");
			const scripted = settings
				.replace('default_model = "quick"', 'default_model = "scripted"')
				.replace("[models.scripted]", '[models.scripted]\ncapabilities = ["image_in"]');
			await writeFile(settingsFile, scripted);
			await writeFile(path.join(programs.home, "scripts.json"), JSON.stringify(scripts));
			await programs.start(["worker"]);
			const { gateway } = await programs.connect(await programs.start(["serve", "--port", "0"]));
			const workDir = path.join(programs.home, "work");
			await mkdir(workDir);
			return { kernel: await connect(gateway), workDir };
		},
	});
});
