// The program as a later version would be that speaks another version of the protocol between gateways and workers: the
// same sources, with that one number changed, in a build of their own.
import { cp, readFile } from "node:fs/promises";
import path from "node:path";
import { rolldown } from "rolldown";
import configuration from "../../../rolldown.config.ts";
import { remoteVersion } from "../../../src/remote/remote-version.ts";

export const otherRemoteVersion = remoteVersion + 1;

/** Builds it; gives its executable. */
export async function buildOtherVersion(): Promise<string> {
	const place = path.resolve("build/other-version");
	const source = path.resolve("src/remote/remote-version.ts");
	const [program] = [configuration].flat();
	const text = await readFile(source, "utf8");
	const changed = text.replace(`remoteVersion = ${remoteVersion};`, `remoteVersion = ${otherRemoteVersion};`);
	if (program === undefined || changed === text) throw new Error("The other version cannot be made.");
	const build = await rolldown({
		...program,
		plugins: [program.plugins, { name: "other-version", load: (id: string) => (id === source ? changed : null) }],
	});
	await build.write({ ...[program.output].flat()[0], dir: path.join(place, "dist") });
	await build.close();
	await cp(path.resolve("bin"), path.join(place, "bin"), { recursive: true });
	return path.join(place, "bin", "agentwire");
}
