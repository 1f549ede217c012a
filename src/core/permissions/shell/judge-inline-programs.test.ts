// Interpreters with the text of a program: what it runs is hidden from every rule.
import { describeScripts } from "../../../../test/support/permissions/script-cases.ts";

const inline = [
	"perl -e 'system(1)'",
	"perl -wE x",
	"perl -pi -e s/a/b/ f",
	"python3 -c 'import os'",
	"python3 -Ic x",
	"python3 -i",
	"python3 -m timeit x",
	"python3 -m http.server",
	"node --import data:text/javascript,x",
	"perl -MO=x s.pl",
	"php -d auto_prepend_file=x s.php",
	"python3.12 -c x",
	"/usr/bin/python3 -c x",
	"env python3 -c x",
	"ruby -e x",
	"node -e x",
	"node --eval=x",
	"node -pe x",
	"php -r x",
	"lua -e x",
	"deno eval x",
	"awk 'BEGIN{system(1)}'",
	"python3",
	"python3 - a",
	"python3 /dev/stdin",
	"python3 /proc/self/fd/0",
	"python3 <(cat f)",
	"cat f | perl",
	"ls; (ruby -e x)",
];
const files = [
	"python3 s.py",
	"python3 s.py -c x",
	"python3 -m pytest -q tests",
	"python3 --version",
	"perl s.pl -e",
	"node s.js",
];
const all = "perl:*; python3:*; python3.12:*; ruby:*; node:*; php:*; lua:*; deno:*; awk:*; cat:*; ls:*";

describeScripts([
	{ what: "a rule for the interpreter alone", rules: { allow: all }, decision: "none", scripts: inline },
	{ what: "a rule that denies commands", rules: { deny: "rm:*", allow: all }, decision: "ask", scripts: inline },
	{ what: "a file with the program", rules: { deny: "rm:*", allow: all }, decision: "allow", scripts: files },
	{
		what: "a rule that names the option",
		rules: { allow: "python3 -c:*" },
		decision: "allow",
		scripts: ["python3 -c x"],
	},
	{
		what: "a rule that names the option, and one that denies commands",
		rules: { deny: "rm:*", allow: "python3 -c:*" },
		decision: "ask",
		scripts: ["python3 -c x"],
	},
	{
		what: "a rule with the whole text",
		rules: { deny: "rm:*", allow: "python3 -c x" },
		decision: "allow",
		scripts: ["python3 -c x"],
	},
]);
