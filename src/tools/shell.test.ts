import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { briefOf, call, createToolPlace, prepareCall, type ToolPlace } from "../../test/support/tool-environment.ts";
import { createShell } from "./shell.ts";
import type { Tool } from "./tool.ts";

let place: ToolPlace;
let shell: Tool;
beforeEach(async () => {
	place = await createToolPlace();
	shell = createShell(place.environment);
});
afterEach(() => place.remove());

describe("Shell", () => {
	it("asks with the command and returns what it printed", async () => {
		const prepared = await prepareCall(shell, { command: "pwd" });
		expect(prepared).toMatchObject({
			approval: {
				action: "run command",
				description: "Run command `pwd`",
				display: [{ type: "shell", language: "bash", command: "pwd" }],
			},
			hasEffect: true,
		});
		expect(await prepared.execute()).toEqual({
			is_error: false,
			output: `${place.at("work")}\n`,
			message: "Command executed successfully.",
			display: [],
			extras: null,
		});
	});

	it("sets SHELL and GIT_TERMINAL_PROMPT, and gives no input", async () => {
		const command = 'cat; echo "$SHELL $GIT_TERMINAL_PROMPT $HOME"';
		expect((await call(shell, { command })).output).toMatch(/^\/.*bash 0 .*\/home\n$/);
		const { environment } = place;
		const asking = createShell({
			...environment,
			environment: { ...environment.environment, GIT_TERMINAL_PROMPT: "1" },
		});
		expect((await call(asking, { command: "echo $GIT_TERMINAL_PROMPT" })).output).toBe("1\n");
	});

	it("tells the exit code, and the last lines in the brief", async () => {
		const result = await call(shell, { command: `printf 'a\\nb\\n\\nc\\nd\\ne\\n${"f".repeat(300)}\\n'; exit 7` });
		expect(result).toMatchObject({ is_error: true, message: "Command failed with exit code: 7." });
		expect(briefOf(result)).toBe(`Failed with exit code: 7\nb\nc\nd\ne\n${"f".repeat(197)}...`);
	});

	it("kills at the timeout and returns what there was", async () => {
		const result = await call(shell, { command: "echo begun; sleep 60", timeout: 1 });
		expect(result).toMatchObject({ is_error: true, output: "begun\n", message: expect.stringContaining("1 s") });
		expect(briefOf(result)).toBe("Killed by timeout (1s)\nbegun");
	});

	it("tells a signal", async () => {
		expect(briefOf(await call(shell, { command: "kill -9 $$" }))).toBe("Ended by signal SIGKILL");
	});

	it("settles when aborted", async () => {
		const abort = new AbortController();
		const running = (await prepareCall(shell, { command: "sleep 60" })).execute(abort.signal);
		abort.abort();
		expect(briefOf(await running)).toBe("Cancelled");
	});

	it("refuses an empty command and a background command", async () => {
		expect(briefOf(await call(shell, { command: "  " }))).toBe("Empty command");
		const background = await call(shell, { command: "sleep 1", run_in_background: "true", description: "x" });
		expect(background).toMatchObject({ is_error: true, message: expect.stringContaining("not available") });
		expect(briefOf(background)).toBe("Start failed");
		expect((await call(shell, { command: "true", run_in_background: false })).is_error).toBe(false);
	});

	it("tells when it cannot be started", async () => {
		const lost = createShell({ ...place.environment, workDir: place.at("missing") });
		expect(briefOf(await call(lost, { command: "true" }))).toBe("Execution failed");
	});

	it("leaves all of a long output in a file that is named", async () => {
		const whole = `${Array.from({ length: 100_000 }, (_, index) => index + 1).join("\n")}\n`;
		const file = place.at("output", "shell-call_1.log");
		const result = await call(shell, { command: "seq 1 100000; exit 1" }, "call/1");
		expect(result.message).toBe(
			`Command failed with exit code: 1. The output was shortened to fit. All of the output is in \`${file}\`; ReadFile can show it.`,
		);
		expect(briefOf(result)).toBe("Failed with exit code: 1\n99996\n99997\n99998\n99999\n100000");
		expect(String(result.output).length).toBe(50_000);
		expect(await readFile(file, "utf8")).toBe(whole);

		const again = await call(shell, { command: "printf 'x%.0s' $(seq 1 3000)" }, "call/1");
		const second = place.at("output", "shell-call_1-2.log");
		expect(again.output).toBe(`${"x".repeat(2000 - "[...truncated]".length)}[...truncated]`);
		expect(again.message).toContain(second);
		expect(await readFile(second, "utf8")).toBe("x".repeat(3000));
		expect(await readFile(file, "utf8")).toBe(whole);
	});
});
