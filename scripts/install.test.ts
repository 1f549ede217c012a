// The install script with an archive of its own: what it installs, and that a wrong checksum installs nothing.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

const script = fileURLToPath(new URL("install.sh", import.meta.url));
const isServed = ["linux", "darwin"].includes(process.platform) && ["x64", "arm64"].includes(process.arch);

function createRelease() {
	const root = mkdtempSync(path.join(tmpdir(), "agentwire-install-"));
	onTestFinished(() => rmSync(root, { recursive: true, force: true }));
	const name = `agentwire-9.9.9-${process.platform}-${process.arch}`;
	const release = path.join(root, "release");
	mkdirSync(path.join(root, name));
	mkdirSync(release);
	writeFileSync(path.join(root, name, "agentwire"), "#!/bin/sh\necho installed\n");
	const archive = path.join(release, `${name}.tar.gz`);
	execFileSync("tar", ["-czf", archive, "-C", root, name]);
	const sum = createHash("sha256").update(readFileSync(archive)).digest("hex");
	writeFileSync(path.join(release, "SHA256SUMS"), `${sum}  ${name}.tar.gz\n`);
	const to = path.join(root, "bin");
	const install = (...words: readonly string[]) =>
		spawnSync("sh", [script, "--from", release, "--to", to, "--version", "9.9.9", ...words], { encoding: "utf8" });
	return { archive, install, installed: path.join(to, "agentwire") };
}

describe.runIf(isServed)("install.sh", () => {
	it("installs the executable of this machine", () => {
		const { install, installed } = createRelease();
		const { status, stdout } = install();
		expect(status).toBe(0);
		expect(stdout).toContain(`Installed ${installed}`);
		expect(execFileSync(installed, { encoding: "utf8" })).toBe("installed\n");
	});

	it("installs nothing when the checksum is wrong", () => {
		const { archive, install, installed } = createRelease();
		writeFileSync(archive, "other", { flag: "a" });
		const { status, stderr } = install();
		expect(status).toBe(1);
		expect(stderr).toContain("the checksum of");
		expect(existsSync(installed)).toBe(false);
	});

	it("names what is missing", () => {
		const { install } = createRelease();
		expect(install("--version", "1.0.0").stderr).toContain("cannot read");
		expect(install("--to").stderr).toContain("--to needs a value");
	});
});
