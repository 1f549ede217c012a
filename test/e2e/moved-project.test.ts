// Sessions that are opened by id from another directory than their own, with the built executable.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";

const executable = path.resolve("bin/agentwire");
const settings = `default_model = "m"
[models.m]
provider = "s"
model = "scripted_echo"
max_context_size = 100000
[providers.s]
type = "_echo"
base_url = ""
api_key = ""
`;

it("a session resumed elsewhere, also after its project was moved, is the same one", () => {
	const place = mkdtempSync(path.join(tmpdir(), "moved-"));
	const at = (name: string) => path.join(place, name);
	for (const name of ["share", "a", "b"]) mkdirSync(at(name));
	writeFileSync(path.join(at("share"), "config.toml"), settings);
	const resume = (directory: string) =>
		spawnSync(process.execPath, [executable, "--print", "-p", "text: hi", "--resume", "s1"], {
			cwd: at(directory),
			env: { ...process.env, KIMI_SHARE_DIR: at("share") },
			encoding: "utf8",
			input: "",
		});
	expect(resume("a")).toMatchObject({ status: 0, stderr: expect.not.stringContaining("belongs to") });
	expect(resume("b").stderr).toContain(`The session s1 belongs to ${at("a")} and is opened there, not in ${at("b")}.`);
	renameSync(at("a"), at("c"));
	expect(resume("c").stderr).toContain(`The session s1 belongs to ${at("a")}`);
	const sessions = path.join(at("share"), "sessions");
	const found = readdirSync(sessions).flatMap((directory) => readdirSync(path.join(sessions, directory)));
	expect(found.filter((name) => name.startsWith("s1"))).toHaveLength(1);
});
