import { X509Certificate } from "node:crypto";
import { createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import { errorText } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { NetworkError } from "./network-error.ts";

export interface CertificateSettings {
	readonly environment: Readonly<Record<string, string>>;
	/** Absolute; null for none. */
	readonly caFile: string | null;
	readFile(path: string): Promise<Uint8Array | null>;
	readonly log: Log;
}

/** Other programs' variables for such files; the runtime itself reads only one of them, and only at startup. */
const variables = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"];

/** Null if no file is named. Ignores unusable variables; throws NetworkError for an unusable settings file. */
export async function createTrust(settings: CertificateSettings): Promise<SecureContext | null> {
	const { environment, caFile, log } = settings;
	const extra: string[] = [];
	// They often name the same file.
	const files = new Map(variables.map((variable) => [environment[variable] ?? "", variable]));
	for (const [file, variable] of files) {
		if (file === "") continue;
		const read = await readAuthorities(file, settings);
		if ("problem" in read) log.warn(`The certificates of ${variable} are not used.`, { file, reason: read.problem });
		else extra.push(...read.certificates);
	}
	if (caFile !== null) {
		const read = await readAuthorities(caFile, settings);
		if ("problem" in read) {
			throw new NetworkError("configuration", `agentwire.ca_file: ${caFile} cannot be used: ${read.problem}.`);
		}
		extra.push(...read.certificates);
	}
	if (extra.length === 0) return null;
	return createSecureContext({ ca: [...new Set([...rootCertificates, ...extra])] });
}

type Read = { readonly certificates: readonly string[] } | { readonly problem: string };

async function readAuthorities(file: string, { readFile }: CertificateSettings): Promise<Read> {
	let bytes: Uint8Array | null;
	try {
		bytes = await readFile(file);
	} catch (thrown) {
		return { problem: errorText(thrown) };
	}
	if (bytes === null) return { problem: "there is no such file" };
	const text = Buffer.from(bytes).toString("latin1");
	const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
	const usable = certificates.filter(isCertificate);
	return usable.length > 0 ? { certificates: usable } : { problem: "it contains no PEM certificate" };
}

function isCertificate(pem: string): boolean {
	try {
		return new X509Certificate(pem).raw.length > 0;
	} catch {
		return false;
	}
}
