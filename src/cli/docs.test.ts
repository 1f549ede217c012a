import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { KernelError } from "../base/errors.ts";
import { runDocs } from "./docs.ts";
import { createPackageInstallation } from "./installation/package.ts";

async function createSubject() {
	const root = await mkdtemp(path.join(tmpdir(), "documents-"));
	await mkdir(path.join(root, "docs", "guides"), { recursive: true });
	await mkdir(path.join(root, "docs", "reference", "protocol"), { recursive: true });
	const pages = { "README.md": "# It", "CHANGELOG.md": "# Changes", "docs/guides/web.md": "# The page\n\nText.\n" };
	const protocols = { "docs/reference/protocol/acp.md": "no title", "docs/reference/protocol/web.md": "# Messages" };
	for (const [file, text] of Object.entries({ ...pages, ...protocols, "docs/x.png": "" })) {
		await writeFile(path.join(root, file), text);
	}
	const printed: string[] = [];
	const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
		printed.push(String(text));
		return true;
	});
	onTestFinished(async () => {
		write.mockRestore();
		await rm(root, { recursive: true });
	});
	const show = async (page: string | null) => {
		printed.length = 0;
		expect(await runDocs(page, createPackageInstallation(root))).toBe(0);
		return printed.join("");
	};
	return { show };
}

describe("the command docs", () => {
	it("lists the pages with their titles, and nothing else that is there", async () => {
		const { show } = await createSubject();
		expect(await show(null)).toBe(
			[
				"readme                  It",
				"changelog               Changes",
				"guides/web              The page",
				"reference/protocol/acp  ",
				"reference/protocol/web  Messages",
				"",
			].join("\n"),
		);
	});

	it("prints a page by its name or its path", async () => {
		const { show } = await createSubject();
		for (const name of ["web", "web.md", "docs/guides/web.md", "./docs/web.md", "guides/web", "WEB"]) {
			expect(await show(name)).toBe("# The page\n\nText.\n");
		}
		expect(await show("readme")).toBe("# It");
		expect(await show("protocol/acp")).toBe("no title");
	});

	it.each(["other", "../README", "/etc/passwd", "x.png"])("has no page %s", async (name) => {
		const { show } = await createSubject();
		await expect(show(name)).rejects.toThrow(
			new KernelError("invalid-input", `There is no page '${name}'; 'docs' without a name lists the pages.`),
		);
	});
});
