import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import { plainNetwork } from "../../../test/support/host/network.ts";
import { type PlatformServer, startPlatformServer } from "../../../test/support/host/platform-server.ts";
import { createScriptedModel, done, say } from "../../../test/support/models/scripted-model.ts";
import { createSessionSubject } from "../../../test/support/sessions/session-subject.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { createDeferred } from "../../base/deferred.ts";
import { silentLog } from "../../base/log.ts";
import { tokenFile, writeTokens } from "../../settings/credentials/token-file.ts";
import { createKeyRing, type KeyHolder, type SessionKeys } from "./key-ring.ts";

const oauth = { storage: "file", key: "oauth/kimi-code" } as const;
const signedIn: KeyHolder = { apiKey: "", oauth };
const plain: KeyHolder = { apiKey: "sk-plain", oauth: null };
const never = new AbortController().signal;

async function createSubject() {
	const server = await startPlatformServer();
	onTestFinished(() => server.close());
	const files = createMemoryFiles();
	const clock = createFakeClock();
	const file = tokenFile("/share", "kimi-code");
	await files.makeDirectory(path.dirname(file));
	const keys = createKeyRing({
		files,
		clock,
		log: silentLog,
		shareDir: "/share",
		environment: { KIMI_CODE_OAUTH_HOST: server.url },
		platform: { oauthHost: "http://127.0.0.1:9", oauthClientId: "" },
		version: "1.2.3",
		loginCommand: "kimi login",
		fetch: plainNetwork.fetch,
	});
	const signIn = async (age: number) => {
		const { access_token, refresh_token } = server.issue();
		const expiresAt = clock.now() / 1000 - age + 3600;
		const common = { expiresAt, expiresIn: 3600, scope: "", tokenType: "Bearer" };
		await writeTokens(files, file, { ...common, accessToken: access_token, refreshToken: refresh_token });
	};
	return { server, files, clock, keys, signIn };
}

/** Resolves when the platform receives a renewal request. */
function nextRefresh(server: PlatformServer): Promise<void> {
	const asked = createDeferred<void>();
	server.beforeRefresh = async () => asked.resolve();
	return asked.promise;
}

describe("the key of a provider", () => {
	it("comes from the settings when they have no sign-in", async () => {
		const { keys } = await createSubject();
		expect(await keys.source(plain)).toBeNull();
		expect(await keys.keyOf(plain)).toBe("sk-plain");
	});

	it.each(["file", "keyring"] as const)("is the stored token of a sign-in with storage %s", async (storage) => {
		const { keys, signIn } = await createSubject();
		const holder = { apiKey: "", oauth: { ...oauth, storage } };
		expect(await keys.keyOf(holder)).toBe("");
		await signIn(0);
		expect(await keys.keyOf(holder)).toBe("access-token-1");
		const source = await keys.source(holder);
		expect(source?.loginCommand).toBe("kimi login");
		expect(await source?.current()).toEqual({ ok: true, key: "access-token-1" });
		expect(await source?.renewed("access-token-1")).toEqual({ ok: true, key: "access-token-2" });
	});

	it("comes from the settings while nobody is signed in", async () => {
		const { keys, signIn } = await createSubject();
		const holder = { apiKey: "sk-spare", oauth };
		expect(await keys.keyOf(holder)).toBe("sk-spare");
		expect(await (await keys.source(holder))?.renewed("sk-spare")).toEqual({
			ok: false,
			reason: "Nobody is signed in.",
		});
		await signIn(0);
		expect(await keys.keyOf(holder)).toBe("access-token-1");
	});

	it("is empty when the settings name an impossible sign-in", async () => {
		const { keys } = await createSubject();
		const holder = { apiKey: "", oauth: { ...oauth, key: "../other" } };
		expect(await keys.keyOf(holder)).toBe("");
		expect(await (await keys.source(holder))?.current()).toEqual({
			ok: false,
			reason: expect.stringContaining('"../other"'),
		});
	});
});

describe("sign-ins in use", () => {
	it("are checked every minute while the session lives", async () => {
		const { keys, server, clock, signIn } = await createSubject();
		await signIn(0);
		keys.start();
		expect(clock.waiting()).toBe(0);
		await keys.keyOf(signedIn);
		expect(clock.waiting()).toBe(1);
		const renewed = nextRefresh(server);
		for (let minutes = 0; minutes < 31; minutes += 1) {
			expect(server.requests).toEqual([]);
			clock.advance(60_000);
			await expect.poll(() => clock.waiting(), { interval: 1 }).toBeGreaterThan(0);
		}
		await renewed;
		await expect.poll(() => keys.keyOf(signedIn), { interval: 1 }).toBe("access-token-2");
		await keys.close(never);
		expect(clock.waiting()).toBe(0);
	});

	it("require no timer when there are none, before the start and after the end", async () => {
		const { keys, clock } = await createSubject();
		await keys.keyOf(plain);
		keys.start();
		expect(keys.renewDue(never)).toBeUndefined();
		expect(clock.waiting()).toBe(0);
		await keys.close(never);
		await keys.keyOf(signedIn);
		expect(clock.waiting()).toBe(0);
	});

	it("are not waited for after an abort, and still renewed", async () => {
		const { keys, server, signIn } = await createSubject();
		await signIn(3000);
		await keys.source(signedIn);
		const open = createDeferred<void>();
		const asked = createDeferred<void>();
		server.beforeRefresh = () => {
			asked.resolve();
			return open.promise;
		};
		const stopping = new AbortController();
		const renewing = keys.renewDue(stopping.signal);
		await asked.promise;
		stopping.abort();
		await renewing;
		await keys.close(AbortSignal.abort());
		const closing = keys.close(never);
		open.resolve();
		await closing;
		expect(await keys.keyOf(signedIn)).toBe("access-token-2");
		expect(server.refreshes).toBe(1);
	});
});

describe("the session", () => {
	const createKeys = (seen: string[], renewDue: SessionKeys["renewDue"]): SessionKeys => ({
		start: () => void seen.push("start"),
		renewDue: (signal) => {
			seen.push("renew");
			return renewDue(signal);
		},
		close: async () => void seen.push("close"),
	});

	it("renews its sign-ins from start to end, and checks them before a turn is emitted", async () => {
		const seen: string[] = [];
		const renewed = createDeferred<void>();
		const model = createScriptedModel([[say("ok"), done()]]);
		const { session, attach } = await createSessionSubject(model, [], {
			keys: createKeys(seen, () => renewed.promise),
		});
		await session.start();
		const client = attach();
		// It is answered once the beginning of the turn is stored.
		const started = session.send({ type: "turn.start", input: "hi" });
		await new Promise((resolve) => setImmediate(resolve));
		expect([seen, client.bodies]).toEqual([["start", "renew"], []]);
		renewed.resolve();
		await started;
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "finished" } });
		await session.close(never);
		expect(seen).toEqual(["start", "renew", "close"]);
	});

	it("can be cancelled while they are renewed", async () => {
		const renewing = createDeferred<void>();
		const keys = createKeys([], (signal) => {
			renewing.resolve();
			return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
		});
		const { session, attach } = await createSessionSubject(createScriptedModel([]), [], { keys });
		const client = attach();
		const started = session.send({ type: "turn.start", input: "hi" });
		await renewing.promise;
		await session.send({ type: "turn.cancel" });
		await started;
		expect(await client.next("turn.ended")).toMatchObject({ outcome: { status: "cancelled" } });
	});
});
