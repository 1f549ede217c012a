// The published Python clients of Meerkat RPC, oldest to newest. `AGENTWIRE_MEERKAT_PYTHON` names directories of virtual
// environments, separated by colons, each with one version of `meerkat-sdk`.
import { execFile } from "node:child_process";
import { symlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createStage, executablePath } from "../support/executable/executable.ts";

const environments = (process.env["AGENTWIRE_MEERKAT_PYTHON"] ?? "").split(":").filter((each) => each !== "");
if (environments.length === 0)
	console.warn("skipped: clients of Meerkat RPC in Python (AGENTWIRE_MEERKAT_PYTHON names none)");

const scenario = fileURLToPath(new URL("../fixtures/meerkat/scenario.py", import.meta.url));
const run = promisify(execFile);
const version = "import importlib.metadata; print(importlib.metadata.version('meerkat-sdk'))";

describe.skipIf(environments.length === 0).each(environments.map((each) => [path.basename(each), each]))(
	"the client in %s",
	(_name, directory) => {
		it("connects to the contract of its version, and uses it", { timeout: 120_000 }, async () => {
			const python = path.join(directory, "bin", "python");
			const { stdout: installed } = await run(python, ["-c", version]);
			const scripts = Array.from({ length: 20 }, (_, index) => `think: hm\ntext: answer ${index + 1}`);
			const stage = createStage({ scripts });
			const executable = path.join(stage.workDir, "..", "rkat-rpc");
			symlinkSync(executablePath, executable);
			const { stdout } = await run(python, [scenario, executable], {
				cwd: stage.workDir,
				env: { ...stage.environment, PATH: process.env["PATH"], AGENTWIRE_CONTRACT: installed.trim() },
			});
			const shown = JSON.parse(stdout);
			expect(shown.refused).toContain("`hooks_override`");
			expect({ ...shown, refused: "" }).toEqual({
				create: ["answer 1", 1, 0],
				turn: ["answer 2", 0],
				stream: [expect.arrayContaining(["RunStarted", "TextDelta", "RunCompleted"]), "answer 3"],
				create_streaming: [expect.arrayContaining(["RunStarted", "TextDelta", "RunCompleted"]), "answer 1"],
				deferred: "answer 1",
				interrupt: null,
				list: true,
				read: "answer 3",
				history: ["system", "user", "block_assistant"],
				refused: "",
				unknown: "SESSION_NOT_FOUND",
				configuration: true,
				archive: false,
			});
		});
	},
);
