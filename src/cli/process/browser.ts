// Opens web pages in the person's browser, which outlives this process.
import { startDetached } from "../../ports/processes/detached-process.ts";

const openers: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: "open", linux: "xdg-open" };

/** False when there is no program to open it with. True does not mean that a browser appeared. */
export async function openInBrowser(address: URL, environment: Readonly<Record<string, string>>): Promise<boolean> {
	const file = openers[process.platform];
	if (file === undefined) return false;
	try {
		const opener = await startDetached({ file, arguments: [address.href], workDir: "/", environment });
		opener.release();
		return true;
	} catch {
		return false;
	}
}
