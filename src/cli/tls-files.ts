// The certificate and the key that flags name.
import type { Files } from "../files/port.ts";
import { checkFile, type Place } from "./paths.ts";

/** Their texts in PEM; null without any. Throws UsageError for a file that is not there. */
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
	return { certificate: await read("--tls-cert", tls.certificate), key: await read("--tls-key", tls.key) };
}
