// Tokens for Vertex AI from the machine's credentials. The library is given everything that it would otherwise look up.
import path from "node:path";
import { errorText } from "../../base/errors.ts";
import { isRecord, parseJsonFile } from "../../base/json.ts";
import { requestFailure } from "../http/request-failure.ts";
import type { GetAccessToken } from "./endpoint.ts";
import type { ContentSettings } from "./request.ts";

const scope = "https://www.googleapis.com/auth/cloud-platform";

type Place = Pick<ContentSettings, "environment" | "home" | "readFile" | "network">;

/** Reads the credentials with the first request, and reuses their token until it expires. */
export function createAccessTokens(place: Place): GetAccessToken {
	let client: Promise<{ getAccessToken(): Promise<{ token?: string | null }> }> | null = null;
	return async () => {
		client ??= createClient(place);
		try {
			const { token } = await (await client).getAccessToken();
			if (typeof token === "string" && token !== "") return token;
		} catch (thrown) {
			client = null;
			throw requestFailure("provider", `No token for Vertex AI could be had: ${errorText(thrown)}`);
		}
		client = null;
		throw requestFailure("provider", "No token for Vertex AI could be had: the credentials gave none.");
	};
}

async function createClient({ environment, home, readFile, network }: Place) {
	const named = environment["GOOGLE_APPLICATION_CREDENTIALS"] ?? "";
	const file = named || path.join(home, ".config/gcloud/application_default_credentials.json");
	const bytes = await readFile(file);
	if (bytes === null) {
		const how =
			named === "" ? "set GOOGLE_APPLICATION_CREDENTIALS in the provider's env table" : "name a file that is there";
		throw new Error(`there is no file of credentials ${file}; ${how}, or run: gcloud auth application-default login`);
	}
	const credentials: unknown = parseJsonFile(Buffer.from(bytes));
	if (!isRecord(credentials)) throw new Error(`${file} holds no credentials`);
	const { GoogleAuth } = await import("google-auth-library");
	const auth = new GoogleAuth();
	const read = auth.fromJSON.bind(auth);
	// The library creates further clients through this, for credentials that are derived from others.
	auth.fromJSON = (...given) => {
		const made = read(...given);
		made.transporter.defaults.fetchImplementation = network.fetch;
		return made;
	};
	const client = auth.fromJSON(credentials);
	if ("scopes" in client) client.scopes = [scope];
	return client;
}
