import type { CommandHook } from "../../api/values/hooks/hook.ts";
import { isRecord } from "../../base/json.ts";
import type { Processes, RunOutcome } from "../../ports/processes/port.ts";
import { allowed, blocked, type HookDecision } from "./hook.ts";

export interface CommandHookSettings {
	readonly processes: Processes;
	readonly workDir: string;
	readonly environment: Readonly<Record<string, string>>;
}

const outputLimit = 1_048_576;
const blockingExitCode = 2;

/** Exit 2 blocks with stderr as the reason; exit 0 allows unless stdout denies. Otherwise allows, unless fail closed. */
export async function runCommandHook(
	hook: CommandHook,
	input: Readonly<Record<string, unknown>>,
	{ processes, workDir, environment }: CommandHookSettings,
	signal: AbortSignal,
): Promise<HookDecision> {
	const outcome = await processes.run(
		{
			file: "/bin/sh",
			arguments: ["-c", hook.command],
			workDir,
			environment,
			input: JSON.stringify(input),
			timeout: hook.timeout * 1000,
			outputLimit,
			separateStderr: true,
		},
		signal,
	);
	return decisionOf(hook, outcome);
}

function decisionOf(hook: CommandHook, outcome: RunOutcome): HookDecision {
	const { ended } = outcome;
	switch (ended.kind) {
		case "exited":
			if (ended.exitCode === blockingExitCode) return blocked(outcome.errorOutput.trim());
			if (ended.exitCode === 0) {
				const denied = deniedPermission(outcome.output);
				if (denied !== null) return denied;
				return mayLackDecision(outcome) ? whenFailed(hook, "wrote more than 1 MiB") : allowed;
			}
			return whenFailed(hook, `exited with code ${ended.exitCode}`);
		case "signalled":
			return whenFailed(hook, `was ended by ${ended.signal}`);
		case "timed-out":
			return whenFailed(hook, `took longer than ${hook.timeout} s`);
		case "not-started":
			return whenFailed(hook, `could not be started: ${ended.reason}`);
		case "aborted":
			return allowed;
	}
}

function whenFailed(hook: CommandHook, what: string): HookDecision {
	return hook.failClosed
		? blocked(`The hook \`${hook.command}\` ${what}, and it is set to block in that case.`)
		: allowed;
}

function mayLackDecision({ truncated, output }: RunOutcome): boolean {
	return truncated && /^\s*(?:\{|$)/.test(output);
}

function deniedPermission(output: string): HookDecision | null {
	try {
		const value: unknown = JSON.parse(output);
		const specific = isRecord(value) ? value["hookSpecificOutput"] : null;
		if (!isRecord(specific) || specific["permissionDecision"] !== "deny") return null;
		const reason = specific["permissionDecisionReason"];
		return blocked(typeof reason === "string" ? reason : "");
	} catch {
		return null;
	}
}
