import { expect, it } from "vitest";
import { withPlacedProgram } from "./placed-program.ts";

it.each([
	["./check.sh", "/share/check.sh"],
	["hooks/check.sh --fast a/b", "/share/hooks/check.sh --fast a/b"],
	["../check", "/check"],
	["A=1 B=x/y ./check && ./other", "A=1 B=x/y /share/check && ./other"],
	["/usr/bin/check ./file", "/usr/bin/check ./file"],
	["check ./file", "check ./file"],
	["~/bin/check", "~/bin/check"],
	["$HOME/bin/check", "$HOME/bin/check"],
	["echo 'a;./b'", "echo 'a;./b'"],
])("places the program of %j", (command, placed) => {
	expect(withPlacedProgram(command, "/share")).toBe(placed);
});
