import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { KernelError } from "../base/errors.ts";
import type { Installation } from "../host/installation.ts";

const otherPages = ["README.md", "CHANGELOG.md"];

/** Null lists the pages. A page is named in full or by the end of its name: `guides/web` or `web`. */
export async function runDocs(page: string | null, installation: Installation): Promise<number> {
	const root = installation.documentsDir();
	const files = [...otherPages, ...(await findPages(root))];
	if (page !== null) {
		const wanted = toName(page);
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

function toName(file: string): string {
	return file
		.replace(/^(?:\.\/)?(?:docs\/)?/, "")
		.replace(/\.md$/i, "")
		.toLowerCase();
}

/** The document folders, in reading order. */
const parts = ["start", "guides", "reference", "explanation"];

/** The paths of the pages in `docs`, folder by folder, shallow pages first. */
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
