import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	briefOf,
	call,
	createToolPlace,
	prepareCall,
	type ToolPlace,
} from "../../../../test/support/host/tool-environment.ts";
import { allMedia, noMedia } from "../../../../test/support/sessions/session-doubles.ts";
import type { MediaOperations, Video } from "../operations.ts";
import type { Tool } from "../tool.ts";
import { createReadMediaFile } from "./read-media-file.ts";

/** One pixel each; the JPEG is two by three. */
const png = Buffer.from(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC",
	"base64",
);
const gif = Buffer.from("GIF89a\x05\x00\x07\x00\x80\x00\x00", "latin1");
const jpegHead = "ffd8ffe000104a46494600010100000100010000ffc0000b080003000201011100ffda0008010100003f00ffd9";
const jpeg = Buffer.from(jpegHead, "hex");
const webp = Buffer.from("RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\x03\x40\x00\x00", "latin1");
const mp4 = Buffer.from("\0\0\0\x18ftypisom\0\0\x02\0isomiso2", "latin1");

let place: ToolPlace;
beforeEach(async () => {
	place = await createToolPlace();
});
afterEach(() => place.remove());

function create(media: MediaOperations = allMedia): Tool {
	const tool = createReadMediaFile({ ...place.environment, media });
	if (tool === null) throw new Error("it is not offered");
	return tool;
}

async function write(content: string | Buffer, name: string): Promise<string> {
	await writeFile(place.at("work", name), content);
	return place.at("work", name);
}

const dataUrl = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString("base64")}`;

describe("ReadMediaFile", () => {
	it("is offered to models that accept images or videos, and names which", () => {
		expect(createReadMediaFile({ ...place.environment, media: noMedia })).toBeNull();
		expect(create({ ...noMedia, takesImages: true }).description).toMatch(/^Look at an image from/);
		expect(create({ ...noMedia, takesVideos: true }).description).toMatch(/^Look at a video from/);
		expect(create().description).toMatch(/^Look at an image or a video from/);
	});

	it("returns an image between texts with its path", async () => {
		const path = await write(png, "dot.png");
		const prepared = await prepareCall(create(), { path: "dot.png" });
		expect(prepared).toMatchObject({ approval: { byDefault: "allow" }, hasEffect: false });
		const result = await prepared.execute();
		expect(result).toEqual({
			is_error: false,
			output: [
				{ type: "text", text: `<image path="${path}">` },
				{ type: "image_url", image_url: { url: dataUrl("image/png", png), id: null } },
				{ type: "text", text: "</image>" },
			],
			message: expect.stringContaining(
				`Loaded image file \`${path}\` (image/png, 69 bytes, original size 1x1 pixels).`,
			),
			display: [],
			extras: null,
		});
		expect(result.message).toContain("coordinates");
	});

	it.each([
		["dot.gif", gif, "image/gif", "5x7"],
		["photo.jpg", jpeg, "image/jpeg", "2x3"],
		["no-suffix", png, "image/png", "1x1"],
		["renamed.mp4", png, "image/png", "1x1"],
		["renamed.ts", png, "image/png", "1x1"],
		["photo.png", jpeg, "image/jpeg", "2x3"],
		["small.webp", webp, "image/webp", "4x2"],
		["cut.png", png.subarray(0, 12), "image/png", null],
		["old.tga", Buffer.alloc(18), "image/x-tga", null],
		["one.jp2", Buffer.from([0]), "image/jp2", null],
	])("detects the type of %s from its content", async (name, bytes, type, size) => {
		const path = await write(bytes, name);
		const result = await call(create(), { path: name });
		expect(result.output).toMatchObject([{}, { image_url: { url: dataUrl(type, bytes) } }, {}]);
		const original = size === null ? "" : `, original size ${size} pixels`;
		expect(result.message).toContain(`\`${path}\` (${type}, ${bytes.length} bytes${original}).`);
	});

	it("escapes the file name in the texts around it", async () => {
		await write(png, 'a"><b>&.png');
		const result = await call(create(), { path: 'a"><b>&.png' });
		const shown = `${place.at("work", "a")}&quot;>&lt;b>&amp;.png`;
		expect(result.output).toMatchObject([{ text: `<image path="${shown}">` }, {}, {}]);
	});

	it("returns a video when the provider accepts it in messages", async () => {
		const path = await write(mp4, "clip.mp4");
		const result = await call(create(), { path });
		expect(result.output).toEqual([
			{ type: "text", text: `<video path="${path}">` },
			{ type: "video_url", video_url: { url: dataUrl("video/mp4", mp4), id: null } },
			{ type: "text", text: "</video>" },
		]);
		expect(result.message).toContain(`Loaded video file \`${path}\` (video/mp4, ${mp4.length} bytes).`);
	});

	it.each([
		["clip.webm", "\x1aE\xdf\xa3\x01\0\0\0\0\0\0\x1f\x42\x82\x84webm", "video/webm"],
		["clip.mkv", "\x1aE\xdf\xa3\x01\0\0\0\0\0\0\x23\x42\x82\x88matroska", "video/x-matroska"],
		["clip.mov", "\0\0\0\x14ftypqt  ", "video/quicktime"],
		["old.mov", "\0\0\0\x08wide\0\0\0\x01mdat", "video/quicktime"],
		["clip.avi", "RIFF\0\0\0\0AVI LIST", "video/x-msvideo"],
	])("detects the type of %s", async (name, content, type) => {
		const bytes = Buffer.from(content, "latin1");
		await write(bytes, name);
		expect((await call(create(), { path: name })).output).toMatchObject([
			{},
			{ video_url: { url: dataUrl(type, bytes) } },
			{},
		]);
	});

	it("uploads a video when the provider requires that, and refers to it", async () => {
		await write(mp4, "clip.mp4");
		const videos: Video[] = [];
		const media: MediaOperations = {
			...allMedia,
			async uploadVideo(video) {
				videos.push(video);
				return { ok: true, url: "ms://file-1" };
			},
		};
		const { output } = await call(create(media), { path: "clip.mp4" });
		expect(output).toMatchObject([{}, { type: "video_url", video_url: { url: "ms://file-1", id: null } }, {}]);
		expect(videos).toEqual([{ bytes: mp4, mediaType: "video/mp4", name: "clip.mp4" }]);
	});

	it("reports that the provider refuses the upload", async () => {
		const path = await write(mp4, "clip.mp4");
		const refuse = async () => ({ ok: false, reason: "It is too long." }) as const;
		const result = await call(create({ ...allMedia, uploadVideo: refuse }), { path: "clip.mp4" });
		expect(result.message).toBe(`The provider did not take \`${path}\`: It is too long.`);
		expect(briefOf(result)).toBe("Failed to read file");
	});

	it("is cancelled during the read and the upload", async () => {
		await write(mp4, "clip.mp4");
		await write(png, "dot.png");
		const controller = new AbortController();
		const uploadVideo = async () => {
			controller.abort();
			return { ok: false, reason: "aborted" } as const;
		};
		const tool = create({ ...allMedia, uploadVideo });
		const video = await (await prepareCall(tool, { path: "clip.mp4" })).execute(controller.signal);
		const image = await (await prepareCall(tool, { path: "dot.png" })).execute(AbortSignal.abort());
		expect([video, image].map(briefOf)).toEqual(["Cancelled", "Cancelled"]);
	});

	it("accepts up to 100 MiB", async () => {
		await truncate(await write(png, "large.png"), 100 * 1024 * 1024);
		const { output } = await call(create(), { path: "large.png" });
		expect(JSON.stringify(output).length).toBeGreaterThan(139_000_000);
		await truncate(place.at("work", "large.png"), 100 * 1024 * 1024 + 1);
		expect(briefOf(await call(create(), { path: "large.png" }))).toBe("File too large");
	});

	it("reads no file that grew beyond that since it was looked at", async () => {
		await write(png, "dot.png");
		const prepared = await prepareCall(create(), { path: "dot.png" });
		await truncate(place.at("work", "dot.png"), 100 * 1024 * 1024 + 1);
		const result = await prepared.execute();
		expect([briefOf(result), result.message]).toEqual([
			"Failed to read file",
			expect.stringContaining("it has more than 104857600 bytes"),
		]);
	});

	it.each([
		["", "Empty file path"],
		["../outside/dot.png", "Invalid path"],
		["link/dot.png", "Invalid path"],
		["directory.png", "Invalid path"],
		["missing.png", "File not found"],
		["credentials", "Sensitive file"],
		["harmless.png", "Sensitive file"],
		["empty.png", "Empty file"],
		["notes.txt", "Unsupported file type"],
		["drawing.svg", "Unsupported file type"],
		["text.png", "Unsupported file type"],
		["pointer.png", "Unsupported file type"],
		["paper.pdf", "File not readable"],
	])("refuses %j: %s", async (path, brief) => {
		await symlink(place.at("outside"), place.at("work", "link"));
		await symlink(place.at("work", "credentials"), place.at("work", "harmless.png"));
		await mkdir(place.at("work", "directory.png"));
		await write(png, "credentials");
		await write("", "empty.png");
		await write("text", "notes.txt");
		await write("<svg/>", "drawing.svg");
		await write(`${"ä".repeat(300)}`, "text.png");
		await write("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "pointer.png");
		await write("%PDF-1.7 \0", "paper.pdf");
		await writeFile(place.at("outside", "dot.png"), png);
		expect(briefOf(await call(create(), { path }))).toBe(brief);
	});

	it.each([
		["dot.png", { ...noMedia, takesVideos: true }],
		["clip.mp4", { ...noMedia, takesImages: true }],
	])("refuses %s when the model does not accept it", async (path, media) => {
		await write(png, "dot.png");
		await write(mp4, "clip.mp4");
		expect(briefOf(await call(create(media), { path }))).toBe("Unsupported media type");
	});

	it("says how to get a file that Git LFS has not fetched", async () => {
		await write("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "dot.png");
		expect((await call(create(), { path: "dot.png" })).message).toBe(
			"`dot.png` is a Git LFS pointer; `git lfs pull` fetches the file itself.",
		);
	});

	it("reports a file that disappeared before the read", async () => {
		await write(png, "dot.png");
		const prepared = await prepareCall(create(), { path: "dot.png" });
		await place.environment.files.remove(place.at("work", "dot.png"));
		expect(briefOf(await prepared.execute())).toBe("File not found");
	});

	it("reads outside of the workspace by an absolute path, and in the home directory", async () => {
		await writeFile(place.at("outside", "dot.png"), png);
		await writeFile(place.at("home", "dot.png"), png);
		for (const path of [place.at("outside", "dot.png"), "~/dot.png"]) {
			expect((await call(create(), { path })).is_error).toBe(false);
		}
	});
});
