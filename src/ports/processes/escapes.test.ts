// Attempts to get out of the sandbox from inside real commands. Each script is first run without a sandbox, where it has
// to work: an attempt that cannot work on this machine shows nothing and is skipped with that reason.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasSandbox } from "../../../test/support/executable/bubblewrap.ts";
import { type Attempt, attempts, type Evidence } from "../../../test/support/sandbox/attempts.ts";
import { createProcesses } from "./children.ts";
import type { Confinement } from "./port.ts";

const never = new AbortController().signal;
const systemPath = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";
const processes = createProcesses({ contain: "off" });
/** What the servers of this test received. */
let heard = "";
const servers: Server[] = [];
let datagrams: DatagramSocket | null = null;
let tcpPort = 0;
let udpPort = 0;

async function listen(place: { path: string } | { port: number; host: string }): Promise<Server> {
	const server = createServer((socket) => {
		socket.on("error", () => undefined);
		socket.on("data", (bytes) => {
			heard += bytes.toString("latin1");
			socket.end();
		});
	});
	await new Promise<void>((resolve) => server.listen(place, resolve));
	servers.push(server);
	return server;
}

/** Whether the machine has what a script needs: programs of the system, or an architecture. */
function lacks({ needs = [] }: Attempt): string | null {
	const has = (need: string) =>
		need === "x64"
			? process.arch === need
			: spawnSync("/bin/sh", ["-c", `command -v ${need}`], { env: { PATH: systemPath } }).status === 0;
	return needs.find((need) => !has(need)) ?? null;
}

interface Fixture {
	readonly base: string;
	readonly secret: string;
	readonly mark: string;
	readonly host: ChildProcess;
	readonly environment: Record<string, string>;
	readonly confinement: Confinement;
	end(): Promise<void>;
}

async function makeFixture(): Promise<Fixture> {
	const base = await mkdtemp(path.join(tmpdir(), "escapes-"));
	const [secret, mark] = [crypto.randomUUID(), `agentwire-${crypto.randomUUID()}`];
	const at = (file: string) => path.join(base, file);
	const directories = ["outside", "home/.ssh", "real-credentials", "work/.git/hooks", "work/deep/er"];
	for (const directory of directories) await mkdir(at(directory), { recursive: true });
	const originals = ["outside/target", "home/.bashrc", "work/.git/config", "work/deep/er/keep"];
	for (const file of originals) await writeFile(at(file), "# original\n");
	const secrets = ["home/.netrc", "home/.ssh/key", "real-credentials/token", "work/deep/secret"];
	for (const file of secrets) await writeFile(at(file), secret);
	await symlink(at("real-credentials"), at("home/.aws"));
	const before = servers.length;
	const [unix, inner, abstract] = [at("outside/s"), at("work/s"), `agentwire-${crypto.randomUUID()}`];
	for (const place of [unix, inner]) await listen({ path: place });
	// Node pads abstract names in some versions; a name without the padding reaches both.
	await listen({ path: `\0${abstract}` }).catch(() => undefined);
	const input = await open(at("home/.netrc"));
	const host = spawn("/bin/sleep", ["60"], {
		cwd: at("outside"),
		env: { SECRET: secret, MARK: mark },
		stdio: [input.fd, "ignore", "ignore"],
		argv0: mark,
	});
	await input.close();
	const work = at("work");
	const environment = {
		...{ PATH: systemPath, HOME: at("home"), BASE: base, OUT: at("outside"), WORK: work, MARK: mark },
		...{ HOST: String(host.pid), TCP: String(tcpPort), UDP: String(udpPort), UNIX: unix, INNER: inner },
		ABSTRACT: abstract,
	};
	const guarded = [".git/hooks", ".git/config", ".vscode", ".mcp.json", ".agentwire", "deep/er/keep"];
	return {
		base,
		secret,
		mark,
		host,
		environment,
		confinement: {
			writable: [work],
			scratch: [],
			readOnly: [...guarded.map((file) => path.join(work, file)), at("home/.bashrc")],
			missingAsFiles: [path.join(work, ".git/config"), path.join(work, ".mcp.json"), at("home/.bashrc")],
			removed: [path.join(work, ".git/commondir")],
			visible: [],
			hidden: [...["home/.netrc", "home/.ssh", "home/.aws", "work/deep/secret"].map(at), "/run"],
			network: { kind: "none" },
		},
		async end() {
			host.kill("SIGKILL");
			for (const server of servers.splice(before)) server.close();
			for (const place of ["/dev/shm", "/tmp"]) await rm(path.join(place, mark), { force: true });
			await rm(base, { recursive: true, force: true });
		},
	};
}

async function isShown(evidence: Evidence, fixture: Fixture, output: string): Promise<boolean> {
	const at = (file: string) =>
		file.startsWith("/") ? file.replace("MARK", fixture.mark) : path.join(fixture.base, file);
	switch (evidence.kind) {
		case "reached":
			return output.includes("REACHED");
		case "secret":
			return output.includes(fixture.secret);
		case "changed":
			return !existsSync(at(evidence.file)) || readFileSync(at(evidence.file), "utf8") !== "# original\n";
		case "appeared":
			return existsSync(at(evidence.file));
		case "received":
			for (let turn = 0; turn < 20 && !heard.includes(fixture.secret); turn += 1) {
				await new Promise((resolve) => setTimeout(resolve, 5));
			}
			return heard.includes(fixture.secret);
		case "killed": {
			const { host } = fixture;
			if (host.exitCode === null && host.signalCode === null) {
				await Promise.race([
					new Promise((resolve) => host.once("exit", resolve)),
					new Promise((resolve) => setTimeout(resolve, 100)),
				]);
			}
			return host.signalCode !== null;
		}
	}
}

/** Runs the script once in a fixture of its own. */
async function attempt({ script, control, evidence }: Attempt, isConfined: boolean) {
	const fixture = await makeFixture();
	const { confinement } = fixture;
	const needsSecret = evidence.kind === "received";
	try {
		const outcome = await processes.run(
			{
				file: "/bin/bash",
				arguments: ["-c", isConfined ? script : (control ?? script)],
				workDir: path.join(fixture.base, "work"),
				environment: { ...fixture.environment, ...(needsSecret ? { SECRET: fixture.secret } : {}) },
				outputLimit: 1_000_000,
				timeout: 20_000,
				...(isConfined ? { confinement } : {}),
			},
			never,
		);
		const { ended, output } = outcome;
		const left = existsSync(path.join(fixture.base, "work")) ? await readdir(path.join(fixture.base, "work")) : [];
		return { ended, output, left, works: await isShown(evidence, fixture, output) };
	} finally {
		await fixture.end();
	}
}

describe.runIf(hasSandbox())("in the sandbox nothing comes of", () => {
	beforeAll(async () => {
		const address = (await listen({ port: 0, host: "0.0.0.0" })).address() as AddressInfo;
		tcpPort = address.port;
		const socket = createSocket("udp4", (bytes) => {
			heard += bytes.toString("latin1");
		});
		await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
		udpPort = socket.address().port;
		datagrams = socket;
	});

	afterAll(() => {
		for (const server of servers.splice(0)) server.close();
		datagrams?.close();
	});

	let working = 0;

	it.for(attempts)("$name", async (trial, { skip }) => {
		const missing = lacks(trial);
		if (missing !== null) skip(`${missing} is missing`);
		const control = await attempt(trial, false);
		const confined = await attempt(trial, true);
		expect(confined.ended.kind).not.toBe("not-started");
		expect(confined.works).toBe(false);
		for (const placeholder of [".vscode", ".mcp.json", ".agentwire"]) expect(confined.left).not.toContain(placeholder);
		if (!control.works) skip("it does not work here without a sandbox either");
		working += 1;
	});

	it.runIf(process.getuid?.() === 0 && process.arch === "x64")("at least sixty attempts that work without it", () => {
		expect(working).toBeGreaterThanOrEqual(60);
	});
});
