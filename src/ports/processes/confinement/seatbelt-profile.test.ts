import { describe, expect, it } from "vitest";
import type { Confinement } from "../port.ts";
import { toSeatbeltCommand, toSeatbeltProfile } from "./seatbelt-profile.ts";

const confinement: Confinement = {
	writable: ["/work", "/hidden/inner"],
	scratch: ["/tmp"],
	readOnly: ["/work/.git/hooks", '/work/a "b"\\c'],
	missingAsFiles: [],
	removed: ["/work/.git/commondir"],
	visible: ["/hidden/skills"],
	hidden: ["/hidden"],
	network: { kind: "none" },
};
const resolve = (file: string) => (file === "/tmp" ? "/private/tmp" : file);

describe("the profile for macOS", () => {
	it("denies what it does not allow, and ends with the narrower rules", () => {
		const rules = toSeatbeltProfile(confinement, resolve).split(/\n(?=\()/);
		expect(rules.slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
		expect(rules.filter((rule) => /subpath|literal/.test(rule))).toEqual([
			'(allow file-write*\n\t(literal "/dev/null")\n\t(literal "/dev/zero")\n\t(literal "/dev/tty")\n)',
			'(allow file-write*\n\t(subpath "/work")\n\t(subpath "/hidden/inner")\n\t(subpath "/private/tmp")\n)',
			'(deny file-read* file-write*\n\t(subpath "/hidden")\n)',
			'(allow file-read*\n\t(subpath "/hidden/skills")\n)',
			'(allow file-read* file-write*\n\t(subpath "/hidden/inner")\n)',
			'(deny file-write*\n\t(subpath "/work/.git/hooks")\n\t(subpath "/work/a \\"b\\"\\\\c")\n\t(subpath "/work/.git/commondir")\n)',
			'(deny file-write-unlink\n\t(literal "/work/.git")\n)',
		]);
		expect(rules.at(-1)?.trim()).toBe("(deny network*)");
	});

	it("allows the network only with the machine's", () => {
		const profile = toSeatbeltProfile({ ...confinement, network: { kind: "host" } }, resolve);
		expect(profile).toContain("(allow network*)");
		expect(profile).not.toContain("(deny network*)");
	});

	it("is an argument of its own", () => {
		expect(toSeatbeltCommand("/bin/sh", ["-c", "x"], "(version 1)")).toEqual({
			file: "/usr/bin/sandbox-exec",
			arguments: ["-p", "(version 1)", "--", "/bin/sh", "-c", "x"],
		});
	});
});
