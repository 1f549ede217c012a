import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";

const module = fileURLToPath(new URL("./last-resort.ts", import.meta.url));
const loader = fileURLToPath(import.meta.resolve("tsx"));

/** Runs code in a process of its own that has armed its last resort. */
async function run(milliseconds: number, code: string) {
	const text = `const { killSelfAfter } = await import(${JSON.stringify(module)}); killSelfAfter(${milliseconds}); ${code}`;
	const child = spawn(process.execPath, ["--import", loader, "--input-type=module", "-e", text], { stdio: "inherit" });
	const before = performance.now();
	const [exitCode, signal]: (number | string | null)[] = await once(child, "exit");
	return { pid: child.pid ?? 0, exitCode, signal, duration: performance.now() - before };
}

function shellsOf(pid: number): string[] {
	return readdirSync("/proc").filter((name) => {
		try {
			return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(`agentwire-last-resort\0${pid}\0`);
		} catch {
			return false;
		}
	});
}

const noShellIsLeft = (pid: number) =>
	vi.waitFor(() => expect(shellsOf(pid)).toEqual([]), { timeout: 2000, interval: 20 });

it("kills a process whose event loop is stuck", async () => {
	const { pid, signal } = await run(200, "for (;;);");
	expect(signal).toBe("SIGKILL");
	if (process.platform === "linux") await noShellIsLeft(pid);
});

it.skipIf(process.platform !== "linux")("leaves nothing when the process exits by itself", async () => {
	const { pid, exitCode } = await run(60_000, "setTimeout(() => process.exit(3), 50);");
	expect(exitCode).toBe(3);
	await noShellIsLeft(pid);
});
