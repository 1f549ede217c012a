// The command `docs`: the documents that come with the program, page by page.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { KernelError } from "../base/errors.ts";
import type { Installation } from "../host/installation.ts";

/** The pages next to the directory `docs`. */
const otherPages = ["README.md", "CHANGELOG.md"];

/** Prints a page, or the list of pages with their titles for null; returns the exit code. Throws KernelError. */
export async function runDocs(page: string | null, installation: Installation): Promise<number> {
	const root = installation.documentsDir();
	const files = [...otherPages, ...(await findPages(root))];
	if (page !== null) {
		const file = files.find((each) => toName(each) === toName(page));
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

/** A page as people name it: `docs/protocol/acp.md` is `protocol/acp`, and `README.md` is `readme`. */
function toName(file: string): string {
	return file
		.replace(/^(?:\.\/)?(?:docs\/)?/, "")
		.replace(/\.md$/i, "")
		.toLowerCase();
}

/** The paths of the pages in `docs`, in order; decisions are for those who change the program, and come last. */
async function findPages(root: string): Promise<readonly string[]> {
	const found = await readdir(path.join(root, "docs"), { recursive: true });
	const pages = found.filter((file) => file.endsWith(".md")).map((file) => `docs/${file.split(path.sep).join("/")}`);
	const depth = (file: string) => file.split("/").length + (file.startsWith("docs/decisions/") ? 1 : 0);
	return pages.sort((one, other) => depth(one) - depth(other) || (one < other ? -1 : 1));
}

function noPage(page: string): KernelError {
	return new KernelError("invalid-input", `There is no page '${page}'; 'docs' without a name lists the pages.`);
}
