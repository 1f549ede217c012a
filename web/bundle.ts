// The build of the page: one HTML, one script, one style sheet, what is loaded later in chunks of its own. Names of assets have
// a hash, so that a browser keeps them for ever and never mixes two versions; each is compressed once, here.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { OutputOptions, Plugin, RolldownOptions } from "rolldown";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const page: Plugin = {
	name: "page",
	generateBundle(_options, bundle) {
		const styles = readFileSync(here("style.css"), "utf8");
		const hash = createHash("sha256").update(styles).digest("hex").slice(0, 8);
		const style = `assets/style-${hash}.css`;
		const script = Object.values(bundle).find((file) => file.type === "chunk" && file.isEntry)?.fileName ?? "";
		const html = readFileSync(here("index.html"), "utf8").replace("STYLE", `/${style}`).replace("SCRIPT", `/${script}`);
		const files: [string, string][] = [
			[style, styles.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\s*\n\s*/g, "\n")],
			["index.html", html],
			["assets/icon.svg", readFileSync(here("icon.svg"), "utf8")],
		];
		for (const [fileName, source] of files) this.emitFile({ type: "asset", fileName, source });
		for (const file of Object.values(bundle)) if (file.type === "chunk") files.push([file.fileName, file.code]);
		for (const [fileName, source] of files) {
			this.emitFile({ type: "asset", fileName: `${fileName}.gz`, source: gzipSync(source, { level: 9 }) });
		}
	},
};

export const pageBuild: RolldownOptions & { readonly output: OutputOptions } = {
	input: { page: here("main.tsx") },
	platform: "browser",
	plugins: [page],
	tsconfig: here("tsconfig.json"),
	transform: { target: "es2022" },
	output: {
		dir: here("../dist/web"),
		format: "esm",
		entryFileNames: "assets/[name]-[hash].js",
		chunkFileNames: "assets/[name]-[hash].js",
		minify: true,
		cleanDir: true,
	},
};
