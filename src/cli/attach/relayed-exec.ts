import type { Socket } from "node:net";
import path from "node:path";
import type { SessionHandle, SessionsApi } from "../../api/kernel.ts";
import { plainCreation } from "../../api/options.ts";
import { aborted, orAbort } from "../../base/abort.ts";
import { errorText } from "../../base/errors.ts";
import { withoutMark } from "../../base/text/lines.ts";
import { Outbox } from "../../ports/transports/outbox.ts";
import { lineLimit, outboxLimit } from "../../ports/transports/stdio.ts";
import type { CodexExecOptions } from "../arguments/options/codex-options.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { type ConfigOverrides, readConfigOverrides } from "../codex/config-overrides.ts";
import { checkPrompt, runTurn } from "../codex/exec.ts";
import { readExecInput } from "../codex/exec-input.ts";
import { execMode, sandboxRules } from "../codex/exec-settings.ts";
import { CommandSessions } from "./command-sessions.ts";
import {
	checkSandbox,
	type PreparedCommand,
	type RelayedProcess,
	type RelayHost,
	toCommandOptions,
	toNotice,
} from "./relayed-commands.ts";

export async function prepareExec(
	options: CodexExecOptions,
	process: RelayedProcess,
	relayHost: RelayHost,
): Promise<PreparedCommand> {
	const { host, home, shareDir, sandbox } = relayHost;
	if (!options.json) throw new Error("its output is not JSON lines.");
	if (options.resume === "last") throw new Error("--last is not served; name the thread.");
	const overrides = await readConfigOverrides(options.config);
	const asked = options.sandbox ?? overrides.sandbox ?? (sandbox.mode === "off" ? "read-only" : sandbox.mode);
	checkSandbox(asked, overrides, sandbox);
	const isConfined = asked !== "danger-full-access";
	if (isConfined && !sandbox.autoAllow) throw new Error("the gateway's settings do not allow commands in the sandbox.");
	if (options.resume !== null && overrides.instructions.length > 0)
		throw new Error("developer_instructions are not served with resume.");
	const cwd = path.resolve(process.cwd, options.workDir ?? ".");
	const command = toCommandOptions(overrides, { ...process, cwd });
	const sessions = new CommandSessions(host.sessions, {
		...command,
		additionalDirs: [
			...options.additionalDirs.map((directory) => path.resolve(process.cwd, directory)),
			...(command.additionalDirs ?? []),
		],
		rules: isConfined ? sandboxRules(asked, sandbox.network) : [],
	});
	// Opened before the command is taken: a failure is reported by its own process.
	const handle = await open(sessions, options, overrides);
	if (!isConfined) await handle.session.send({ type: "mode.set", mode: "yolo" });
	return {
		notice: toNotice(overrides),
		async run(socket, signal) {
			const output = new Outbox((text, done) => void socket.write(text, done), outboxLimit, "");
			socket.on("error", (error) => output.abandon(error));
			socket.on("close", () => output.abandon(new Error("the relay is gone")));
			const stopped = AbortSignal.any([signal, output.gone]);
			try {
				const prompt = checkPrompt(options.prompt ?? (await orAbort(readAll(socket), stopped)));
				const input = await readExecInput(prompt, options, { currentDir: process.cwd, home }, shareDir);
				const parts = { session: handle.session, isConfined, log: host.log };
				const work = runTurn(parts, input, overrides, true, output, stopped);
				await Promise.race([work, aborted(stopped)]);
				if (stopped.aborted) await sessions.stop();
				const exitCode = await work;
				await output.flush();
				return { exitCode, error: null };
			} catch (thrown) {
				return { exitCode: thrown instanceof UsageError ? 2 : 1, error: errorText(thrown) };
			} finally {
				if (!isConfined) await handle.session.send({ type: "mode.set", mode: "default" });
				await handle.discard();
				await sessions.end();
			}
		},
	};
}

async function open(
	sessions: SessionsApi,
	{ resume, model }: CodexExecOptions,
	overrides: ConfigOverrides,
): Promise<SessionHandle> {
	const wish = { model: model ?? overrides.model, thinking: overrides.thinking };
	const opening = { passesUnknownCommands: execMode.passesUnknownCommands ?? false };
	if (resume === null || resume === "last") {
		const { instructions } = overrides;
		const { permissions = {} } = execMode;
		return await sessions.create({ ...plainCreation, ...opening, permissions, instructions, model: wish.model });
	}
	const handle = await sessions.acquire(resume.id, opening);
	if (wish.model !== null || wish.thinking !== null) await handle.session.send({ type: "model.set", ...wish });
	return handle;
}

async function readAll(socket: Socket): Promise<string> {
	const pieces: Buffer[] = [];
	let length = 0;
	socket.on("data", (bytes: Buffer) => {
		length += bytes.length;
		if (length <= lineLimit) pieces.push(bytes);
	});
	await new Promise((resolve) => {
		socket.once("end", resolve);
		socket.resume();
	});
	if (length > lineLimit) throw new UsageError(`The prompt has more than ${lineLimit / 1_048_576} MiB.`);
	return withoutMark(Buffer.concat(pieces).toString("utf8"));
}
