import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { blocksOrTextSchema, joined, toBlocks, toInput } from "./blocks.ts";

const image = { type: "image", media_type: "image/png", source: "inline", data: "iVBORw0=" } as const;
const text = { type: "text", text: "look" } as const;

describe("blocks", () => {
	it.each([["just text"], [[]], [[text]], [[image, text]]])("come back as they were sent: %j", (content) => {
		const parsed = v.parse(blocksOrTextSchema, content);
		expect(toBlocks(toInput(parsed))).toEqual(content);
	});

	it("give the model an image as a data address", () => {
		expect(toInput([image])).toEqual([
			{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0=", id: null } },
		]);
	});

	it.each([
		[{ ...image, data: "@@" }],
		[{ ...image, data: "" }],
		[{ ...image, data: "a=b" }],
		[{ ...image, media_type: "text/html" }],
		[{ ...image, source: "blob", blob_id: "x" }],
		[{ type: "image", data: "AAAA", media_type: "image/png" }],
		[{ type: "video", media_type: "video/mp4", source: "inline", data: "AAAA" }],
		[{ type: "text" }],
		["text"],
	])("are refused as %j", (block) => {
		expect(v.safeParse(blocksOrTextSchema, [block]).success).toBe(false);
	});

	it("of tens of megabytes are read", () => {
		const content = [{ ...image, data: "A".repeat(30_000_000) }];
		expect(v.safeParse(blocksOrTextSchema, content).success).toBe(true);
	});

	it("are joined, texts with an empty line between them", () => {
		expect(joined("", "go")).toBe("go");
		expect(joined("first", "go")).toBe("first\n\ngo");
		expect(joined("first", [image])).toEqual([{ type: "text", text: "first" }, image]);
		expect(joined([image], "go")).toEqual([image, { type: "text", text: "go" }]);
	});
});
