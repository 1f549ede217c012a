// `codex app-server`: threads over stdin and stdout, for the Codex SDK for Python and other clients of that protocol.
import type { Installation } from "../../host/installation.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { writeNotice } from "../process/standard-error.ts";
import { runServer } from "../serve.ts";
import { type ConfigOverrides, readConfigOverrides } from "./config-overrides.ts";
import { emptyExecOptions, toProgramOptions, withSandbox } from "./exec-settings.ts";

/** Serves until the client is gone; returns the exit code. Throws UsageError. */
export async function runAppServer(
	executable: string,
	config: readonly string[],
	installation: Installation,
): Promise<number> {
	const overrides = await readConfigOverrides(config);
	checkServed(overrides);
	for (const key of overrides.ignored) writeNotice(`--config ${key} has no effect here.\n`);
	return await runServer(
		executable,
		{
			...toProgramOptions(emptyExecOptions, overrides),
			// Approvals are for the client to give.
			yolo: false,
			session: { kind: "new" },
			mode: "codex",
			acpProtocol: "1",
			contract: null,
			realm: null,
			userConfigRoot: null,
		},
		installation,
		// Clients are asked: without a sandbox in the settings there is none.
		(settings) =>
			overrides.sandbox === null && settings.sandbox.mode === "off"
				? settings
				: withSandbox(settings, overrides.sandbox, overrides.network),
	);
}

/** What only a single turn can be started with. */
function checkServed({ instructions, searchesWeb }: ConfigOverrides): void {
	if (instructions.length > 0) throw new UsageError("--config developer_instructions works only with exec.");
	if (!searchesWeb) throw new UsageError("--config web_search works only with exec.");
}
