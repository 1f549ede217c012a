import path from "node:path";
import { orAbort, workIsOver } from "../../../base/abort.ts";
import { errorText, systemErrorCode } from "../../../base/errors.ts";
import { isRecord, parseJsonFile } from "../../../base/json.ts";
import { NetworkError, toNetworkFailure } from "../../../ports/network/network-error.ts";
import { networkFailureKinds } from "../http/exchange.ts";
import { RequestFailure, requestFailure } from "../http/request-failure.ts";
import type { ContentSettings } from "./request.ts";

const what = "Could not get a token for Vertex AI:";
const scope = "https://www.googleapis.com/auth/cloud-platform";

export interface AccessTokens {
	/** An unexpired token. Throws RequestFailure if there is none; after an abort, anything. */
	get(signal: AbortSignal): Promise<string>;
	/** Forces a new token from the current credentials. */
	discard(): void;
}

type Place = Pick<ContentSettings, "environment" | "home" | "readFile" | "network" | "timeouts" | "clock">;

interface Client {
	readonly auth: { getAccessToken(): Promise<{ token?: string | null }> };
	signal: AbortSignal;
}

interface Exchange {
	readonly token: Promise<string>;
	readonly controller: AbortController;
	waiting: number;
}

/** Reads the credentials on the first request and reuses their token until it expires. */
export function createAccessTokens(place: Place): AccessTokens {
	let client: Client | null = null;
	let exchange: Exchange | null = null;

	const exchangeWithin = async (controller: AbortController): Promise<string> => {
		const { signal } = controller;
		const { response } = place.timeouts;
		const late = requestFailure("timeout", `${what} no answer came within ${response / 1000} s.`);
		const withdraw = place.clock.after(response, () => controller.abort(late));
		try {
			const current = client ?? (await createClient(place, signal));
			client = current;
			current.signal = signal;
			const { token } = await orAbort(current.auth.getAccessToken(), signal);
			if (typeof token === "string" && token !== "") return token;
			throw new Error("the credentials gave none");
		} catch (thrown) {
			client = null;
			throw toTokenFailure(thrown);
		} finally {
			withdraw();
		}
	};

	const begin = (): Exchange => {
		const controller = new AbortController();
		const token = exchangeWithin(controller);
		// All waiters may have left.
		token.catch(() => {});
		return { token, controller, waiting: 0 };
	};

	return {
		async get(signal) {
			exchange ??= begin();
			const current = exchange;
			current.waiting += 1;
			try {
				return await orAbort(current.token, signal);
			} finally {
				current.waiting -= 1;
				if (current.waiting === 0) {
					current.controller.abort(workIsOver);
					if (exchange === current) exchange = null;
				}
			}
		},
		discard() {
			client = null;
		},
	};
}

async function createClient({ environment, home, readFile, network }: Place, signal: AbortSignal): Promise<Client> {
	const named = environment["GOOGLE_APPLICATION_CREDENTIALS"] ?? "";
	const file = named || path.join(home, ".config/gcloud/application_default_credentials.json");
	const bytes = await readFile(file);
	if (bytes === null) {
		const how =
			named === "" ? "set GOOGLE_APPLICATION_CREDENTIALS in the provider's env table" : "name an existing file";
		throw new Error(`there is no credentials file ${file}; ${how}, or run: gcloud auth application-default login`);
	}
	const credentials: unknown = parseJsonFile(Buffer.from(bytes));
	if (!isRecord(credentials)) throw new Error(`${file} contains no credentials`);
	const { GoogleAuth } = await import("google-auth-library");
	const auth = new GoogleAuth();
	const read = auth.fromJSON.bind(auth);
	let client: Client | null = null;
	const fetch: typeof globalThis.fetch = (input, init) =>
		// A redirect would take the credentials to another address.
		network.fetch(input, { ...init, signal: client?.signal ?? signal, redirect: "manual" });
	// The library creates derived clients through this.
	auth.fromJSON = (...given) => {
		const made = read(...given);
		made.transporter.defaults.fetchImplementation = fetch;
		// The exchange of a foreign token would otherwise use a separate HTTP client.
		const exchange: unknown = Reflect.get(made, "stsCredential");
		if (isRecord(exchange)) exchange["transporter"] = made.transporter;
		return made;
	};
	const made = auth.fromJSON(credentials);
	if ("scopes" in made) made.scopes = [scope];
	client = { auth: made, signal };
	return client;
}

/** An unreachable or failing service may answer the next attempt. */
function toTokenFailure(thrown: unknown): RequestFailure {
	if (thrown instanceof RequestFailure) return thrown;
	const causes = [...withCauses(thrown)];
	const unsent = causes.find((error) => error.cause instanceof NetworkError || isSystemError(error.cause));
	// Only errors of its requests have this; file errors of the library do not.
	if (unsent !== undefined && causes.some((error) => "config" in error)) {
		const { kind, message } = toNetworkFailure(unsent);
		return requestFailure(networkFailureKinds[kind], `${what} ${message}`);
	}
	const status = causes.map((error) => ("status" in error ? error.status : null)).find((each) => each !== null);
	const words = `${what} ${errorText(thrown)}`;
	return typeof status === "number" && status >= 500
		? requestFailure("status", words, status)
		: requestFailure("provider", words);
}

function isSystemError(error: unknown): boolean {
	return systemErrorCode(error) !== null;
}

function* withCauses(thrown: unknown): Generator<Error> {
	for (let error = thrown; error instanceof Error; error = error.cause) yield error;
}
