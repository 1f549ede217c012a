// In a process of its own: the signals of this one belong to the test runner.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const program = (module: string) => `
	const { handleStopSignals } = await import(${JSON.stringify(module)});
	process.once("SIGHUP", () => console.log("before"));
	process.kill(process.pid, "SIGHUP");
	// It is not delivered before this has returned.
	handleStopSignals((signal) => { console.log(signal); process.exit(0); });
	setTimeout(() => { console.log("lost"); process.exit(0); }, 3000);
`;

it("a signal before the handover is not lost", async () => {
	const module = new URL("./stop-signals.ts", import.meta.url).href;
	const { stdout } = await promisify(execFile)(process.execPath, [
		...["--import", "tsx", "--input-type=module", "--eval"],
		program(module),
	]);
	expect(stdout).toBe("SIGHUP\n");
});
