// The documents as a site, with a search that works offline. Links within docs/ are checked by the build; links to other files of the
// repository are checked by test/pins/document-links.test.ts and become plain text here.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

/** A copy of the documents: pages have to lie where the packages of this folder are found. */
const docs = fileURLToPath(new URL("../pages", import.meta.url));

interface Entry {
	readonly text: string;
	readonly link: string;
}

function entriesOf(folder: string): Entry[] {
	return readdirSync(path.join(docs, folder))
		.filter((file) => file.endsWith(".md"))
		.map((file) => {
			const [, text = file] = /^# (.+)$/m.exec(readFileSync(path.join(docs, folder, file), "utf8")) ?? [];
			return { text: text.replaceAll("`", ""), link: `/${folder}/${file.replace(/\.md$/, "")}` };
		})
		.sort((one, other) => one.text.localeCompare(other.text, "en"));
}

function leavesDocs(file: string, href: string): boolean {
	if (/^(?:[a-z]+:|#|\/)/.test(href)) return false;
	const [target = ""] = href.split("#");
	return path.relative(docs, path.resolve(path.dirname(file), target)).startsWith("..");
}

export default defineConfig({
	title: "agentwire",
	description: "A coding agent that your program drives.",
	srcDir: "pages",
	outDir: "../build/site",
	cleanUrls: true,
	// The index of the search holds every page.
	vite: { build: { chunkSizeWarningLimit: 4000 } },
	markdown: {
		languageAlias: { d2: "yaml" },
		config(md) {
			md.core.ruler.push("links-that-leave", ({ tokens, env }) => {
				for (const { children } of tokens) {
					let isLeaving = false;
					for (const token of children ?? []) {
						if (token.type === "link_open") isLeaving = leavesDocs(env.path, String(token.attrGet("href")));
						if (!isLeaving || !token.type.startsWith("link_")) continue;
						token.type = token.type.replace("link", "em");
						token.tag = "span";
						token.attrs = null;
					}
				}
			});
		},
	},
	themeConfig: {
		search: { provider: "local" },
		outline: [2, 3],
		nav: [
			{ text: "Start", link: "/start/install" },
			{ text: "Guides", link: "/guides/embed-typescript" },
			{ text: "Reference", link: "/reference/configuration" },
			{ text: "Explanation", link: "/explanation/guarantees" },
		],
		sidebar: [
			{ text: "Start", items: entriesOf("start") },
			{ text: "Guides", items: entriesOf("guides") },
			{
				text: "Reference",
				items: [
					...entriesOf("reference"),
					{ text: "Protocols", collapsed: true, items: entriesOf("reference/protocol") },
				],
			},
			{
				text: "Explanation",
				items: [
					...entriesOf("explanation"),
					{ text: "Decisions", collapsed: true, items: entriesOf("explanation/decisions") },
				],
			},
		],
	},
});
