import { pathToFileURL } from "node:url";
import type { Files } from "../../ports/files/port.ts";
import { withTrustedPath } from "../../ports/processes/search-path.ts";
import { startDetached } from "../../ports/processes/unconfined/detached-process.ts";

const openers: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: "open", linux: "xdg-open" };

/** False if no opener was found. True does not guarantee that a browser appeared. */
export async function openInBrowser(address: URL, environment: Readonly<Record<string, string>>): Promise<boolean> {
	const file = openers[process.platform];
	if (file === undefined) return false;
	try {
		const opener = await startDetached({
			file,
			arguments: [address.href],
			workDir: "/",
			environment: withTrustedPath(environment),
		});
		opener.release();
		return true;
	} catch {
		return false;
	}
}

/** All local users can read process arguments, so the address goes through a private redirect file. */
export async function openSecretly(
	address: URL,
	file: string,
	files: Pick<Files, "replace" | "remove">,
	environment: Readonly<Record<string, string>>,
): Promise<{ readonly isOpened: boolean; remove(): Promise<void> }> {
	const target = address.href.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
	const page = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${target}"><title>agentwire</title><a href="${target}">Open the page</a>\n`;
	await files.replace(file, page);
	const isOpened = await openInBrowser(pathToFileURL(file), environment);
	return { isOpened, remove: () => files.remove(file).catch(() => undefined) };
}
