// Signing in and out in a running program, against a platform on loopback.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHostServices } from "../../../test/support/host/host-services.ts";
import { plainNetwork } from "../../../test/support/host/network.ts";
import { type PlatformServer, startPlatformServer } from "../../../test/support/host/platform-server.ts";
import { createMemoryLog } from "../../../test/support/store/store-directory.ts";
import type { SessionHandle } from "../../api/kernel.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import { systemClock } from "../../base/clock.ts";
import { randomIdentifiers } from "../../base/ids.ts";
import { createCurrentSettings } from "../../host/current-settings.ts";
import { plainSessionOptions } from "../../kernel/compose/session-options.ts";
import { plainRequest } from "../../kernel/hosting/hosted-options.ts";
import { Kernel } from "../../kernel/hosting/kernel.ts";
import { SessionHost } from "../../kernel/hosting/session-host.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import type { Files } from "../../ports/files/port.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import { readConfiguration } from "../../settings/config/configuration-reader.ts";
import { createAccount } from "./account.ts";

const never = new AbortController().signal;
const echo = `default_model = "m"
[providers.p]
type = "_echo"
base_url = ""
api_key = ""
[models.m]
provider = "p"
model = "echo"
max_context_size = 100000
`;

interface SubjectOptions {
	/** The settings file; null for none. */
	readonly settings?: string | null;
	readonly variables?: Readonly<Record<string, string>>;
	readonly files?: (files: Files) => Files;
}

async function createSubject({
	settings = null,
	variables = {},
	files: changed = (files) => files,
}: SubjectOptions = {}) {
	const server = await startPlatformServer();
	onTestFinished(() => server.close());
	const root = await mkdtemp(path.join(tmpdir(), "account-"));
	onTestFinished(() => rm(root, { recursive: true, force: true }));
	const [shareDir, workDir] = [path.join(root, "share"), path.join(root, "work")];
	await Promise.all([shareDir, workDir].map((directory) => mkdir(directory)));
	const configFile = path.join(shareDir, "config.toml");
	if (settings !== null) await writeFile(configFile, settings);
	const files = changed(createDiskFiles());
	const environment = {
		KIMI_CODE_OAUTH_HOST: server.url,
		KIMI_CODE_BASE_URL: `${server.url}/v1`,
		...variables,
	};
	const log = createMemoryLog();
	const read = async () => (await readConfiguration({ kind: "default", shareDir }, files, log)).configuration;
	const current = createCurrentSettings(await read(), read);
	const hostServices = createHostServices({ files, clock: systemClock, environment, shareDir, home: root, log });
	const kernel = new Kernel({
		store: createMemoryStore(),
		get configuration() {
			return current.current();
		},
		hostServices,
	});
	onTestFinished(() => kernel.close());
	const sessions = new SessionHost({
		kernel,
		get configuration() {
			return current.current();
		},
		environment,
		workDir,
		options: plainSessionOptions,
		clock: systemClock,
		identifiers: randomIdentifiers,
		log,
	});
	const account = createAccount({
		files,
		shareDir,
		environment,
		clock: systemClock,
		fetch: plainNetwork.fetch,
		version: "1.2.3",
		log,
		reload: () => current.reload(),
	});
	const tokenFile = path.join(shareDir, "credentials", "kimi-code.json");
	return { server, account, sessions, configFile, tokenFile, log };
}

/** Runs a turn; the text that the model said, and the outcome. */
async function prompt({ session, startTurn }: SessionHandle) {
	const { events, close } = await session.attach({ client: null, tools: [], capabilities: [], hooks: null });
	const seen: AgentEvent["body"][] = [];
	await startTurn("text: an echo");
	for await (const batch of events) {
		seen.push(...batch.map(({ body }) => body));
		if (seen.some(({ type }) => type === "turn.ended")) break;
	}
	close();
	const text = seen
		.map((body) => (body.type === "content.delta" && body.part.type === "text" ? body.part.text : ""))
		.join("");
	return { text, ended: seen.find(({ type }) => type === "turn.ended") };
}

/** Resolves when the platform is asked for tokens. */
async function askedForTokens(server: PlatformServer): Promise<void> {
	while (!server.requests.some(({ path: asked }) => asked === "/api/oauth/token")) {
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

describe("signing in", () => {
	it("shows address and code once; sessions that are created afterwards use the models of the platform", async () => {
		const { server, account, sessions, tokenFile, log } = await createSubject();
		await expect(sessions.create(plainRequest)).rejects.toMatchObject({ code: "model-not-set" });
		expect(await sessions.models()).toEqual({ options: [], chosen: null });
		server.beforeGrant.push("authorization_pending");
		const shown: unknown[] = [];
		await account.signIn((what) => shown.push(what), never);
		expect(shown).toEqual([{ url: `${server.url}/device?code=ABCD-1234`, code: "ABCD-1234" }]);
		expect(existsSync(tokenFile)).toBe(true);
		const { options, chosen } = await sessions.models();
		expect(options.map(({ alias }) => alias)).toEqual(["kimi-code/kimi-for-coding", "kimi-code/kimi-small"]);
		expect(chosen).toBe("kimi-code/kimi-for-coding");
		const plain = await sessions.create(plainRequest);
		expect(plain.info).toMatchObject({ model: "kimi-for-coding", provider: "managed:kimi-code" });
		expect((await prompt(plain)).text).toBe("Here I am.");
		const other = await sessions.create({ ...plainRequest, model: "kimi-code/kimi-small" });
		expect((await prompt(other)).text).toBe("Here I am.");
		expect(log.lines.map(({ message }) => message)).toContain("Somebody signed in.");
	});

	it("leaves sessions that run alone, and the default model of the settings", async () => {
		const { server, account, sessions } = await createSubject({ settings: echo });
		const before = await sessions.create(plainRequest);
		server.beforeGrant.push(...Array<string>(5).fill("authorization_pending"));
		const signingIn = account.signIn(() => {}, never);
		expect((await prompt(before)).text).toBe("an echo");
		await signingIn;
		expect((await prompt(before)).text).toBe("an echo");
		expect((await sessions.create(plainRequest)).info.model).toBe("echo");
		const after = await sessions.create({ ...plainRequest, model: "kimi-code/kimi-small" });
		expect((await prompt(after)).text).toBe("Here I am.");
	});

	it("again renews the sign-in of sessions that run", async () => {
		const { server, account, sessions } = await createSubject();
		await account.signIn(() => {}, never);
		const session = await sessions.create(plainRequest);
		server.revokeAccess();
		server.refreshFailure = { status: 400, body: { error: "invalid_grant" } };
		expect((await prompt(session)).ended).toMatchObject({ outcome: { error: { code: "login-expired" } } });
		server.refreshFailure = null;
		await account.signIn(() => {}, never);
		expect((await prompt(session)).text).toBe("Here I am.");
	});

	it("ends with its signal, and writes nothing", async () => {
		const { server, account, configFile, tokenFile } = await createSubject({ settings: echo });
		server.beforeGrant.push(...Array<string>(1000).fill("authorization_pending"));
		const stopping = new AbortController();
		const signingIn = account.signIn(() => {}, stopping.signal);
		await askedForTokens(server);
		stopping.abort();
		await expect(signingIn).rejects.toMatchObject({ code: "login-expired", message: "The sign-in was stopped." });
		await expect(account.signIn(() => {}, stopping.signal)).rejects.toMatchObject({ code: "login-expired" });
		expect(await readFile(configFile, "utf8")).toBe(echo);
		expect(existsSync(tokenFile)).toBe(false);
	});

	it.each([
		["access_denied", "login-expired", "The sign-in was refused in the browser."],
		["expired_token", "login-expired", "Nobody confirmed the code in time. Sign in again for a new one."],
		["invalid_scope", "provider-failed", "The sign-in server refuses: invalid_scope."],
		["invalid_client", "invalid-input", expect.stringContaining("Set oauth_client_id")],
	])("that is answered with %s fails as %s", async (answer, code, message) => {
		const { server, account, tokenFile } = await createSubject({ settings: echo });
		server.beforeGrant.push(answer);
		const signingIn = account.signIn(() => {}, never);
		await expect(signingIn).rejects.toMatchObject({ name: "KernelError", code, message });
		expect(existsSync(tokenFile)).toBe(false);
	});

	it("fails with the platform's words when it does not list its models, and writes nothing", async () => {
		const { server, account, configFile, tokenFile } = await createSubject({ settings: echo });
		server.refusal = 403;
		await expect(account.signIn(() => {}, never)).rejects.toMatchObject({
			code: "provider-failed",
			message: expect.stringContaining("answered with HTTP 403 (Not for this client)"),
		});
		expect(await readFile(configFile, "utf8")).toBe(echo);
		expect(existsSync(tokenFile)).toBe(false);
	});

	it("fails without showing anything when the platform cannot be reached or sends no code", async () => {
		const shown: unknown[] = [];
		const { account } = await createSubject({ variables: { KIMI_CODE_OAUTH_HOST: "http://127.0.0.1:9" } });
		await expect(account.signIn((what) => shown.push(what), never)).rejects.toMatchObject({
			code: "provider-failed",
			message: expect.stringContaining("The sign-in server cannot be reached"),
		});
		const other = await createSubject();
		other.server.device = { user_code: 1 };
		await expect(other.account.signIn((what) => shown.push(what), never)).rejects.toMatchObject({
			code: "provider-failed",
		});
		expect(shown).toEqual([]);
	});

	it("names what is wrong with the settings before anybody goes to a browser", async () => {
		const { server, account, configFile } = await createSubject();
		await writeFile(configFile, "default_model = 1\n");
		await expect(account.signIn(() => {}, never)).rejects.toMatchObject({
			code: "invalid-input",
			message: expect.stringContaining("default_model"),
		});
		expect(server.requests).toEqual([]);
	});

	it("reports a disk that is full as such", async () => {
		const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
		const { account } = await createSubject({
			settings: echo,
			files: (files) => ({ ...files, replace: () => Promise.reject(full) }),
		});
		await expect(account.signIn(() => {}, never)).rejects.toMatchObject({
			code: "storage-failed",
			message: full.message,
		});
	});
});

describe("signing out", () => {
	it("removes tokens and models; sessions that run need a sign-in, new ones a model", async () => {
		const { account, sessions, configFile, tokenFile } = await createSubject();
		await account.signIn(() => {}, never);
		const session = await sessions.create(plainRequest);
		await account.signOut();
		expect(existsSync(tokenFile)).toBe(false);
		expect(await readFile(configFile, "utf8")).not.toContain("kimi-code");
		expect((await sessions.models()).options).toEqual([]);
		await expect(sessions.create(plainRequest)).rejects.toMatchObject({ code: "model-not-set" });
		expect((await prompt(session)).ended).toMatchObject({ outcome: { error: { code: "login-expired" } } });
	});

	it("succeeds when nobody is signed in", async () => {
		const { account, configFile } = await createSubject({ settings: echo });
		await account.signOut();
		expect(await readFile(configFile, "utf8")).toBe(echo);
	});
});
