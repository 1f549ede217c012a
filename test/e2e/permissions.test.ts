// Attacks on rules over files, over the real executable: no way leads to what is denied.
import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, type StageOptions, toolCall } from "../support/executable/executable.ts";
import { isResponse, type ServerLine } from "../support/executable/running-server.ts";

const rule = (decision: string, pattern: string) =>
	`\n[[permission.rules]]\ndecision = "${decision}"\npattern = "${pattern}"\n`;

const content = "THE-CONTENT-OF-THE-SECRET";

/** A work directory with a denied directory, and links that lead into it. */
function createDenied(options: StageOptions, ...rules: readonly string[]): Stage {
	const stage = createStage(options);
	appendFileSync(path.join(stage.shareDir, "config.toml"), rules.join(""));
	const at = (...names: string[]) => path.join(stage.workDir, ...names);
	mkdirSync(at("denied", "deep"), { recursive: true });
	mkdirSync(at("open"));
	for (const name of ["key.txt", "deep/key.txt", "AGENTS.md"]) writeFileSync(at("denied", name), `${content}\n`);
	const image = Buffer.from(
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"base64",
	);
	for (const name of ["key.png", "deep/key.png"]) writeFileSync(at("denied", name), image);
	for (const end of ["txt", "png"]) {
		symlinkSync(`denied/key.${end}`, at(`link.${end}`));
		symlinkSync(`link.${end}`, at(`chain.${end}`));
	}
	symlinkSync("denied", at("linked"));
	symlinkSync("denied/new.txt", at("dangling"));
	symlinkSync("/proc/self/cwd", at("by-process"));
	return stage;
}

/** Ways to write the path of a denied file. */
const spellings = (workDir: string, end: string): readonly string[] => [
	`denied/key.${end}`,
	`./denied//key.${end}`,
	`open/../denied/key.${end}`,
	`denied/key.${end}/`,
	`denied/deep/../key.${end}`,
	`${workDir}/denied/deep/key.${end}`,
	`//${workDir}/denied/key.${end}`,
	`/proc/self/root${workDir}/denied/key.${end}`,
	`/proc/self/cwd/denied/key.${end}`,
	`/proc/thread-self/root${workDir}/denied/key.${end}`,
	`link.${end}`,
	`chain.${end}`,
	`linked/key.${end}`,
	`linked/deep/key.${end}`,
	`linked/../denied/key.${end}`,
	`by-process/denied/key.${end}`,
];

interface Result {
	readonly is_error: boolean;
	readonly output: string;
	readonly message: string;
}

/** Makes all calls in one answer and returns their results in order. */
async function callAll(stage: Stage, calls: readonly (readonly [string, object])[]): Promise<readonly Result[]> {
	stage.setScripts([calls.map(([name, given], index) => toolCall(`c${index}`, name, given)).join("\n"), "text: done"]);
	const lines = await prompt(stage, "go");
	const results = new Map(
		lines
			.filter(({ params }) => params?.type === "ToolResult")
			.map(({ params }) => [String(params?.payload["tool_call_id"]), params?.payload["return_value"] as Result]),
	);
	return calls.map((_call, index) => results.get(`c${index}`) ?? { is_error: false, output: "none", message: "none" });
}

async function prompt(stage: Stage, ...texts: readonly string[]): Promise<readonly ServerLine[]> {
	const server = stage.serve("--wire", "--yolo");
	const lines: ServerLine[] = [];
	for (const [index, text] of texts.entries()) {
		server.prompt(text, `p${index}`);
		lines.push(...(await server.readUntil((line) => isResponse(line, `p${index}`))));
	}
	server.endInput();
	await server.exited;
	return lines;
}

/** Everything that is stored of the sessions. */
function stored(stage: Stage): string {
	const root = path.join(stage.shareDir, "sessions");
	return readdirSync(root, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => readFileSync(path.join(entry.parentPath, entry.name), "utf8"))
		.join("\n");
}

const withImages = { modelSettings: { capabilities: ["image_in"] } };

describe("a directory that may not be read", () => {
	it.each(["ReadFile", "ReadMediaFile", "Grep"] as const)(
		"is not by %s, whatever the path is spelled like",
		async (name) => {
			const stage = createDenied(withImages, rule("deny", "Read(denied/**)"));
			const paths = spellings(stage.workDir, name === "ReadMediaFile" ? "png" : "txt");
			const more = name === "Grep" ? { pattern: "CONTENT", output_mode: "content" } : {};
			for (const [index, { is_error, message }] of (
				await callAll(
					stage,
					paths.map((file) => [name, { path: file, ...more }]),
				)
			).entries()) {
				expect([paths[index], is_error, message]).toEqual([
					paths[index],
					true,
					expect.stringContaining("`Read(denied/**)`"),
				]);
			}
			expect(stored(stage)).not.toContain(content);
		},
	);

	it("is left out of searches", async () => {
		const stage = createDenied({}, rule("deny", "Read(denied/**)"));
		const modes = ["content", "files_with_matches", "count_matches"];
		const places = [".", "denied", "linked", "by-process/denied", "denied/deep"];
		const results = await callAll(
			stage,
			places.flatMap((place) =>
				modes.map(
					(mode) => ["Grep", { pattern: "CONTENT", path: place, output_mode: mode, include_ignored: true }] as const,
				),
			),
		);
		for (const { output } of results) expect(output).toBe("");
	});

	it("is not searched for a text by edits either", async () => {
		const stage = createDenied({}, rule("deny", "Read(denied/**)"));
		const paths = spellings(stage.workDir, "txt");
		const edits = ["THE", "NOT THERE", "E"].map((old) => ({ old, new: "x" }));
		for (const { is_error, message } of await callAll(
			stage,
			paths.flatMap((file) => edits.map((edit) => ["StrReplaceFile", { path: file, edit }] as const)),
		)) {
			expect([is_error, message]).toEqual([true, expect.stringContaining("`Read(denied/**)`")]);
		}
	});

	it("reaches no context by commands, instructions or skills", async () => {
		const storedWith = async (...rules: readonly string[]) => {
			const stage = createDenied({ scripts: Array.from({ length: 8 }, () => "text: done") }, ...rules);
			symlinkSync("denied/AGENTS.md", path.join(stage.workDir, "AGENTS.md"));
			const skill = path.join(stage.workDir, ".kimi", "skills", "leak");
			mkdirSync(skill, { recursive: true });
			symlinkSync("../../../denied/key.txt", path.join(skill, "SKILL.md"));
			await prompt(stage, "/import denied/key.txt", "/import link.txt", "@denied/key.txt", "/skill:leak", "/init");
			return stored(stage);
		};
		expect(await storedWith()).toContain(content);
		expect(await storedWith(rule("deny", "Read(denied/**)"))).not.toContain(content);
	});
});

describe("a directory that may not be written", () => {
	it.each(["WriteFile", "StrReplaceFile"] as const)("is not by %s, whatever the path is spelled like", async (name) => {
		const stage = createDenied({}, rule("deny", "Write(denied)"));
		const paths = [
			...spellings(stage.workDir, "txt"),
			...(name === "WriteFile" ? ["dangling", "linked/new.txt", "denied/deep/new.txt"] : []),
		];
		const more = name === "WriteFile" ? { content: "x" } : { edit: { old: "SECRET", new: "x" } };
		for (const [index, { is_error, message }] of (
			await callAll(
				stage,
				paths.map((file) => [name, { path: file, ...more }]),
			)
		).entries()) {
			expect([paths[index], is_error, message]).toEqual([
				paths[index],
				true,
				expect.stringContaining("`Write(denied)`"),
			]);
		}
		const names = readdirSync(path.join(stage.workDir, "denied"), { recursive: true }).sort();
		expect(names).toEqual(["AGENTS.md", "deep", "deep/key.png", "deep/key.txt", "key.png", "key.txt"]);
		expect(readFileSync(path.join(stage.workDir, "denied", "key.txt"), "utf8")).toBe(`${content}\n`);
	});
});
