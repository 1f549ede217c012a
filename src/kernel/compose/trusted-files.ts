// Project permission files that the user trusts, by content hash: editing a file revokes its trust.
import path from "node:path";
import * as v from "valibot";
import type { Clock } from "../../base/clock.ts";
import { KernelError } from "../../base/errors.ts";
import { fileFailureReason } from "../../ports/files/file-failure.ts";
import { withLock } from "../../ports/files/path-lock.ts";
import type { Files } from "../../ports/files/port.ts";

interface TrustPlace {
	readonly files: Files;
	readonly shareDir: string;
}

const schema = v.object({
	/** Maps the path in the project, with links to the project resolved, to the SHA-256 of the text in hexadecimal. */
	files: v.record(v.string(), v.string()),
});

const fileOf = (shareDir: string) => path.join(shareDir, "trusted-permissions.json");

/** Whether exactly this file content is trusted. A damaged list trusts nothing. */
export async function isTrusted(file: string, hash: string, place: TrustPlace): Promise<boolean> {
	const trusted = await readTrusted(place).catch(() => null);
	return trusted !== null && Object.hasOwn(trusted.files, file) && trusted.files[file] === hash;
}

/** Trusts this file content from now on. Throws `storage-failed` when the list cannot be read or written. */
export async function trustFile(
	file: string,
	hash: string,
	place: TrustPlace & { readonly clock: Clock },
): Promise<void> {
	const { files, shareDir } = place;
	const target = fileOf(shareDir);
	try {
		await files.makeDirectory(shareDir);
		await withLock(place, target, async () => {
			const trusted = await readTrusted(place);
			const changed = { files: { ...trusted.files, [file]: hash } };
			await files.replace(target, `${JSON.stringify(changed, null, "\t")}\n`, { mode: 0o600, sync: true });
		});
	} catch (thrown) {
		throw new KernelError("storage-failed", `Cannot use ${target}: ${fileFailureReason(thrown)}`, { cause: thrown });
	}
}

async function readTrusted({ files, shareDir }: TrustPlace): Promise<v.InferOutput<typeof schema>> {
	const bytes = await files.read(fileOf(shareDir));
	return bytes === null ? { files: {} } : v.parse(schema, JSON.parse(bytes.toString("utf8")));
}
