import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFakeClock, type FakeClock } from "../../../test/support/host/campaign-clock.ts";
import { type PlatformServer, startPlatformServer } from "../../../test/support/host/platform-server.ts";
import { createFailingFiles } from "../../../test/support/store/failing-files.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../test/support/store/memory-files.ts";
import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Files } from "../../ports/files/port.ts";
import { Access, type AccessSettings, isDue, persistTokens, removeTokens } from "./access.ts";
import { readTokens, type Tokens, tokenFile, writeTokens } from "./token-file.ts";

const file = tokenFile("/share", "kimi-code");
const nobody = { ok: false, reason: "Nobody is signed in." };

interface Subject {
	readonly server: PlatformServer;
	readonly files: MemoryFiles;
	readonly clock: FakeClock;
	/** Everything logged, as text. */
	readonly logged: string[];
	/** Opens the sign-in as one more process would. */
	open(more?: Partial<AccessSettings>): Access;
	/** Somebody has signed in, `age` seconds ago, for an hour. */
	signIn(age?: number, more?: Partial<Tokens>): Promise<void>;
	persisted(): Promise<Tokens | null>;
}

async function createSubject(): Promise<Subject> {
	const server = await startPlatformServer();
	onTestFinished(() => server.close());
	const files = createMemoryFiles();
	await files.makeDirectory(path.dirname(file));
	const clock = createFakeClock();
	const logged: string[] = [];
	const take = (message: string, fields: object = {}) => void logged.push(`${message} ${JSON.stringify(fields)}`);
	const log: Log = { debug: take, info: take, warn: take, error: take };
	const platform = { oauthHost: server.url, clientId: "program-7", baseUrl: "" };
	return {
		server,
		files,
		clock,
		logged,
		open: (more = {}) =>
			new Access({ files, clock, log, platform, file, fetch: globalThis.fetch, version: "1.2.3", ...more }),
		async signIn(age = 0, more = {}) {
			const { access_token, refresh_token } = server.issue();
			await writeTokens(files, file, {
				accessToken: access_token,
				refreshToken: refresh_token,
				expiresAt: clock.now() / 1000 - age + 3600,
				expiresIn: 3600,
				scope: "all",
				tokenType: "Bearer",
				...more,
			});
		},
		async persisted() {
			const stored = await readTokens(files, file);
			return stored.kind === "tokens" ? stored.tokens : null;
		},
	};
}

/** The disk is full when the tokens are written for the first time. */
const fullDisk = (files: Files): Files =>
	createFailingFiles(files, {
		at: ({ kind, path: target }) => kind === "replace" && target === file,
		mishap: { kind: "fail", code: "ENOSPC", once: true },
	}).files;

const refresh = (token: string) => ({ client_id: "program-7", grant_type: "refresh_token", refresh_token: token });

describe("isDue", () => {
	const tokens = (expiresIn: number) => ({
		accessToken: "a",
		refreshToken: "r",
		expiresAt: 10_000,
		expiresIn,
		scope: "",
		tokenType: "",
	});

	it.each([
		["half of a long lifetime", 3600, 1800],
		["the last five minutes of a short one", 400, 300],
		["the last five minutes of an unknown one", 0, 300],
	])("from %s on", (_, expiresIn, rest) => {
		expect(isDue(tokens(expiresIn), (10_000 - rest) * 1000)).toBe(false);
		expect(isDue(tokens(expiresIn), (10_000 - rest) * 1000 + 1)).toBe(true);
	});

	it("never when the expiry is unknown", () => {
		expect(isDue({ ...tokens(3600), expiresAt: 0 }, 1e15)).toBe(false);
	});
});

describe("the token", () => {
	it("is read again on each use", async () => {
		const { open, signIn, files } = await createSubject();
		const access = open();
		expect(await access.current()).toEqual(nobody);
		await signIn();
		expect(await access.current()).toEqual({ ok: true, key: "access-token-1" });
		await signIn();
		expect(await access.current()).toEqual({ ok: true, key: "access-token-2" });
		await files.remove(file);
		expect(await access.current()).toEqual(nobody);
		await files.replace(file, "{");
		expect(await access.current()).toEqual({
			ok: false,
			reason: `The sign-in stored in ${file} cannot be used: it is not JSON.`,
		});
	});

	it("is renewed before use when it has expired", async () => {
		const { open, signIn, server } = await createSubject();
		await signIn(3600);
		expect(await open().current()).toEqual({ ok: true, key: "access-token-2" });
		expect(server.refreshes).toBe(1);
	});

	it("is used although expired when it cannot be renewed: a clock may be wrong", async () => {
		const { open, signIn, server, clock } = await createSubject();
		await signIn(3600);
		server.refreshFailure = { status: 503, body: {} };
		const access = open();
		expect(await access.current()).toEqual({ ok: true, key: "access-token-1" });
		expect(await access.current()).toEqual({ ok: true, key: "access-token-1" });
		expect(server.requests).toHaveLength(1);
		clock.advance(60_000);
		await access.current();
		expect(server.requests).toHaveLength(2);
	});
});

describe("a renewal", () => {
	it("starts when half of the lifetime is left, and stores the new tokens", async () => {
		const { open, signIn, server, clock, persisted } = await createSubject();
		await signIn();
		const access = open();
		clock.advance(1_800_000);
		await access.renewIfDue();
		expect(server.requests).toEqual([]);
		clock.advance(1);
		await access.renewIfDue();
		expect(server.requests.map(({ path: at, form }) => [at, form])).toEqual([
			["/api/oauth/token", refresh("refresh-token-1")],
		]);
		expect(await persisted()).toEqual({
			accessToken: "access-token-2",
			refreshToken: "refresh-token-2",
			expiresAt: clock.now() / 1000 + 3600,
			expiresIn: 3600,
			scope: "all",
			tokenType: "Bearer",
		});
		expect(await access.current()).toEqual({ ok: true, key: "access-token-2" });
		await access.renewIfDue();
		expect(server.requests).toHaveLength(1);
	});

	it("retains the refresh token when the platform sends none", async () => {
		const { open, signIn, server, persisted } = await createSubject();
		await signIn(3000);
		server.grant = { refresh_token: null, expires_in: "7200" };
		await open().renewIfDue();
		expect(await persisted()).toMatchObject({
			accessToken: "access-token-2",
			refreshToken: "refresh-token-1",
			expiresIn: 7200,
		});
	});

	it("stores no token of another type than Bearer", async () => {
		const { open, signIn, server, persisted } = await createSubject();
		await signIn(3000);
		server.grant = { token_type: "DPoP" };
		expect(await open().renewed("access-token-1")).toEqual({
			ok: false,
			reason:
				'The sign-in is not renewed any more: the token is of the type "DPoP", and only Bearer tokens can be used.',
		});
		expect(await persisted()).toMatchObject({ accessToken: "access-token-1", tokenType: "Bearer" });
	});

	it("happens at once for a refused token, but not for one that was already renewed", async () => {
		const { open, signIn, server } = await createSubject();
		await signIn();
		const access = open();
		expect(await access.renewed("access-token-1")).toEqual({ ok: true, key: "access-token-2" });
		expect(await access.renewed("access-token-1")).toEqual({ ok: true, key: "access-token-2" });
		expect(server.refreshes).toBe(1);
	});

	it("is shared by all concurrent callers, in one process and in several", async () => {
		const { open, signIn, server } = await createSubject();
		await signIn(3000);
		const processes = [1, 2, 3].map(() => open({ clock: systemClock }));
		const answers = await Promise.all(
			processes.flatMap((access) => [access.renewed("access-token-1"), access.renewed("access-token-1")]),
		);
		expect(answers).toEqual(Array.from({ length: 6 }, () => ({ ok: true, key: "access-token-2" })));
		expect(server).toMatchObject({ refreshes: 1, reuses: 0 });
	});

	it("accepts tokens that a program without the lock has stored", async () => {
		const { open, signIn, server } = await createSubject();
		await signIn();
		server.beforeRefresh = () => signIn();
		expect(await open().renewed("access-token-1")).toEqual({ ok: true, key: "access-token-2" });
		expect(server).toMatchObject({ refreshes: 0, reuses: 1 });
	});

	it("is not requested again after the platform refused it, until the next sign-in", async () => {
		const { open, signIn, server, logged } = await createSubject();
		await signIn(3000);
		server.refreshFailure = { status: 400, body: { error: "invalid_grant", error_description: "gone" } };
		const access = open();
		const refused = { ok: false, reason: "The sign-in is not renewed any more: gone." };
		expect(await access.renewed("access-token-1")).toEqual(refused);
		expect(await access.renewed("access-token-1")).toEqual(refused);
		await access.renewIfDue();
		expect(await access.current()).toEqual({ ok: true, key: "access-token-1" });
		expect(server.requests).toHaveLength(1);
		expect(logged).toEqual([`A sign-in could not be renewed. ${JSON.stringify({ path: file, reason: "gone" })}`]);
		await signIn(3000);
		server.refreshFailure = null;
		await access.renewIfDue();
		expect(await access.current()).toEqual({ ok: true, key: "access-token-3" });
	});

	it("is retried a minute after a transient error, and at once for a refused token", async () => {
		const { open, signIn, server, clock } = await createSubject();
		await signIn(3000);
		server.refreshFailure = { status: 502, body: "<html>" };
		const access = open();
		await access.renewIfDue();
		await access.renewIfDue();
		expect(server.requests).toHaveLength(1);
		expect(await access.renewed("access-token-1")).toEqual({
			ok: false,
			reason: expect.stringMatching(/^The sign-in could not be renewed: 127\.0\.0\.1:\d+ answered with HTTP 502\.$/),
		});
		expect(server.requests).toHaveLength(2);
		server.refreshFailure = null;
		clock.advance(60_000);
		await access.renewIfDue();
		expect(await access.current()).toEqual({ ok: true, key: "access-token-2" });
	});

	it("needs a refresh token, and sends no request without one", async () => {
		const { open, signIn, server } = await createSubject();
		await signIn(3000, { refreshToken: "" });
		const access = open();
		await access.renewIfDue();
		expect(await access.renewed("access-token-1")).toEqual({ ok: false, reason: "The sign-in cannot be renewed." });
		expect(server.requests).toEqual([]);
	});

	it("does not restore a sign-in that was removed meanwhile", async () => {
		const { open, signIn, server, files, persisted } = await createSubject();
		await signIn(3000);
		let removed: Promise<boolean> | null = null;
		server.beforeRefresh = async () => {
			removed = removeTokens({ files, clock: systemClock, file });
		};
		await open({ clock: systemClock }).renewIfDue();
		expect(await removed).toBe(true);
		expect(await persisted()).toBeNull();
		expect(server.refreshes).toBe(1);
		expect(await open().renewed("access-token-1")).toEqual(nobody);
	});

	it("is used although it cannot be persisted, and persisted as soon as possible", async () => {
		const { open, signIn, server, files, persisted } = await createSubject();
		await signIn(3000);
		const access = open({ files: fullDisk(files) });
		expect(await access.renewed("access-token-1")).toEqual({ ok: true, key: "access-token-2" });
		expect(await persisted()).toMatchObject({ refreshToken: "refresh-token-1" });
		expect(await access.current()).toEqual({ ok: true, key: "access-token-2" });
		await access.renewIfDue();
		expect(await persisted()).toMatchObject({ accessToken: "access-token-2", refreshToken: "refresh-token-2" });
		expect(server).toMatchObject({ refreshes: 1, reuses: 0 });
	});

	it("that cannot be persisted does not overwrite a new sign-in or a removed one", async () => {
		const { open, signIn, files, persisted } = await createSubject();
		for (const change of [() => signIn(), () => files.remove(file)]) {
			await signIn(3000);
			const access = open({ files: fullDisk(files) });
			const { accessToken = "" } = (await persisted()) ?? {};
			expect(await access.renewed(accessToken)).toMatchObject({ ok: true });
			await change();
			const after = await persisted();
			await access.renewIfDue();
			expect(await persisted()).toEqual(after);
			expect(await access.current()).toMatchObject(after === null ? nobody : { key: after.accessToken });
		}
	});

	it("reports its end", async () => {
		const { open, signIn, server } = await createSubject();
		await signIn(3000);
		const access = open();
		let isOver = false;
		server.beforeRefresh = () => new Promise((resolve) => setImmediate(resolve));
		void access.renewed("access-token-1").then(() => {
			isOver = true;
		});
		await access.settled();
		expect(isOver).toBe(true);
		await access.settled();
	});

	it("writes no token to the log", async () => {
		const { open, signIn, server, logged, files } = await createSubject();
		await signIn(3000);
		const access = open({ files: fullDisk(files) });
		await access.renewed("access-token-1");
		server.issue();
		await access.renewed("access-token-2");
		expect(logged).toHaveLength(3);
		expect(logged.join("\n")).not.toMatch(/(access|refresh)-token-\d/);
	});
});

describe("storing a sign-in", () => {
	it("creates the directory, and removing the sign-in leaves no files", async () => {
		const files = createMemoryFiles();
		const port = { files, clock: createFakeClock(), file };
		const tokens = { accessToken: "a", refreshToken: "r", expiresAt: 0, expiresIn: 0, scope: "", tokenType: "" };
		expect(await removeTokens(port)).toBe(false);
		await persistTokens(port, tokens);
		expect(await readTokens(files, file)).toEqual({ kind: "tokens", tokens });
		expect(await removeTokens(port)).toBe(true);
		expect(await files.list(path.dirname(file))).toEqual([]);
	});
});
