// Confinement on macOS: builds a `sandbox-exec` profile with the same permissions. Later rules override earlier ones.
import { realpathSync } from "node:fs";
import path from "node:path";
import type { Confinement } from "../port.ts";

export const sandboxProgram = "/usr/bin/sandbox-exec";

const quote = (text: string) => `"${text.replace(/["\\]/g, (character) => `\\${character}`)}"`;

/** The profile compares resolved paths (`/tmp` is `/private/tmp`); missing components stay as spelled. */
function resolveExisting(file: string): string {
	try {
		return realpathSync(file);
	} catch {
		const parent = path.dirname(file);
		return parent === file ? file : path.join(resolveExisting(parent), path.basename(file));
	}
}

function rule(verdict: "allow" | "deny", operations: string, kind: "subpath" | "literal", files: readonly string[]) {
	if (files.length === 0) return [];
	return [`(${verdict} ${operations}`, ...files.map((file) => `\t(${kind} ${quote(file)})`), ")"];
}

/** Directories between a writable directory and a protected path: renaming one would remove the protection. */
function parentsBetween(files: readonly string[], roots: readonly string[]): string[] {
	const parents = new Set<string>();
	for (const file of files) {
		for (let at = path.dirname(file); at !== "/" && roots.some((root) => at.startsWith(`${root}/`)); ) {
			parents.add(at);
			at = path.dirname(at);
		}
	}
	return [...parents];
}

/** The profile of a confinement. `resolve` follows links, as the system does before it checks the profile. */
export function toSeatbeltProfile(
	confinement: Confinement,
	resolve: (file: string) => string = resolveExisting,
): string {
	const of = (files: readonly string[]) => [...new Set(files.map(resolve))];
	const writable = of([...confinement.writable, ...confinement.scratch]);
	const guarded = of([...confinement.readOnly, ...confinement.removed]);
	const hidden = of(confinement.hidden);
	const inner = of(confinement.writable).filter((root) => hidden.some((file) => root.startsWith(`${file}/`)));
	return [
		"(version 1)",
		"(deny default)",
		"(allow process-exec process-fork)",
		"(allow signal (target same-sandbox))",
		"(allow process-info* (target same-sandbox))",
		"(allow sysctl-read)",
		"(allow file-read*)",
		"(allow file-ioctl)",
		"(allow pseudo-tty)",
		"(allow ipc-posix-shm* ipc-posix-sem*)",
		...rule("allow", "file-write*", "literal", ["/dev/null", "/dev/zero", "/dev/tty"]),
		...rule("allow", "file-write*", "subpath", writable),
		...rule("deny", "file-read* file-write*", "subpath", hidden),
		...rule("allow", "file-read*", "subpath", of(confinement.visible)),
		...rule("allow", "file-read* file-write*", "subpath", inner),
		...rule("deny", "file-write*", "subpath", guarded),
		...rule("deny", "file-write-unlink", "literal", parentsBetween([...guarded, ...hidden], writable)),
		...(confinement.network.kind === "host"
			? ["(allow network*)", "(allow system-socket)", '(allow mach-lookup (global-name "com.apple.dnssd.service"))']
			: ["(deny network*)"]),
		"",
	].join("\n");
}

export function toSeatbeltCommand(
	file: string,
	words: readonly string[],
	profile: string,
): { readonly file: string; readonly arguments: readonly string[] } {
	return { file: sandboxProgram, arguments: ["-p", profile, "--", file, ...words] };
}
