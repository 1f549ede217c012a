import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Processes, RunRequest } from "../../ports/processes/port.ts";
import { describeRepository } from "./repository.ts";

const live = new AbortController().signal;

/** Children that print the given output for a git subcommand, and fail for any other. */
function createPlace(outputs: Readonly<Record<string, string>>) {
	const requests: RunRequest[] = [];
	const processes: Processes = {
		async run(request) {
			requests.push(request);
			const output = request.arguments[0] === "config" ? "core.bare\0" : outputs[request.arguments[0] ?? ""];
			const ended = { kind: "exited", exitCode: output === undefined ? 128 : 0 } as const;
			return { ended, output: output ?? "", errorOutput: "", outputBytes: 0, truncated: false, spilledTo: null };
		},
		endAll: async () => {},
	};
	return { requests, place: { environment: { PATH: "/usr/local/bin:/usr/bin:/bin" }, processes } };
}

/** As the calls find the git that is installed. */
const hasGit = ["/usr/local/bin/git", "/usr/bin/git", "/bin/git"].some((file) => existsSync(file));

describe.runIf(hasGit)("describeRepository", () => {
	it("shows branch, changes and last commits", async () => {
		const { place, requests } = createPlace({ status: "## main\n M a.ts\n", log: "abc Add it\n" });
		expect(await describeRepository("/work", place, live)).toBe(
			"<git-repository>\n## main\n M a.ts\n\nLast commits:\nabc Add it\n</git-repository>",
		);
		expect(requests.map(({ arguments: [verb], workDir }) => [verb, workDir])).toEqual([
			["config", "/work"],
			["status", "/work"],
			["config", "/work"],
			["log", "/work"],
		]);
	});

	it("truncates long texts", async () => {
		const status = Array.from({ length: 25 }, (_, n) => `?? file${n}`).join("\n");
		const { place } = createPlace({ status, log: "" });
		const text = await describeRepository("/work", place, live);
		expect(text).toContain("?? file19\n... and 5 more\n");
		expect(text).not.toContain("file20");
	});

	it("shows a repository without commits", async () => {
		const { place } = createPlace({ status: "## No commits yet on main" });
		expect(await describeRepository("/work", place, live)).toContain("## No commits yet on main");
	});

	it("is empty without a repository", async () => {
		expect(await describeRepository("/work", createPlace({}).place, live)).toBe("");
	});
});
