import { link, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	briefOf,
	call,
	createToolPlace,
	prepareCall,
	type ToolPlace,
} from "../../../test/support/host/tool-environment.ts";
import { createReadFile } from "./files/read-file.ts";
import { createReadMediaFile } from "./files/read-media-file.ts";
import { createStringReplaceFile } from "./files/string-replace-file.ts";
import { createWriteFile } from "./files/write-file.ts";
import { createGlob } from "./search/glob.ts";
import { createGrep } from "./search/grep.ts";
import type { Tool } from "./tool.ts";

const secret = "KEY=sk-not-to-be-told";
const media = { takesImages: true, takesVideos: true, uploadVideo: null };

let place: ToolPlace;
beforeEach(async () => {
	place = await createToolPlace({ media });
	await write(".env", secret);
	await write("a.txt", "plain needle");
	await putFile(place.at("home", ".ssh", "id_rsa"), secret);
	await putFile(place.at("home", ".kimi", "config.toml"), secret);
	await putFile(place.at("home", ".kimi", "credentials", "kimi-code.json"), secret);
	await putFile(place.at("share", "config.toml"), secret);
	await putFile(place.at("share", "config.toml.bak"), secret);
	await putFile(place.at("share", "mcp.json"), secret);
	await putFile(place.at("share", "credentials", "deep", "kimi-code.json"), secret);
	await putFile(place.at("share", "mcp-oauth", "0123.json"), secret);
	await putFile(place.at("share", "plugins", "demo", "settings.json"), secret);
	await putFile(place.at("settings.toml"), secret);
});
afterEach(() => place.remove());

async function putFile(file: string, content: string): Promise<void> {
	await mkdir(path.dirname(file), { recursive: true });
	await writeFile(file, content);
}
const write = (name: string, content: string) => putFile(place.at("work", name), content);
const toLink = (name: string, target: string) => symlink(target, place.at("work", name));

async function written(name: string): Promise<string> {
	await write(name, secret);
	return name;
}

async function linked(name: string, target: string): Promise<string> {
	await toLink(name, target);
	return name;
}

/** The absolute path of something at the link, or below it. */
async function linkedAt(name: string, target: string, inner = name): Promise<string> {
	await toLink(name, target);
	return place.at("work", inner);
}

/** How the tools that read are asked for one file. */
function readers(): readonly (readonly [string, Tool, (file: string) => object])[] {
	const grep = createGrep(place.environment);
	const mode = (output_mode: string) => (file: string) => ({ pattern: "sk-not", path: file, output_mode });
	const medium = createReadMediaFile(place.environment);
	if (medium === null) throw new Error("There is a model for media here.");
	return [
		["ReadFile", createReadFile(place.environment), (file) => ({ path: file })],
		["ReadMediaFile", medium, (file) => ({ path: file })],
		["Grep content", grep, mode("content")],
		["Grep files", grep, mode("files_with_matches")],
		["Grep counts", grep, mode("count_matches")],
	];
}

/** Every path by which a secret can be reached. */
const ways: readonly (readonly [string, () => Promise<string>])[] = [
	["its name", async () => ".env"],
	["its absolute name", async () => place.at("work", ".env")],
	["a slash at the end", async () => `${place.at("work")}/.env/`],
	["dots in the way", async () => "./x/../.env"],
	["another case", () => written("sub/.ENV")],
	["another form of its characters", () => written("sub/．env")],
	["a variant", () => written(".env.production")],
	["a variant without an end", () => written(".env.")],
	["a link", () => linked("notes.txt", ".env")],
	["a link with a harmless name", () => linked(".env.example", ".env")],
	["a link with the name of an image", () => linked("a.png", ".env")],
	[
		"a chain of links",
		async () => {
			await toLink("one", "two");
			await toLink("two", place.at("work", "three"));
			await toLink("three", ".env");
			return "one";
		},
	],
	["a link to a directory", () => linkedAt("docs", place.at("home", ".ssh"), "docs/id_rsa")],
	["a sensitive link to a harmless file", () => linked("credentials", "a.txt")],
	["the settings of the share directory", async () => place.at("share", "config.toml")],
	["a copy of them", async () => place.at("share", "config.toml.bak")],
	["a link to them", () => linkedAt("s.toml", place.at("share", "config.toml"))],
	["MCP servers", async () => place.at("share", "mcp.json")],
	["a sign-in", async () => place.at("share", "credentials", "deep", "kimi-code.json")],
	["tokens of an MCP server", async () => place.at("share", "mcp-oauth", "0123.json")],
	["the keys of a plugin", async () => place.at("share", "plugins", "demo", "settings.json")],
	["the settings at the old place", async () => "~/.kimi/config.toml"],
	["a sign-in at the old place", async () => "~/.kimi/credentials/kimi-code.json"],
	["the settings file of the command line", async () => place.at("settings.toml")],
	["a share directory that is a link", () => linkedAt("share", place.at("share"), "share/mcp.json")],
	["the environment of this process", async () => "/proc/self/environ"],
	["that of a thread", async () => `/proc/self/task/${process.pid}/environ`],
	["that of a process by its number", async () => `/proc/${process.ppid}/environ`],
	["its arguments", async () => "/proc/self/cmdline"],
	["its memory", async () => "/proc/self/mem"],
	["its root", async () => `/proc/self/root${place.at("work", ".env")}`],
	["a link to its environment", () => linkedAt("e.txt", "/proc/self/environ")],
];

const isLinux = process.platform === "linux";

describe("a file that may contain secrets", () => {
	it.each(ways)("is not read by %s", async (name, way) => {
		if (!isLinux && name.includes("process")) return;
		const file = await way();
		for (const [tool, reader, toArguments] of readers()) {
			const result = await call(reader, toArguments(file));
			expect(JSON.stringify(result), `${tool} of ${file}`).not.toContain("not-to-be-told");
			expect(briefOf(result), `${tool} of ${file}`).toBe("Sensitive file");
		}
	});
});

describe("Grep in a directory", () => {
	const messageOf = async (parameters: object) => {
		const { output, message } = await call(createGrep(place.environment), { output_mode: "content", ...parameters });
		return [output, message];
	};

	it.each(["content", "files_with_matches", "count_matches"])(
		"does not reveal by %s whether a secret matches the pattern",
		async (output_mode) => {
			await write("sub/credentials", secret);
			await write("credentials/code.ts", "const key = 1;");
			await toLink("linked", place.at("home"));
			for (const directory of [place.root, place.at("work"), place.at("share"), place.at("home")]) {
				const found = await messageOf({ pattern: "sk-n", path: directory, output_mode });
				expect(found, directory).toEqual(await messageOf({ pattern: "sk-q", path: directory, output_mode }));
				expect(found[1]).toBe("No matches found.");
			}
			expect((await messageOf({ pattern: "key", path: place.root, output_mode }))[0]).toContain(
				"work/credentials/code.ts",
			);
		},
	);

	it.each(["share/credentials", "share/credentials/deep", "share/mcp-oauth", "home/.kimi/credentials"])(
		"refuses %s",
		async (directory) => {
			const result = await call(createGrep(place.environment), { pattern: "x", path: place.at(directory) });
			expect(briefOf(result)).toBe("Sensitive file");
		},
	);

	it.runIf(isLinux)("refuses the system's files about processes", async () => {
		await toLink("p", "/proc/self");
		for (const directory of ["/proc", "/proc/self", `/proc/${process.ppid}/task`, place.at("work", "p")]) {
			const result = await call(createGrep(place.environment), { pattern: "PATH", path: directory });
			expect(briefOf(result), directory).toBe("Sensitive directory");
		}
	});

	it("searches a link by its own name", async () => {
		await write("sub/b.txt", "other needle");
		await toLink("near.txt", "sub/b.txt");
		await toLink("near", "sub");
		expect(await messageOf({ pattern: "needle", path: "near.txt" })).toEqual(["near.txt:1:other needle", ""]);
		expect(await messageOf({ pattern: "needle", path: "near" })).toEqual(["b.txt:1:other needle", ""]);
	});
});

describe("readable files", () => {
	it.each([
		"share/sessions/h/i/output/shell-1.log",
		"share/sessions/h/i/tasks/bash-1/output.log",
		"share/plans/a-b-c.md",
		"share/skills/mine/SKILL.md",
		"share/plugins/demo/skills/config.toml",
		"share/logs/agentwire.log",
		"work/.env.example",
		"work/config.toml",
		"work/credentials/a.ts",
		"work/environ",
	])("include %s", async (name) => {
		await putFile(place.at(name), "to be read");
		const file = place.at(name);
		expect((await call(createReadFile(place.environment), { path: file })).output).toContain("to be read");
		const found = await call(createGrep(place.environment), { pattern: "read", path: file, output_mode: "content" });
		expect(found.output).toContain("to be read");
	});

	it("include hard links with harmless names, which cannot be distinguished", async () => {
		await link(place.at("work", ".env"), place.at("work", "hard.txt"));
		expect((await call(createReadFile(place.environment), { path: "hard.txt" })).output).toContain("not-to-be-told");
	});
});

describe("the refusal of a secret file", () => {
	const messageOf = async (file: string) => (await call(createReadFile(place.environment), { path: file })).message;

	it("names the file, the target of a link, and what can be done", async () => {
		await toLink("notes.txt", ".env");
		expect(await messageOf(".env")).toBe("`.env` may hold secrets and is not read, to protect them.");
		expect(await messageOf("notes.txt")).toBe(
			`\`notes.txt\` leads to \`${place.at("work", ".env")}\`, which may hold secrets and is not read, to protect them.`,
		);
		expect(await messageOf(place.at("share", "config.toml"))).toBe(
			`\`${place.at("share", "config.toml")}\` holds settings, keys or sign-ins of this program and is not read, to protect them. Ask the user for what you need of it. StrReplaceFile and WriteFile can change it, which the user is asked to approve.`,
		);
	});
});

describe("a link that appears after the preparation", () => {
	it("is detected when the file is opened", async () => {
		const readFileTool = createReadFile(place.environment);
		const { execute } = await prepareCall(readFileTool, { path: "a.txt" });
		await rm(place.at("work", "a.txt"));
		await toLink("a.txt", ".env");
		const result = await execute();
		expect(briefOf(result)).toBe("Failed to read file");
		expect(JSON.stringify(result)).not.toContain("not-to-be-told");
	});

	it("is detected in place of a directory", async () => {
		await write("d/id", "harmless");
		await putFile(place.at("share", "credentials", "id"), secret);
		const { execute } = await prepareCall(createReadFile(place.environment), { path: "d/id" });
		await rename(place.at("work", "d"), place.at("work", "was"));
		await toLink("d", place.at("share", "credentials"));
		expect(JSON.stringify(await execute())).not.toContain("not-to-be-told");
	});
});

describe("Glob", () => {
	const find = async (pattern: string, directory: string | null = null) => {
		const { output, message } = await call(createGlob(place.environment), { pattern, directory });
		return [output, message];
	};
	const note = "A link that leads out of the workspace was not followed.";

	it("does not go through a link that leads out of the workspace", async () => {
		await toLink("docs", place.at("home", ".ssh"));
		await toLink("sub", "docs");
		await write("in/b.txt", "");
		await toLink("near", "in");
		expect(await find("docs")).toEqual(["docs", "Found 1 match for pattern `docs`."]);
		for (const pattern of ["docs/*", "docs/id_rsa", "d*/id*", "docs/**", "sub/*", "docs/../*"]) {
			expect((await find(pattern))[0], pattern).toBe("");
		}
		expect(await find("*/*")).toEqual(["in/b.txt\nnear/b.txt", `Found 2 matches for pattern \`*/*\`. ${note}`]);
	});
});

describe("a change of a file", () => {
	const approvalOf = async (tool: Tool, value: object) => (await prepareCall(tool, value)).approval;

	it("shows the target of a link", async () => {
		await toLink("notes.txt", ".env");
		await toLink("d", "sub");
		await write("sub/b.txt", "one");
		const resolved = place.at("work", ".env");
		const approval = await approvalOf(createWriteFile(place.environment), { path: "notes.txt", content: "x" });
		expect(approval).toMatchObject({
			description: `Write file \`${place.at("work", "notes.txt")}\`, which is a link to \`${resolved}\``,
			display: [{ type: "diff", path: resolved }],
		});
		const edit = { path: "d/b.txt", edit: { old: "one", new: "two" } };
		expect(await approvalOf(createStringReplaceFile(place.environment), edit)).toMatchObject({
			description: `Edit file \`${place.at("work", "d/b.txt")}\`, which is a link to \`${place.at("work/sub/b.txt")}\``,
			display: [{ type: "diff", path: place.at("work/sub/b.txt") }],
		});
	});

	it("shows the path unchanged without a link, and when the workspace itself is a link", async () => {
		await symlink(place.at("work"), place.at("way"));
		for (const [workDir, spelled] of [
			[place.at("work"), "a.txt"],
			[place.at("way"), "a.txt"],
			[place.at("way"), "new/../b.txt"],
		] as const) {
			const approval = await approvalOf(createWriteFile({ ...place.environment, workDir }), {
				path: spelled,
				content: "",
			});
			expect(approval?.description).toBe(`Write file \`${path.join(workDir, path.basename(spelled))}\``);
			expect(approval?.action).toBe("edit file");
		}
	});

	it("that may contain secrets requires approval before it reports whether the text occurs", async () => {
		const edit = createStringReplaceFile(place.environment);
		await toLink("notes.txt", ".env");
		for (const [file, old] of [
			[".env", "sk-nothing"],
			[".env", "t"],
			["notes.txt", "sk-nothing"],
			[place.at("share", "config.toml"), "sk-nothing"],
		] as const) {
			const prepared = await prepareCall(edit, { path: file, edit: { old, new: "x" } });
			expect(prepared.approval?.description).toContain("Edit file");
			// Not the action of other edits: what was agreed to for the session does not hold for this.
			expect(prepared.approval?.action).toBe("edit file that may hold secrets");
			expect(briefOf(await prepared.execute())).toBe("No replacements made");
		}
		expect((await call(edit, { path: ".env", edit: { old: "sk-not-to-be-told", new: "x" } })).is_error).toBe(false);
		expect(await readFile(place.at("work", ".env"), "utf8")).toBe("KEY=x");
	});

	it("can affect the settings, with the person's approval", async () => {
		const prepared = await prepareCall(createWriteFile(place.environment), {
			path: place.at("share", "config.toml"),
			content: "default_yolo = false\n",
		});
		expect(prepared.approval).toMatchObject({ action: "edit file that may hold secrets" });
		const result = await prepared.execute();
		expect(result.message).not.toContain("not-to-be-told");
		expect(await readFile(place.at("share", "config.toml"), "utf8")).toBe("default_yolo = false\n");
	});
});
