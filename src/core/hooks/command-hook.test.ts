// Command hooks over real children (agent-kernel §10.2).
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CommandHook } from "../../api/values/hooks/hook.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { createProcesses } from "../../ports/processes/children.ts";
import { runCommandHook } from "./command-hook.ts";

const files = createDiskFiles();
const processes = createProcesses({ drain: 50, openSink: (file) => files.openAppend(file) });
const environment = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", GREETING: "hello" };

let workDir: string;
beforeAll(async () => {
	workDir = await realpath(await mkdtemp(path.join(tmpdir(), "hooks-")));
});
afterAll(() => rm(workDir, { recursive: true, force: true }));

function hook(command: string, changes: Partial<CommandHook> = {}): CommandHook {
	return { kind: "command", event: "PreToolUse", matcher: "", timeout: 30, command, failClosed: false, ...changes };
}

const run = (command: string, changes: Partial<CommandHook> = {}, input = {}, signal = new AbortController().signal) =>
	runCommandHook(hook(command, changes), input, { processes, workDir, environment }, signal);

const allow = { action: "allow", reason: "" };
const deny = (reason: string) => ({ action: "block", reason });
const output = (value: unknown) => `cat <<'END'\n${JSON.stringify(value)}\nEND`;
const permission = (fields: object) => output({ hookSpecificOutput: fields });

describe("a command hook", () => {
	it("gets its input as JSON on stdin, and runs in the work directory with the environment", async () => {
		const input = { hook_event_name: "PreToolUse", tool_input: { command: "é 'x'" } };
		expect(await run("cat >&2; exit 2", {}, input)).toEqual(deny(JSON.stringify(input)));
		expect(await run('printf "%s %s" "$PWD" "$GREETING" >&2; exit 2')).toEqual(deny(`${workDir} hello`));
	});

	it.each<[string, string, object]>([
		["exit code 0", "exit 0", allow],
		["exit code 0 with any text", "echo no; echo no >&2", allow],
		[
			"exit code 2, by stderr trimmed",
			"echo ignored; printf '\\n  not this way \\n\\n' >&2; exit 2",
			deny("not this way"),
		],
		["exit code 2 without output", "exit 2", deny("")],
		["exit code 1", "echo no >&2; exit 1", allow],
		["exit code 127", "no-such-command-anywhere", allow],
		["a signal", "kill -9 $$", allow],
		[
			"JSON that denies",
			permission({ permissionDecision: "deny", permissionDecisionReason: "not today" }),
			deny("not today"),
		],
		["JSON that denies without a reason", permission({ permissionDecision: "deny" }), deny("")],
		[
			"JSON that denies with a reason that is no text",
			permission({ permissionDecision: "deny", permissionDecisionReason: 5 }),
			deny(""),
		],
		["JSON that allows", permission({ permissionDecision: "allow", permissionDecisionReason: "fine" }), allow],
		["JSON that asks", permission({ permissionDecision: "ask" }), allow],
		["JSON of another shape", output({ permissionDecision: "deny" }), allow],
		["a list", output([{ hookSpecificOutput: { permissionDecision: "deny" } }]), allow],
		["null", "echo null", allow],
		["JSON with text around it", `echo see; ${permission({ permissionDecision: "deny" })}`, allow],
		["JSON that denies and another exit code", `${permission({ permissionDecision: "deny" })}\nexit 1`, allow],
	])("decides by %s", async (_name, command, decision) => {
		expect(await run(command)).toEqual(decision);
	});

	it("that says too much to be read is a failure, unless it says what cannot be a decision", async () => {
		const tooLong = `printf '{"hookSpecificOutput": {"permissionDecision": "deny"}, "more": "'; head -c 2000000 /dev/zero | tr '\\0' x; echo '"}'`;
		expect(await run(tooLong)).toEqual(allow);
		const { action, reason } = await run(tooLong, { failClosed: true });
		expect(action).toBe("block");
		expect(reason).toContain("wrote more than 1 MiB");
		expect(await run("head -c 2000000 /dev/zero | tr '\\0' x", { failClosed: true })).toEqual(allow);
		const late = `head -c 2000000 /dev/zero >&2\n${permission({ permissionDecision: "deny" })}`;
		expect((await run(late, { failClosed: true })).action).toBe("block");
		const loud = `${permission({ permissionDecision: "deny" })}\nhead -c 2000000 /dev/zero >&2`;
		expect(await run(loud, { failClosed: true })).toEqual(deny(""));
	});

	it("gives a model no longer reason than a tool's output", async () => {
		const { reason } = await run("head -c 500000 /dev/zero | tr '\\0' r >&2; exit 2");
		expect(reason).toHaveLength(50_000);
		expect(reason).toMatch(/r\n\[\.\.\. the rest of the reason is left out \.\.\.\]$/);
		const denied = { permissionDecision: "deny", permissionDecisionReason: "😀".repeat(40_000) };
		const cut = await run(permission(denied));
		expect(cut.reason.length).toBeLessThanOrEqual(50_000);
		expect(cut.reason).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
	});

	it("allows when it exceeds its time", async () => {
		expect(await run("sleep 30", { timeout: 0.2 })).toEqual(allow);
	});

	it("allows when it cannot be started", async () => {
		const place = { processes, workDir: path.join(workDir, "missing"), environment };
		expect(await runCommandHook(hook("exit 2"), {}, place, new AbortController().signal)).toEqual(allow);
	});

	it("may ignore its input", async () => {
		expect(await run("exit 0", {}, { tool_input: "x".repeat(1_000_000) })).toEqual(allow);
	});
});

describe("a command hook that fails closed", () => {
	it.each([
		["exits with another code", "exit 1", 30],
		["does not exist", "no-such-command-anywhere", 30],
		["is killed", "kill -9 $$", 30],
		["exceeds its time", "sleep 30", 0.2],
	])("blocks and names itself when it %s", async (_name, command, timeout) => {
		const decision = await run(command, { failClosed: true, timeout });
		expect(decision.action).toBe("block");
		expect(decision.reason).toContain(command);
	});

	it("decides as any other when it works", async () => {
		expect(await run("echo fine", { failClosed: true })).toEqual(allow);
		expect(await run("echo no >&2; exit 2", { failClosed: true })).toEqual(deny("no"));
	});

	it("blocks nothing after an abort", async () => {
		expect(await run("sleep 30", { failClosed: true }, {}, AbortSignal.timeout(50))).toEqual(allow);
	});
});
