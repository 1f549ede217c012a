// Hooks of a session over real children and answers of a server.
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionHook, SessionHookVerdict } from "../../api/values/hooks/session-hook.ts";
import { systemClock } from "../../base/clock.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { Fetch } from "../../ports/network/network-settings.ts";
import { createProcesses } from "../../ports/processes/children.ts";
import { runSessionHook } from "./session-hook.ts";

const files = createDiskFiles();
const processes = createProcesses({ drain: 50, openSink: (file) => files.openAppend(file) });
const environment = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", GREETING: "hello" };
const never = new AbortController().signal;

let workDir: string;
beforeAll(async () => {
	workDir = await realpath(await mkdtemp(path.join(tmpdir(), "session-hooks-")));
});
afterAll(() => rm(workDir, { recursive: true, force: true }));

const plain = { id: "h", point: "pre_tool_execution", isBackground: false, priority: 1, failsOpen: false } as const;
const noFetch: Fetch = () => Promise.reject(new Error("no network"));

function run(
	runtime: SessionHook["runtime"],
	{
		timeout = 5000,
		input = {},
		fetch = noFetch,
		signal = never,
	}: {
		readonly timeout?: number;
		readonly input?: object;
		readonly fetch?: Fetch;
		readonly signal?: AbortSignal;
	} = {},
): Promise<SessionHookVerdict> {
	const place = { processes, fetch, workDir, environment, clock: systemClock };
	return runSessionHook({ ...plain, timeout, runtime }, { ...input }, place, signal);
}

const shell = (text: string) => ({
	kind: "command" as const,
	file: "/bin/sh",
	arguments: ["-c", text],
	environment: { OWN: "mine" },
});
const http = { kind: "http", url: "http://hook.test/", method: "POST", headers: { "x-key": "k" } } as const;
const printing = (value: unknown) => shell(`cat <<'END'\n${JSON.stringify(value)}\nEND`);

const completed = { kind: "completed" };
const denial = { reason_code: "policy_violation", message: "not this" } as const;
const denying = { decision: { decision: "deny", hook_id: "h", ...denial } };
const failing = (text: string) => ({
	kind: "failed",
	fault: { reason_code: "execution_failed", message: expect.stringContaining(text) },
});

describe("a command", () => {
	it("gets its input on stdin, in the work directory, with its own variables", async () => {
		const echo = `cat >&2; printf ' %s %s %s' "$PWD" "$GREETING" "$OWN" >&2; exit 3`;
		expect(await run(shell(echo), { input: { point: "é" } })).toEqual(
			failing(`exit status: 3: {"point":"é"} ${workDir} hello mine`),
		);
	});

	it("is run as it is, without a shell", async () => {
		const runtime = { kind: "command" as const, file: "/bin/echo", arguments: ["{}"], environment: {} };
		expect(await run(runtime)).toEqual(completed);
	});

	it.each<[string, unknown, unknown]>([
		["nothing to say", {}, completed],
		["no decision", { decision: null }, completed],
		["that it allows", { decision: { decision: "allow" } }, completed],
		["that it denies", denying, { kind: "denied", denial }],
		[
			"that it denies, with data",
			{ decision: { ...denying.decision, payload: [1] } },
			{ kind: "denied", denial: { ...denial, payload: [1] } },
		],
		["a denial without a name", { decision: { decision: "deny", ...denial } }, failing("hook_id")],
		["an unknown reason", { decision: { ...denying.decision, reason_code: "x" } }, failing("reason_code")],
		["another decision", { decision: { decision: "ask" } }, failing("decision")],
		["patches", { patches: [] }, failing("unknown field `patches`")],
		["a list", [], failing("must be an object")],
	])("answers %s", async (_name, answer, verdict) => {
		expect(await run(printing(answer))).toEqual(verdict);
	});

	it.each<[string, string, unknown]>([
		["prints nothing", "true", failing("it is not JSON")],
		["prints something else", "echo fine", failing('begins with "fine')],
		["prints too much", "head -c 200000 /dev/zero | tr '\\0' ' '; echo '{}'", failing("longer than 131072 bytes")],
		["is killed", "kill -9 $$", failing("SIGKILL")],
	])("fails when it %s", async (_name, text, verdict) => {
		expect(await run(shell(text))).toEqual(verdict);
	});

	it("fails when it takes too long or cannot be started, and not after an abort", async () => {
		expect(await run(shell("sleep 30"), { timeout: 100 })).toEqual({
			kind: "failed",
			fault: { reason_code: "timeout", timeout_ms: 100 },
		});
		const missing = { kind: "command" as const, file: "/no/such", arguments: [], environment: {} };
		expect(await run(missing)).toEqual(failing("could not be started"));
		expect(await run(shell("sleep 30"), { signal: AbortSignal.timeout(50) })).toEqual(completed);
	});

	it("may ignore its input", async () => {
		expect(await run(shell("echo '{}'"), { input: { text: "x".repeat(1_000_000) } })).toEqual(completed);
	});
});

describe("a request", () => {
	it("that fails says why", async () => {
		const fetch: Fetch = async () => {
			throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:7") });
		};
		expect(await run(http, { fetch })).toEqual(failing("could not be reached: connect ECONNREFUSED 127.0.0.1:7"));
	});

	it("has the input as its body, and answers as a command does", async () => {
		const requests: { readonly url: unknown; readonly init: RequestInit | undefined }[] = [];
		const fetch: Fetch = async (url, init) => {
			requests.push({ url, init });
			return new Response(JSON.stringify(denying));
		};
		expect(await run(http, { fetch, input: { a: 1 } })).toEqual({ kind: "denied", denial });
		expect(requests).toMatchObject([
			{
				url: "http://hook.test/",
				init: {
					method: "POST",
					body: '{"a":1}',
					headers: { "content-type": "application/json", "x-key": "k" },
					redirect: "manual",
				},
			},
		]);
	});

	it.each<[string, Fetch, unknown]>([
		["another status", async () => new Response("{}", { status: 500 }), failing("status 500")],
		["no JSON", async () => new Response("<html>"), failing("invalid HTTP hook response")],
		["too much", async () => new Response(" ".repeat(200_000)), failing("longer than")],
		["no connection", noFetch, failing("no network")],
	])("fails with %s", async (_name, fetch, verdict) => {
		expect(await run(http, { fetch })).toEqual(verdict);
	});

	it("fails when it takes too long, and not after an abort", async () => {
		const hanging: Fetch = (_url, init) =>
			new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(new Error("aborted"))));
		expect(await run(http, { fetch: hanging, timeout: 50 })).toMatchObject({ fault: { reason_code: "timeout" } });
		expect(await run(http, { fetch: hanging, signal: AbortSignal.timeout(30) })).toEqual(completed);
	});
});
