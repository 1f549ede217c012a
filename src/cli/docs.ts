// The command `docs`: the documents that come with the program, page by page.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { KernelError } from "../base/errors.ts";
import type { Installation } from "../host/installation.ts";

/** The pages next to the directory `docs`. */
const otherPages = ["README.md", "CHANGELOG.md"];

/**
 * Prints a page, or the list of pages with their titles for null; returns the exit code. A page is named in full or by the end of
 * its name: `guides/web` or `web`. Throws KernelError.
 */
export async function runDocs(page: string | null, installation: Installation): Promise<number> {
	const root = installation.documentsDir();
	const files = [...otherPages, ...(await findPages(root))];
	if (page !== null) {
		const wanted = toName(page);
		// The pages come shallowest first, so that `gateway` is the guide and not the protocol.
		const file =
			files.find((each) => toName(each) === wanted) ?? files.find((each) => toName(each).endsWith(`/${wanted}`));
		if (file === undefined) throw noPage(page);
		process.stdout.write(await readFile(path.join(root, file), "utf8"));
		return 0;
	}
	const width = Math.max(...files.map((file) => toName(file).length));
	for (const file of files) {
		const [, title = ""] = /^# (.+)$/m.exec(await readFile(path.join(root, file), "utf8")) ?? [];
		process.stdout.write(`${toName(file).padEnd(width)}  ${title}\n`);
	}
	return 0;
}

/** A page's name in the list: `docs/guides/web.md` is `guides/web`, and `README.md` is `readme`. */
function toName(file: string): string {
	return file
		.replace(/^(?:\.\/)?(?:docs\/)?/, "")
		.replace(/\.md$/i, "")
		.toLowerCase();
}

/** The parts of the documents, in the order in which people need them. */
const parts = ["start", "guides", "reference", "explanation"];

/** The paths of the pages in `docs`, part by part, the shallowest of each first. */
async function findPages(root: string): Promise<readonly string[]> {
	const found = await readdir(path.join(root, "docs"), { recursive: true });
	const pages = found.filter((file) => file.endsWith(".md")).map((file) => file.split(path.sep).join("/"));
	const rank = (file: string) => {
		const [part = "", ...rest] = file.split("/");
		return rest.length * parts.length + parts.indexOf(part);
	};
	return pages.sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1)).map((file) => `docs/${file}`);
}

function noPage(page: string): KernelError {
	return new KernelError("invalid-input", `There is no page '${page}'; 'docs' without a name lists the pages.`);
}
