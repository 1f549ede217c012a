import type { DiffBlock } from "../../api/values/content.ts";

const lines = (text: string, mark: string) => {
	if (text === "") return [];
	return text
		.replace(/\n$/, "")
		.split("\n")
		.map((line) => `${mark}${line}`);
};

export function toDiff(blocks: readonly DiffBlock[]): string {
	return blocks
		.map(({ old_text, new_text, old_start, new_start }) => {
			const before = lines(old_text, "-");
			const after = lines(new_text, "+");
			const from = before.length === 0 ? 0 : old_start;
			const to = after.length === 0 ? 0 : new_start;
			return [`@@ -${from},${before.length} +${to},${after.length} @@`, ...before, ...after, ""].join("\n");
		})
		.join("");
}
