import { mkdir, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasSandbox } from "../../../test/support/executable/bubblewrap.ts";
import { systemClock } from "../../base/clock.ts";
import { randomIdentifiers } from "../../base/ids.ts";
import { silentLog } from "../../base/log.ts";
import type { SandboxSettings } from "../../settings/config/configuration.ts";
import { createDiskFiles } from "../files/disk-files.ts";
import { placeName } from "../files/living-process.ts";
import { createProcesses } from "../processes/children.ts";
import type { Processes, RunOutcome, RunRequest } from "../processes/port.ts";
import { toCommandEnvironment } from "./environment.ts";
import { explainFailure } from "./failure.ts";
import { toConfinement } from "./policy.ts";
import { createSandbox, type Sandbox } from "./sandbox.ts";
import { createSandboxedProcesses } from "./sandboxed-processes.ts";

const never = new AbortController().signal;
const systemPath = "/usr/local/bin:/usr/bin:/bin";
let base = "";
const open: Sandbox[] = [];
const servers: Server[] = [];

beforeEach(async () => {
	base = await mkdtemp(path.join(tmpdir(), "sandbox-"));
	for (const directory of ["work", "home/.ssh", "share/skills", "temporary"]) {
		await mkdir(path.join(base, directory), { recursive: true });
	}
});

afterEach(async () => {
	for (const sandbox of open.splice(0)) await sandbox.close();
	for (const server of servers.splice(0)) server.close();
	await rm(base, { recursive: true, force: true });
});

function settings(extra: Partial<SandboxSettings> = {}): SandboxSettings {
	return {
		...{ mode: "workspace-write", writable: [], hidden: [], readOnly: [], network: "none", allowedDomains: [] },
		...{ autoAllow: false, mcpServers: false, creators: true, environment: { pass: [], set: {}, drop: [] } },
		...extra,
	};
}

function create(
	extra: Partial<SandboxSettings> = {},
	processes: Processes = createProcesses(),
	share = path.join(base, "share"),
): Sandbox {
	const sandbox = createSandbox(settings(extra), {
		home: path.join(base, "home"),
		shareDirs: [share],
		temporaryDirs: [path.join(base, "temporary")],
		environment: { PATH: systemPath },
		files: createDiskFiles(),
		processId: process.pid,
		processes,
		clock: systemClock,
		identifiers: randomIdentifiers,
		log: silentLog,
		sockets: {
			resolve: async () => [{ address: "93.184.215.14", family: 4 }],
			dial: (_host, _addresses, port) => connect({ host: "127.0.0.1", port }),
		},
	});
	open.push(sandbox);
	return sandbox;
}

const place = { home: "/home/me", shareDirs: ["/home/me/.kimi"], temporaryDirs: ["/tmp"] };
const roots = { workDir: "/work", additionalDirs: ["/more"] };

describe("what a command may do", () => {
	it("is everything when the sandbox is off", () => {
		expect(toConfinement(settings({ mode: "off" }), place, roots, { kind: "none" })).toBeNull();
	});

	it("is to write where the session works, and in temporary directories", () => {
		const confinement = toConfinement(
			settings({ writable: ["~/builds"], readOnly: ["~/builds/keys"], hidden: ["~", "/srv/x"] }),
			place,
			roots,
			{ kind: "none" },
		);
		expect(confinement).toMatchObject({ writable: ["/work", "/more", "/home/me/builds", "/tmp"], scratch: [] });
		for (const root of ["/work", "/more", "/home/me/builds"]) {
			for (const name of [".git/hooks", ".git/config", ".agentwire", ".kimi", ".vscode", ".idea", ".mcp.json"]) {
				expect(confinement?.readOnly).toContain(`${root}/${name}`);
			}
			expect(confinement?.removed).toContain(`${root}/.git/commondir`);
		}
		expect(confinement?.readOnly).toEqual(expect.arrayContaining(["/home/me/.bashrc", "/home/me/builds/keys"]));
		const hidden = ["/home/me/.ssh", "/home/me/.aws", "/home/me/.kimi", "/run", "/home/me", "/srv/x"];
		expect(confinement?.hidden).toEqual(expect.arrayContaining(hidden));
	});

	it("is to write nothing but temporary files in the mode for reading", () => {
		const confinement = toConfinement(settings({ mode: "read-only" }), place, roots, { kind: "host" });
		expect(confinement).toMatchObject({ writable: [], scratch: ["/tmp"], network: { kind: "host" } });
		expect(confinement?.visible).toEqual(expect.arrayContaining(["/work", "/more"]));
	});
});

describe("the environment of commands", () => {
	const environment = { PATH: "/bin", OPENAI_API_KEY: "a", anthropic_api_key: "b", MINE: "key", AWS_X: "c", AWS: "d" };

	it("has no keys of providers, by name or by value", () => {
		const given = toCommandEnvironment(environment, { pass: [], set: {}, drop: [] }, ["key", ""]);
		expect(given).toEqual({ PATH: "/bin", AWS_X: "c", AWS: "d" });
	});

	it("has no key of a collector of traces, but where it is", () => {
		const collector = {
			OTEL_EXPORTER_OTLP_ENDPOINT: "http://c",
			OTEL_EXPORTER_OTLP_HEADERS: "key=a",
			OTEL_EXPORTER_OTLP_TRACES_HEADERS: "key=b",
		};
		expect(toCommandEnvironment(collector, { pass: [], set: {}, drop: [] }, [])).toEqual({
			OTEL_EXPORTER_OTLP_ENDPOINT: "http://c",
		});
	});

	it("has what is passed and set, and not what is dropped", () => {
		const lists = { pass: ["MINE", "OPENAI_*"], set: { CI: "1", PATH: "/usr/bin" }, drop: ["AWS_*", "MINE"] };
		expect(toCommandEnvironment(environment, lists, ["key"])).toEqual({
			...{ PATH: "/usr/bin", OPENAI_API_KEY: "a", MINE: "key", AWS: "d", CI: "1" },
		});
	});
});

describe("the reason why a command failed", () => {
	const confinement = toConfinement(settings(), place, roots, { kind: "none" });
	const failed = (output: string, exitCode = 1) => ({
		ended: { kind: "exited", exitCode } as const,
		output,
		errorOutput: "",
	});

	it.each([
		[
			"touch: cannot touch '/etc/x': Read-only file system",
			"The sandbox lets the command write only below /work, /more, /tmp.",
		],
		["sh: /work/.git/config: Read-only file system", "The sandbox protects /work/.git/config from changes."],
		["cat: /home/me/.ssh/id: Permission denied", "The sandbox hides /home/me/.ssh/id from commands."],
		[
			"mv: cannot move '/work/.vscode' to 'x': Device or resource busy",
			"The sandbox protects /work/.vscode from changes.",
		],
		[
			"curl: (6) Could not resolve host: a.example",
			expect.stringMatching(/without network; `network` in `\[sandbox\]` .*"host"/),
		],
		["Error: getaddrinfo EAI_AGAIN a.example", expect.stringContaining("without network")],
		["socket: Address family not supported by protocol", expect.stringContaining("no Unix sockets")],
		["make: *** [all] Error 2", null],
		["cat: /work/x: Permission denied", null],
	])("%s", (output, expected) => {
		if (confinement === null) throw new Error("there is a confinement");
		expect(explainFailure(failed(output), confinement, [])).toEqual(expected);
		expect(explainFailure(failed(output, 0), confinement, [])).toBeNull();
	});

	it("adds nothing about a command that did not start, whose outcome says why", () => {
		if (confinement === null) throw new Error("there is a confinement");
		const reason = "The sandbox cannot be applied: /work/link is a link";
		const outcome = { ended: { kind: "not-started", reason } as const, output: "", errorOutput: "" };
		expect(explainFailure(outcome, confinement, [])).toBeNull();
	});

	it("names the host that the proxy refused", () => {
		if (confinement === null) throw new Error("there is a confinement");
		const denial = { host: "evil.example", why: "is not among the allowed domains", at: 1 };
		expect(explainFailure(failed("x"), confinement, [denial])).toBe(
			"The sandbox's network did not let the command reach evil.example, which is not among the allowed domains.",
		);
	});
});

describe("commands of sandboxed processes", () => {
	const request: RunRequest = {
		file: "/bin/bash",
		arguments: ["-c", "true"],
		workDir: "/",
		environment: { PATH: systemPath, OPENAI_API_KEY: "x", OTHER: "key-of-a-provider" },
		outputLimit: 10_000,
	};
	const outcome: RunOutcome = {
		...{ ended: { kind: "exited", exitCode: 0 }, output: "", errorOutput: "", outputBytes: 0 },
		...{ truncated: false, spilledTo: null },
	};

	function recording() {
		const requests: RunRequest[] = [];
		const processes: Processes = {
			async run(each) {
				requests.push(each);
				return outcome;
			},
			async endAll() {},
		};
		return { requests, processes };
	}

	it("get the confinement that the settings describe, and none without a sandbox", async () => {
		const { requests, processes } = recording();
		for (const mode of ["off", "workspace-write"] as const) {
			const sandboxed = createSandboxedProcesses(processes, create({ mode }), () => roots);
			expect((await sandboxed.run(request, never)).ended.kind).toBe("exited");
		}
		expect(requests.map(({ confinement }) => confinement?.writable[0])).toEqual([undefined, "/work"]);
	});

	it("do not start when there can be no confinement", async () => {
		const { requests, processes } = recording();
		const sandbox = create({ network: "proxy" });
		await rm(path.join(base, "share"), { recursive: true });
		const file = path.join(base, "share");
		await createDiskFiles().create(file, "");
		const { ended } = await createSandboxedProcesses(processes, sandbox, () => roots).run(request, never);
		expect(ended).toMatchObject({
			kind: "not-started",
			reason: expect.stringMatching(/^The sandbox cannot be applied/),
		});
		expect(requests).toEqual([]);
	});

	it("have a status that says why there is no sandbox", async () => {
		const { processes } = recording();
		expect(await create({ mode: "off" }, processes).status()).toEqual({ kind: "off" });
		expect(await create({}, processes).status()).toEqual({
			kind: "none",
			why: "a trial command ended with exit code 0",
		});
	});

	it("have a sandbox as soon as a trial works, although an earlier one took too long", async () => {
		const outcomes: RunOutcome["ended"][] = [{ kind: "timed-out" }, { kind: "exited", exitCode: 7 }];
		const processes: Processes = {
			run: async () => ({ ...outcome, ended: outcomes.shift() ?? { kind: "aborted" } }),
			endAll: async () => {},
		};
		const sandbox = create({}, processes);
		expect(await sandbox.status()).toEqual({ kind: "none", why: "a trial command took too long" });
		const active = { kind: "active", mode: "workspace-write" };
		expect([await sandbox.status(), await sandbox.status()]).toEqual([active, active]);
	});

	describe.runIf(hasSandbox())("with bwrap", () => {
		const run = async (sandbox: Sandbox, script: string, workDir = path.join(base, "work")) => {
			const sandboxed = createSandboxedProcesses(createProcesses(), sandbox, () => ({ workDir, additionalDirs: [] }));
			return await sandboxed.run({ ...request, arguments: ["-c", script], workDir }, never);
		};

		it("run where the settings let them", async () => {
			const sandbox = create();
			expect(await sandbox.status()).toEqual({ kind: "active", mode: "workspace-write" });
			const script = `echo a > made; echo b > ${base}/temporary/made; touch ${base}/outside; ls ${base}/share`;
			const { output } = await run(sandbox, script);
			expect(await readdir(path.join(base, "work"))).toEqual(["made"]);
			expect(await readdir(path.join(base, "temporary"))).toEqual(["made"]);
			expect(output).toContain("outside': Read-only file system");
			expect(output).toContain("\nskills\n");
		});

		it("write only what is gone afterwards in the mode for reading", async () => {
			const { output } = await run(
				create({ mode: "read-only" }),
				`echo a > made; echo b > ${base}/temporary/made && cat ${base}/temporary/made`,
			);
			expect(output).toContain("made: Read-only file system");
			expect(output).toContain("b\n");
			expect([await readdir(path.join(base, "work")), await readdir(path.join(base, "temporary"))]).toEqual([[], []]);
		});

		it("cannot let anybody in, or have programs run, by what is missing in a home directory where they may write", async () => {
			const home = path.join(base, "home");
			await rm(path.join(home, ".ssh"), { recursive: true });
			const script =
				"mkdir -p .ssh .docker; echo x > .ssh/authorized_keys; echo x > .docker/config.json; echo x > .npmrc; ls -A";
			const { output } = await run(create(), script, home);
			expect(output).toContain(".ssh\n");
			expect(await readdir(home)).toEqual([]);
		});

		it("find empty files where start-up files are missing in a home directory where they may write", async () => {
			const home = path.join(base, "home");
			const script =
				"exec 2>/dev/null; cat .gitconfig .npmrc .bashrc && echo readable; echo x > .gitconfig; rm .npmrc; mv .bashrc moved; ls bin && echo listed";
			const { output } = await run(create(), script, home);
			expect(output).toBe("readable\nlisted\n");
			expect(await readdir(home)).toEqual([".ssh"]);
		});

		it("stay protected when another command in the same directory ends", async () => {
			const sandbox = create();
			const work = path.join(base, "work");
			const waits = "until [ -e go ]; do sleep 0.02; done; mkdir -p .vscode; echo x > .vscode/tasks.json; echo $?";
			const first = run(sandbox, waits);
			await run(sandbox, "true");
			await run(sandbox, "true; touch go");
			expect((await first).output).toContain("Read-only file system");
			expect(await readdir(work)).toEqual(["go"]);
		});

		it("neither see the socket of the proxy nor put another in its place", async () => {
			const secret = path.join(base, "service");
			const service = createServer((socket) => {
				socket.on("error", () => undefined);
				socket.end("a service of the machine\n");
			});
			servers.push(service);
			await new Promise<void>((resolve) => service.listen(secret, resolve));
			for (const share of ["share", `share/${"long/".repeat(20)}`]) {
				const sandbox = create({ network: "proxy" }, createProcesses(), path.join(base, share));
				const script = `shopt -s nullglob; for s in ${base}/{share,temporary}/*/s ${base}/share/*/*/s; do echo seen; ln -sf ${secret} $s; done`;
				const ask = "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://a.example/ HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3";
				const { output } = await run(sandbox, `${script}; ${ask}`);
				expect(output).toMatch(/^HTTP\/1\.1 403 /);
				await sandbox.close();
			}
		});

		it("leave no socket, also not that of a process that was killed", async () => {
			const proxies = path.join(base, "share/proxies");
			for (const name of ["99999999-0", `99999999-0-${placeName()}`]) {
				await mkdir(path.join(proxies, name), { recursive: true });
			}
			const sandbox = create({ network: "proxy" });
			await run(sandbox, "true");
			expect(await readdir(proxies)).toEqual([expect.stringMatching(`^${process.pid}-[0-9a-f]+-${placeName()}$`)]);
			await sandbox.close();
			expect(await readdir(proxies)).toEqual([]);
		});

		it("leave the socket of a process elsewhere, whose id says nothing here, for a month", async () => {
			const proxies = path.join(base, "share/proxies");
			const [young, old] = ["99999999-1-00000000", "99999999-2-00000000"];
			for (const name of [young, old]) await mkdir(path.join(proxies, name), { recursive: true });
			const seconds = Date.now() / 1000 - 31 * 86_400;
			await utimes(path.join(proxies, old), seconds, seconds);
			const sandbox = create({ network: "proxy" });
			await run(sandbox, "true");
			await sandbox.close();
			expect(await readdir(proxies)).toEqual([young]);
		});

		it("reach allowed hosts through the proxy and nothing else", async () => {
			const server = createServer((socket) => {
				socket.on("error", () => undefined);
				socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n"));
			});
			servers.push(server);
			await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
			const { port } = server.address() as AddressInfo;
			const sandbox = create({ network: "proxy", allowedDomains: ["a.example"] });
			const ask = (host: string) =>
				`exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://${host}:${port}/ HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3`;
			const since = performance.now();
			expect((await run(sandbox, ask("a.example"))).output).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*hello\n$/);
			const refused = await run(sandbox, `${ask("evil.example")}; exit 1`);
			expect(refused.output).toMatch(/^HTTP\/1\.1 403 /);
			const confinement = await sandbox.confinementFor({ workDir: base, additionalDirs: [] });
			if (confinement === null) throw new Error("there is a confinement");
			expect(sandbox.explainFailure(refused, confinement, since)).toContain("evil.example");
			expect(sandbox.explainFailure(refused, confinement, performance.now() + 1)).toBeNull();
			const direct = await run(sandbox, `echo x > /dev/tcp/127.0.0.1/${port}; env | grep -ci proxy=; ls /proc/self/fd`);
			expect(direct.output).toContain("Connection refused");
			expect(direct.output).toContain("\n8\n");
		});
	});
});
