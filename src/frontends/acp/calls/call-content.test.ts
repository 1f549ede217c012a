import { describe, expect, it } from "vitest";
import type { DisplayBlock, ToolReturn } from "../../../api/values/content.ts";
import { createDiffBlocks } from "../../../core/tools/files/diff-blocks.ts";
import { approvalContent, codeContent, resultContent } from "./call-content.ts";

const text = (content: string) => ({ type: "content", content: { type: "text", text: content } });
const diff = (old_text: string, new_text: string): DisplayBlock => ({
	...{ type: "diff", path: "a.ts", old_text, new_text, old_start: 1, new_start: 1, is_summary: false },
});
const result = (more: Partial<ToolReturn>): ToolReturn => ({
	...{ is_error: false, output: "", message: "", display: [], extras: null },
	...more,
});

describe("what an approval shows", () => {
	it("has changes with absolute paths, those of a new file as such", () => {
		expect(approvalContent([diff("a", "b"), diff("", "c")], "/work")).toEqual([
			{ type: "diff", path: "/work/a.ts", oldText: "a", newText: "b" },
			{ type: "diff", path: "/work/a.ts", oldText: null, newText: "c" },
		]);
	});

	it.each<[string, string, string, { readonly oldText: string | null; readonly newText: string }]>([
		["added to the last line", "a\nb", "a\nb\n", { oldText: "b", newText: "b\n" }],
		["removed from the last line", "a\nb\n", "a\nb", { oldText: "b\n", newText: "b" }],
		["added with a change of that line", "a\nb", "a\nc\n", { oldText: "a\nb", newText: "a\nc\n" }],
		["removed with a change of that line", "a\nb\n", "a\nc", { oldText: "a\nb\n", newText: "a\nc" }],
		["missing on both sides", "a\nb", "a\nc", { oldText: "a\nb", newText: "a\nc" }],
		["there on both sides, which is not shown", "a\nb\n", "a\nc\n", { oldText: "a\nb", newText: "a\nc" }],
		["missing in a new file", "", "a\nb", { oldText: null, newText: "a\nb" }],
	])("has the final newline that is %s", async (_, before, after, shown) => {
		const content = approvalContent(await createDiffBlocks("a.ts", before, after), "/work");
		const texts = content.map((item) => item.type === "diff" && { oldText: item.oldText, newText: item.newText });
		expect(texts.at(-1)).toEqual(shown);
	});

	it("counts the lines of a large change", () => {
		const large = { ...diff("20000 lines", "1 lines"), is_summary: true };
		expect(approvalContent([large], "/work")).toEqual([text("/work/a.ts: 20000 lines → 1 lines")]);
	});

	it("does not repeat the command, which is the title, and has no empty text", () => {
		const blocks: DisplayBlock[] = [
			{ type: "shell", language: "bash", command: "ls" },
			{ type: "brief", text: "" },
			{ type: "brief", text: "why" },
			{ type: "todo", items: [] },
			{ type: "new-kind", data: { a: 1 } },
		];
		expect(approvalContent(blocks, "/work")).toEqual([text("why")]);
	});
});

describe("what a result shows", () => {
	it("is the change that was made, and not what the model was told", () => {
		const changed = result({ output: "File changed.", display: [diff("a", "b")] });
		expect(resultContent(changed, false, "/work")).toEqual([
			{ type: "diff", path: "/work/a.ts", oldText: "a", newText: "b" },
		]);
		const failed = result({ is_error: true, output: "", message: "No.", display: [diff("a", "b")] });
		expect(resultContent(failed, false, "/work")).toEqual([text("No.")]);
	});

	it("is the output, with the message where that is all or the call has failed", () => {
		expect(resultContent(result({ output: "out", message: "ok" }), false, "/work")).toEqual([text("out")]);
		expect(resultContent(result({ message: "ok" }), false, "/work")).toEqual([text("ok")]);
		expect(resultContent(result({ is_error: true, output: "out", message: "no" }), true, "/work")).toEqual([
			text("```\nout\n```"),
			text("no"),
		]);
		expect(resultContent(result({}), false, "/work")).toEqual([]);
	});

	it("has media as such", () => {
		const output = [{ type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA", id: null } }];
		expect(resultContent(result({ output }), false, "/work")).toEqual([
			{ type: "content", content: { type: "image", mimeType: "image/png", data: "AAAA" } },
		]);
	});
});

describe("a block of code", () => {
	it.each([
		["one\n", "```\none\n```"],
		["has ``` in it", "````\nhas ``` in it\n````"],
		["has ````` in it\n", "``````\nhas ````` in it\n``````"],
	])("has a fence that is longer than any in %j", (code, fenced) => {
		expect(codeContent(code)).toEqual(text(fenced));
	});
});
