import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { createDeferred } from "../../base/deferred.ts";
import { KernelError } from "../../base/errors.ts";
import type { RpcId, RpcReply } from "../../ports/rpc/envelope.ts";
import type { Account } from "../shared/dialect.ts";
import { plainCodec } from "./codec.ts";
import type { AttachedClient } from "./sessions/client-side.ts";
import { SignIn, type SignInKernel, signInMethods } from "./sign-in.ts";
import { clientCapabilitiesSchema } from "./wire.ts";

const never = new AbortController().signal;
const capabilitiesOf = (declared: object) => v.parse(clientCapabilitiesSchema, declared);
const opensAddresses = { elicitation: { url: {} } };

/** A sign-in whose account and client do what the test says. */
function createSubject(declared: object, { hasAccount = true, chosen = null as string | null } = {}) {
	const sent: unknown[] = [];
	const open = new Map<RpcId, (reply: RpcReply) => void>();
	const confirmed = createDeferred<void>();
	let signOuts = 0;
	const account: Account = {
		async signIn(show, signal) {
			show({ url: "https://sign.in/x", code: "AB-12" });
			const aborted = new Promise<never>((_, reject) => {
				signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
			});
			await Promise.race([confirmed.promise, aborted]);
		},
		async signOut() {
			signOuts += 1;
		},
	};
	const kernelApi: SignInKernel = {
		account: hasAccount ? account : null,
		identifiers: { uuid: () => "e-1", hex: () => "0" },
		sessions: { models: async () => ({ options: [], chosen }) },
	};
	const peer = {
		notify: (method: string, params: unknown) => void sent.push({ method, params }),
		call(id: RpcId, method: string, params: unknown, onReply: (reply: RpcReply) => void) {
			sent.push({ id, method, params });
			open.set(id, onReply);
		},
		isWaiting: (id: RpcId) => open.has(id),
		withdraw: (id: RpcId) => void open.delete(id),
	};
	const client: AttachedClient = { capabilities: capabilitiesOf(declared), info: null, createCodec: () => plainCodec };
	const reply = (result: unknown) => {
		const onReply = open.get("e-1");
		open.delete("e-1");
		onReply?.({ kind: "result", result });
	};
	const signIn = new SignIn(kernelApi, peer, () => client);
	return { signIn, sent, reply, confirm: () => confirmed.resolve(), signOuts: () => signOuts };
}

const shown = {
	id: "e-1",
	method: "elicitation/create",
	params: {
		mode: "url",
		message: "Open the address, and confirm that it shows the code AB-12.",
		url: "https://sign.in/x",
		elicitationId: "e-1",
		requestId: 7,
	},
};

describe("the ways to sign in", () => {
	it.each([
		[{}, ["login"]],
		[opensAddresses, ["login"]],
		[{ auth: { terminal: true } }, ["login-terminal"]],
		[{ _meta: { "terminal-auth": true } }, ["login-terminal"]],
		[{ auth: { terminal: true }, ...opensAddresses }, ["login", "login-terminal"]],
	])("of a client that declares %j are %j", (declared, ids) => {
		expect(signInMethods(capabilitiesOf(declared)).map(({ id }) => id)).toEqual(ids);
	});
});

describe("a sign-in", () => {
	it("shows its address, and says when it is complete", async () => {
		const { signIn, sent, reply, confirm } = createSubject(opensAddresses);
		const running = signIn.run("login", 7, never);
		expect(sent).toEqual([shown]);
		reply({ action: "accept" });
		confirm();
		await running;
		expect(sent).toEqual([shown, { method: "elicitation/complete", params: { elicitationId: "e-1" } }]);
	});

	it("withdraws an address that the client still shows", async () => {
		const { signIn, sent, confirm } = createSubject(opensAddresses);
		const running = signIn.run("login", 7, never);
		confirm();
		await running;
		expect(sent.slice(1)).toEqual([{ method: "$/cancel_request", params: { requestId: "e-1" } }]);
	});

	it.each([{ action: "decline" }, { action: "cancel" }, { action: "yes" }, null])(
		"ends when the address is answered with %j",
		async (answer) => {
			const { signIn, sent, reply } = createSubject(opensAddresses);
			const running = signIn.run("login", 7, never);
			reply(answer);
			await expect(running).rejects.toMatchObject({ code: "login-expired", message: "The sign-in was declined." });
			expect(sent.slice(1)).toEqual([{ method: "elicitation/complete", params: { elicitationId: "e-1" } }]);
		},
	);

	it("ends with its request, whose address is withdrawn", async () => {
		const { signIn, sent } = createSubject(opensAddresses);
		const withdrawal = new AbortController();
		const running = signIn.run("login", 7, withdrawal.signal);
		withdrawal.abort();
		await expect(running).rejects.toMatchObject({ name: "RequestCancelledError" });
		expect(sent.slice(1)).toEqual([{ method: "$/cancel_request", params: { requestId: "e-1" } }]);
	});

	it.each([
		["cannot open addresses", {}, {}],
		["is served without accounts", opensAddresses, { hasAccount: false }],
	])("of a client that %s only looks for a model", async (_, declared, more) => {
		const { signIn, sent } = createSubject(declared, more);
		await expect(signIn.run("login", 7, never)).rejects.toMatchObject({ code: "login-expired" });
		await createSubject(declared, { ...more, chosen: "m" }).signIn.run("login", 7, never);
		expect(sent).toEqual([]);
	});

	it("is refused by its name when the client was not offered it", async () => {
		const { signIn } = createSubject(opensAddresses);
		await expect(signIn.run("magic", 7, never)).rejects.toMatchObject({
			code: "invalid-input",
			message: 'There is no sign-in "magic"; there are login.',
		});
	});
});

describe("a sign-out", () => {
	it("signs the account out, and is refused where there is none", async () => {
		const { signIn, signOuts } = createSubject({});
		expect(await signIn.signOut()).toEqual({});
		expect(signOuts()).toBe(1);
		const without = createSubject({}, { hasAccount: false });
		await expect(without.signIn.signOut()).rejects.toBeInstanceOf(KernelError);
	});
});
