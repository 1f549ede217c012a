// Builds what is released for this machine: `npm run release [-- --target linux-x64] [--out DIR]`. An archive with the executable and
// the licences, its checksum, and the packages for npm. Compiled code is made on the machine that it is for.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildBinary, linkOtherNames } from "./binary/build.ts";
import { findRipgrepProgram, nameOf, ownPlatform, parsePlatform } from "./binary/bun.ts";
import { installedVersion, noticesText, packagesOf, readNotice } from "./release/notices.ts";
import { readManifest, withPlatformPackages, writeJson, writePlatformPackage } from "./release/platform-package.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

async function release(target: string | undefined, out: string): Promise<void> {
	const platform = ownPlatform();
	if (target !== undefined && nameOf(parsePlatform(target)) !== nameOf(platform)) {
		throw new Error(
			`--target: this machine is ${nameOf(platform)}, and compiled code cannot be made for another one. Run this on ${target}.`,
		);
	}
	const { manifest, product } = readManifest(root);
	const { executable, modules } = await buildBinary();

	const name = `${product.name}-${product.version}-${nameOf(platform)}`;
	const folder = path.join(root, "build", "release", name);
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	const released = path.join(folder, path.basename(executable));
	cpSync(executable, released);
	linkOtherNames(released);
	const licences = [
		path.join(root, "LICENSE"),
		path.join(root, "build", "release", "THIRD-PARTY-LICENSES.txt"),
	] as const;
	const ripgrep = path.dirname(path.dirname(findRipgrepProgram(platform)));
	const notices = [...packagesOf(modules), ripgrep].map(readNotice);
	const lgpl = readFileSync(path.join(root, "scripts", "release", "licences", "LGPL-2.1.txt"), "utf8");
	writeFileSync(licences[1], noticesText(notices, installedVersion(root, "bun"), lgpl));
	for (const file of licences) cpSync(file, path.join(folder, path.basename(file)));

	mkdirSync(out, { recursive: true });
	const archive = path.join(out, `${name}.tar.gz`);
	execFileSync("tar", ["-czf", archive, "-C", path.dirname(folder), name], { stdio: "inherit" });
	writeSums(out);
	const packages = path.join(out, "npm");
	writePlatformPackage(packages, product, platform, { executable, others: licences });
	writeJson(path.join(packages, product.name, "package.json"), withPlatformPackages(manifest, product));
	console.log(archive);
}

/** The checksums of all archives, as `sha256sum --check` reads them. */
function writeSums(out: string): void {
	const archives = readdirSync(out)
		.filter((file) => file.endsWith(".tar.gz"))
		.sort();
	const lines = archives.map(
		(file) =>
			`${createHash("sha256")
				.update(readFileSync(path.join(out, file)))
				.digest("hex")}  ${file}\n`,
	);
	writeFileSync(path.join(out, "SHA256SUMS"), lines.join(""));
}

try {
	const { values } = parseArgs({ options: { target: { type: "string" }, out: { type: "string" } } });
	await release(values.target, path.resolve(values.out ?? path.join(root, "build", "out")));
} catch (thrown) {
	console.error(thrown instanceof Error ? thrown.message : String(thrown));
	process.exitCode = 1;
}
