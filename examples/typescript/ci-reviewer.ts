// Reviews the diff on stdin, prints what it finds, and exits with 1 if something must not be merged.
import { text } from "node:stream/consumers";
import { connect } from "agentwire/client";
import { z } from "zod";

const Review = z.object({
	findings: z.array(
		z.object({ file: z.string(), line: z.number(), severity: z.enum(["blocks", "warns"]), text: z.string() }),
	),
});

const kernel = await connect({ client: { name: "ci-reviewer", version: "1" } });
const session = await kernel.open({
	workDir: process.cwd(),
	instructions: ["You review changes. Report real defects, not matters of taste."],
	// Nobody is there to approve anything.
	approve: (ask) => ask.reject("Only read files."),
	budgets: { turnSeconds: 600 },
});
const turn = session.prompt(`Review this change:\n\n${await text(process.stdin)}`, { output: Review });
const { output, outcome, error } = await turn;
await kernel.close();

if (output === null) {
	console.error(`The review failed (${outcome}): ${error?.message ?? ""}`);
	process.exit(2);
}
for (const { file, line, severity, text: finding } of output.findings)
	console.log(`${file}:${line}: ${severity}: ${finding}`);
process.exitCode = output.findings.some(({ severity }) => severity === "blocks") ? 1 : 0;
