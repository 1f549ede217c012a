// The public types of the package. What is generated from the schemas of the protocol is left out: its own file shows changes.
import { readFile } from "node:fs/promises";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { declarations } from "../rolldown.config.ts";

const accept =
	"The library's public types changed. If that is intended, accept them: npx vitest run scripts/library-types.test.ts -u";

it("are those that were last accepted", async () => {
	if (Array.isArray(declarations) || Array.isArray(declarations.output)) throw new Error("one build is expected");
	const build = await rolldown(declarations);
	const { output } = await build.generate(declarations.output);
	await build.close();
	const generated = await readFile("src/client/protocol-types.ts", "utf8");
	const names = new Set([...generated.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name]) => name));
	const text = output
		.flatMap((file) => (file.type === "chunk" ? [`// ${file.fileName}\n${file.code}`] : []))
		.sort()
		.flatMap((declared) => declared.split(/^(?=(?:type|interface|declare|export|import) )/m))
		.filter((declaration) => !names.has(/^(?:type|interface) (\w+)/.exec(declaration)?.[1]))
		.join("");
	expect(text).not.toContain("valibot");
	await expect(text, accept).toMatchFileSnapshot("library-types.txt");
});
