// What the documents lead to is there: files, headings, and the tests that they name.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.join(import.meta.dirname, "../..");
const below = (directory: string) =>
	readdirSync(path.join(root, directory), { recursive: true, encoding: "utf8" })
		.map((name) => path.join(directory, name))
		.sort();
const pages = ["README.md", "AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"];
const documents = [...pages, ...["docs", "skills", "examples", "test"].flatMap(below)]
	.filter((name) => name.endsWith(".md"))
	.map((name) => ({ name, text: readFileSync(path.join(root, name), "utf8") }));
const tests = ["src", "test", "scripts", "bench", "web"].flatMap(below).filter((name) => name.endsWith(".test.ts"));

const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, "");

/** The headings of a document as a link names them. */
function anchorsOf(file: string): string[] {
	const headings = withoutCode(readFileSync(file, "utf8")).match(/^#+ .*$/gm) ?? [];
	const names = headings.map((heading) =>
		heading
			.replace(/^#+ /, "")
			.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
			.toLowerCase()
			.replace(/[^\p{L}\p{N}_\- ]/gu, "")
			.replaceAll(" ", "-"),
	);
	return names.map((name, index) => {
		const earlier = names.slice(0, index).filter((other) => other === name).length;
		return earlier === 0 ? name : `${name}-${earlier}`;
	});
}

it.each(documents)("the links of $name lead somewhere", ({ name, text }) => {
	const broken = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
		.map(([, target = ""]) => target)
		.filter((target) => !/^[a-z]+:/.test(target))
		.filter((target) => {
			const [file = "", anchor] = target.split("#");
			const place = file === "" ? path.join(root, name) : path.join(root, path.dirname(name), file);
			if (!existsSync(place)) return true;
			return anchor !== undefined && place.endsWith(".md") && !anchorsOf(place).includes(anchor);
		});
	expect(broken).toEqual([]);
});

it.each(documents)("the tests that $name names are there", ({ text }) => {
	const named = [...text.matchAll(/`([\w\-./]+\.test\.ts)`/g)].map(([, file = ""]) => file);
	expect(named.filter((file) => !tests.some((each) => each === file || each.endsWith(`/${file}`)))).toEqual([]);
});
