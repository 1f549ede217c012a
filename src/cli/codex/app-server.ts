import type { Installation } from "../../host/installation.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { writeNotice } from "../process/standard-error.ts";
import { type ConfigOverrides, readConfigOverrides } from "./config-overrides.ts";
import { emptyExecOptions, toProgramOptions, withSandbox } from "./exec-settings.ts";

export async function runAppServer(
	executable: string,
	config: readonly string[],
	installation: Installation,
): Promise<number> {
	const overrides = await readConfigOverrides(config);
	checkServed(overrides);
	for (const key of overrides.ignored) writeNotice(`--config ${key} has no effect here.\n`);
	const { runServer } = await import("../serve.ts");
	return await runServer(
		executable,
		{
			...toProgramOptions(emptyExecOptions, overrides),
			// The client answers approvals.
			yolo: false,
			session: { kind: "new" },
			mode: "codex",
			acpProtocol: "1",
			contract: null,
			realm: null,
			userConfigRoot: null,
		},
		installation,
		// Clients are asked for approval, so the sandbox stays off unless the settings enable it.
		(settings) =>
			overrides.sandbox === null && settings.sandbox.mode === "off"
				? settings
				: withSandbox(settings, overrides.sandbox, overrides.network),
	);
}

/** Throws UsageError. */
export function checkServed({ instructions, searchesWeb }: ConfigOverrides): void {
	if (instructions.length > 0) throw new UsageError("--config developer_instructions works only with exec.");
	if (!searchesWeb) throw new UsageError("--config web_search works only with exec.");
}
