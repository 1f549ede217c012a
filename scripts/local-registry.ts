// An npm registry on the loopback for as long as a command runs: `tsx scripts/local-registry.ts FILE.tgz … -- COMMAND …`.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";

interface Manifest {
	readonly name: string;
	readonly version: string;
}

const words = process.argv.slice(2);
const end = words.indexOf("--");
const tarballs = new Map(words.slice(0, end).map((file) => [`/${path.basename(file)}`, readFileSync(file)]));
const [command = "", ...args] = words.slice(end + 1);

const server = createServer((request, response) => {
	const asked = decodeURIComponent(request.url ?? "");
	const tarball = tarballs.get(asked);
	if (tarball !== undefined) response.end(tarball);
	else if (packages.has(asked.slice(1))) response.end(JSON.stringify(packages.get(asked.slice(1))));
	else response.writeHead(404).end("{}");
});
const packages = new Map<string, object>();
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
const registry = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
for (const [name, content] of tarballs) {
	const json = execFileSync("tar", ["-xzO", "-f", "-", "package/package.json"], { input: content, encoding: "utf8" });
	const manifest = JSON.parse(json) as Manifest;
	const integrity = `sha512-${createHash("sha512").update(content).digest("base64")}`;
	packages.set(manifest.name, {
		name: manifest.name,
		"dist-tags": { latest: manifest.version },
		versions: { [manifest.version]: { ...manifest, dist: { tarball: registry + name, integrity } } },
	});
}
const env = { ...process.env, npm_config_registry: registry };
spawn(command, args, { stdio: "inherit", env }).on("close", (code) => {
	server.close();
	process.exitCode = code ?? 1;
});
