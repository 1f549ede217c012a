import * as v from "valibot";
import { modelAdvice } from "../../api/values/model-advice.ts";
import { KernelError } from "../../base/errors.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { RpcId, RpcReply } from "../../ports/rpc/envelope.ts";
import type { HostApi } from "../shared/dialect.ts";
import { quoted, RequestCancelledError, withAdvice } from "./errors.ts";
import type { AttachedClient } from "./sessions/client-side.ts";
import type { AuthMethod, ClientCapabilities } from "./wire.ts";
import { elicitationResultSchema } from "./wire-updates.ts";

export async function advised<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (thrown) {
		throw withAdvice(thrown);
	}
}

/** The sign-in methods the client supports. Never empty, because clients expect one. */
export function signInMethods(client: ClientCapabilities): readonly AuthMethod[] {
	const terminal: AuthMethod = {
		id: "login-terminal",
		name: "Sign in to Kimi in a terminal",
		description: "Shows an address to open in a browser, and waits for the confirmation.",
		type: "terminal",
		args: ["login"],
	};
	const browser: AuthMethod = {
		id: "login",
		name: "Sign in to Kimi",
		description: "Opens the sign-in page in a browser.",
	};
	const inTerminal = client.auth.terminal || client._meta["terminal-auth"];
	return [...(client.elicitation.url || !inTerminal ? [browser] : []), ...(inTerminal ? [terminal] : [])];
}

export interface SignInKernel extends Pick<HostApi, "account" | "identifiers"> {
	readonly sessions: Pick<HostApi["sessions"], "models">;
}

type SignInPeer = Pick<Peer, "call" | "notify" | "isWaiting" | "withdraw">;

export class SignIn {
	readonly #kernelApi: SignInKernel;
	readonly #peer: SignInPeer;
	readonly #client: () => AttachedClient;

	constructor(kernelApi: SignInKernel, peer: SignInPeer, client: () => AttachedClient) {
		this.#kernelApi = kernelApi;
		this.#peer = peer;
		this.#client = client;
	}

	/** Fails `login-expired` if still not signed in. A client that cannot open an address only learns whether a model exists. */
	async run(methodId: string, id: RpcId | null, signal: AbortSignal): Promise<void> {
		const { account, sessions } = this.#kernelApi;
		const known = signInMethods(this.#client().capabilities).map((method) => method.id);
		if (!known.includes(methodId)) {
			throw new KernelError("invalid-input", `There is no sign-in ${quoted(methodId)}; there are ${known.join(", ")}.`);
		}
		if (account === null || id === null || !this.#client().capabilities.elicitation.url) {
			if ((await sessions.models()).chosen !== null) return;
			throw new KernelError(
				"login-expired",
				`Nobody is signed in. Sign in with \`agentwire login\` in a terminal. ${modelAdvice}`,
			);
		}
		const declined = new AbortController();
		const elicitationId = this.#kernelApi.identifiers.uuid();
		let isShown = false;
		const show = (prompt: { readonly url: string; readonly code: string }) => {
			isShown = true;
			this.#show(prompt, elicitationId, id, () => declined.abort());
		};
		try {
			await account.signIn(show, AbortSignal.any([signal, declined.signal]));
		} catch (thrown) {
			if (signal.aborted) throw new RequestCancelledError();
			if (declined.signal.aborted) throw new KernelError("login-expired", "The sign-in was declined.");
			throw thrown;
		} finally {
			if (isShown) this.#finish(elicitationId);
		}
	}

	async signOut(): Promise<Record<string, never>> {
		const { account } = this.#kernelApi;
		if (account === null) throw new KernelError("unsupported", "There is nothing to sign out of.");
		await account.signOut();
		return {};
	}

	#show(
		{ url, code }: { readonly url: string; readonly code: string },
		elicitationId: string,
		requestId: RpcId,
		onDeclined: () => void,
	): void {
		const message = `Open the address, and confirm that it shows the code ${code}.`;
		const params = { mode: "url", message, url, elicitationId, requestId: toJsonId(requestId) };
		this.#peer.call(elicitationId, "elicitation/create", params, (reply) => {
			if (isDeclined(reply)) onDeclined();
		});
	}

	#finish(elicitationId: string): void {
		if (this.#peer.isWaiting(elicitationId)) {
			this.#peer.withdraw(elicitationId);
			this.#peer.notify("$/cancel_request", { requestId: elicitationId });
			return;
		}
		this.#peer.notify("elicitation/complete", { elicitationId });
	}
}

/** Whether the client could not open the address, so that nobody can confirm it. */
function isDeclined(reply: RpcReply): boolean {
	if (reply.kind === "error") return true;
	const parsed = v.safeParse(elicitationResultSchema, reply.result);
	return !parsed.success || parsed.output.action !== "accept";
}

/** Ids outside of JSON's safe numbers are sent as text. */
const toJsonId = (id: RpcId) => (typeof id === "bigint" ? String(id) : id);
