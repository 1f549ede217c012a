// Files that are no regular ones: a FIFO without a writer, a device, the kernel's log. Whatever reads them, the turn goes on
// and the process ends in time.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { createStage, toolCall } from "../support/executable/executable.ts";
import { endsInTime } from "../support/executable/running-server.ts";

function isOpen(pid: number, file: string): boolean {
	const links = readdirSync(`/proc/${pid}/fd`).map((name) => {
		try {
			return readlinkSync(`/proc/${pid}/fd/${name}`);
		} catch {
			return "";
		}
	});
	return links.includes(file);
}

/** Scripts of turns each of which makes one call and then says something. */
const turns = (...calls: string[]) => calls.flatMap((call) => [call, "text: done"]);

describe.skipIf(process.platform !== "linux")("a path that is no regular file", () => {
	it("is refused or read up to its end, by every tool", async () => {
		const stage = createStage();
		const fifo = path.join(stage.workDir, "fifo");
		execFileSync("mkfifo", [fifo]);
		symlinkSync("/dev/zero", path.join(stage.workDir, "zero"));
		const read = (name: string) => toolCall(`read ${name}`, "ReadFile", { path: name });
		const write = (name: string) => toolCall(`write ${name}`, "WriteFile", { path: name, content: "x" });
		const log = process.getuid?.() === 0 && existsSync("/proc/kmsg") ? ["/proc/kmsg"] : [];
		const called = [...["fifo", "zero", "/dev/tty", ...log].map(read), ...["fifo", "zero"].map(write)];
		stage.setScripts(turns(...called));
		const server = stage.serve("--wire", "--yolo");
		for (const [n] of called.entries()) {
			server.prompt("hi", `prompt-${n}`);
			expect(await server.response(`prompt-${n}`)).toMatchObject({ result: { status: "finished" } });
		}
		expect(await endsInTime(server, () => server.endInput())).toBe(0);
	});

	it("is no AGENTS.md and no skill", async () => {
		const stage = createStage();
		const skill = path.join(stage.shareDir, "skills", "s");
		mkdirSync(skill, { recursive: true });
		for (const file of [path.join(stage.workDir, "AGENTS.md"), path.join(skill, "SKILL.md")]) {
			execFileSync("mkfifo", [file]);
		}
		const server = stage.serve("--wire");
		server.prompt("hi");
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
		expect(await endsInTime(server, () => server.endInput())).toBe(0);
	});

	it.each(["config.toml", "mcp.json"])("is refused as %s, which the start reports", async (name) => {
		const stage = createStage();
		const file = path.join(stage.shareDir, name);
		rmSync(file, { force: true });
		execFileSync("mkfifo", [file]);
		const { code, stderr } = await stage.run("--wire");
		expect(code).toBe(1);
		expect(stderr).toContain(`not a regular file, read '${file}'`);
	});

	it("may be a pipe where a flag names it, and the wait for it can be stopped", async () => {
		const stage = createStage();
		const pipe = path.join(stage.workDir, "pipe.json");
		execFileSync("mkfifo", [pipe]);
		const waiting = stage.serve("--wire", "--config-file", pipe);
		await vi.waitFor(() => expect(isOpen(waiting.pid, pipe)).toBe(true), { timeout: 5000, interval: 20 });
		expect(await endsInTime(waiting, () => waiting.kill("SIGTERM"))).toBe(0);
		const server = stage.serve("--wire", "--config-file", pipe);
		writeFileSync(pipe, stage.configText);
		server.prompt("hi");
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
	});
});
