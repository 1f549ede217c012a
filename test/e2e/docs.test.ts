// The command `docs` of the built program, which as one file has the documents in it.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createStage } from "../support/executable/executable.ts";

const source = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

describe("agentwire docs", () => {
	it("lists the pages, and prints each as it is in the sources", async () => {
		const stage = createStage();
		const { code, stdout, stderr } = await stage.run("docs");
		expect([code, stderr]).toEqual([0, ""]);
		expect(stdout).toMatch(/^reference\/configuration +Configuration$/m);
		for (const [page, file] of [
			["readme", "README.md"],
			["configuration", "docs/reference/configuration.md"],
			["protocol/kimi-wire", "docs/reference/protocol/kimi-wire.md"],
		] as const) {
			expect(await stage.run("docs", page)).toMatchObject({ code: 0, stdout: source(file), stderr: "" });
		}
	});

	it("says how to find a page that there is not", async () => {
		expect(await createStage().run("docs", "nothing")).toMatchObject({
			code: 1,
			stdout: "",
			stderr: "Error: There is no page 'nothing'; 'docs' without a name lists the pages.\n",
		});
	});
});
