// What rules and the sandbox add to a command.
import type { Choice } from "../choice.ts";
import { measurePermissions } from "../permissions.ts";
import type { Measure } from "../report.ts";
import { own } from "../targets.ts";
import { endProgress, printMeasures, showProgress } from "./printing.ts";

export async function runPermissions(choice: Choice, folder: string): Promise<void> {
	const columns = {
		decision: { name: "decision over a command of 200 characters", values: [] as number[] },
		plain: { name: "`true` without the sandbox", values: [] as number[] },
		sandboxed: { name: "`true` in the sandbox", values: [] as number[] },
		added: { name: "what the sandbox adds to a `true`", values: [] as number[] },
	};
	for (let round = 1; round <= choice.runs; round += 1) {
		showProgress(choice, `run ${round} of ${choice.runs}`);
		const times = await measurePermissions(folder);
		columns.decision.values.push(times.decision);
		for (const key of ["plain", "sandboxed", "added"] as const) {
			if (times.commands !== null) columns[key].values.push(times.commands[key]);
		}
	}
	endProgress(choice);
	const measured = Object.values(columns).filter(({ values }) => values.length > 0);
	printMeasures(
		choice,
		measured.map(({ name, values }): Measure => ({ name, unit: "ms", values: new Map([[own, values]]) })),
	);
}
