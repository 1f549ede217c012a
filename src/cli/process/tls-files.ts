import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { Place } from "../../host/place.ts";
import type { Files } from "../../ports/files/port.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { checkFile } from "../paths.ts";

/** Returns their PEM texts; null if no flags were given. Throws UsageError for missing or invalid files. */
export async function readTls(
	tls: { readonly certificate: string; readonly key: string } | null,
	place: Place,
	files: Files,
) {
	if (tls === null) return null;
	const read = async (flag: string, typed: string) => {
		const file = await checkFile(flag, typed, place, files);
		return (await files.read(file))?.toString("utf8") ?? "";
	};
	const certificate = await read("--tls-cert", tls.certificate);
	const key = await read("--tls-key", tls.key);
	const found = parse(
		() => new X509Certificate(certificate),
		`--tls-cert ${tls.certificate}: it contains no PEM certificate.`,
	);
	const known: KeyObject = parse(
		() => createPrivateKey(key),
		`--tls-key ${tls.key}: it contains no PEM private key, or the key has a password.`,
	);
	if (!found.checkPrivateKey(known)) {
		throw new UsageError(`--tls-key ${tls.key}: the key does not belong to the certificate of --tls-cert.`);
	}
	return { certificate, key };
}

function parse<T>(work: () => T, complaint: string): T {
	try {
		return work();
	} catch (thrown) {
		// The original error describes decoders and never names the file.
		throw new UsageError(complaint, { cause: thrown });
	}
}
