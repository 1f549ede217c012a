// The commands `login` and `logout`: print events on stdout, and errors also on stderr; the exit code is 1 on failure.
import { systemClock } from "../../base/clock.ts";
import { isSystemError } from "../../base/errors.ts";
import { redactSecrets } from "../../base/redaction.ts";
import { productVersion } from "../../host/product.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { fileFailureText } from "../../ports/files/file-failure.ts";
import { privateBelow } from "../../ports/files/private-paths.ts";
import { ConfigurationError } from "../../settings/config/configuration-error.ts";
import { SignInError } from "../../settings/credentials/device-flow.ts";
import { createCommandFetch } from "../command-services.ts";
import { currentDirectory, homeDirectory, shareDirectory } from "../paths.ts";
import { environmentVariables } from "../process/environment.ts";
import { handleStopSignals } from "../process/stop-signals.ts";
import { whileShown } from "../process/waiting-line.ts";
import { type SignInSettings, signIn, signOut } from "./sign-in.ts";
import { type SignInEvent, toEventLine, toEventText } from "./sign-in-events.ts";

export async function runLogin(command: "login" | "logout", json: boolean): Promise<number> {
	const stopping = new AbortController();
	handleStopSignals(() => stopping.abort());
	// The caller is gone: nobody will open the address.
	process.stdout.on("error", () => stopping.abort());
	process.stderr.on("error", () => {});
	let makeRoom = () => {};
	const report = (event: SignInEvent) => {
		makeRoom();
		process.stdout.write(json ? toEventLine(event) : toEventText(event));
	};
	const environment = environmentVariables();
	const place = { currentDir: currentDirectory(), home: homeDirectory() };
	const shareDir = shareDirectory(environment, place);
	const files = createDiskFiles(privateBelow(shareDir));
	const settings: SignInSettings = {
		files,
		shareDir,
		environment,
		clock: systemClock,
		fetch: createCommandFetch({ environment, files, shareDir, place }),
		version: productVersion,
		signal: stopping.signal,
		report,
	};
	try {
		const work = () => (command === "login" ? signIn(settings) : signOut(settings));
		// If stdout carries events for a program, the terminal may belong to that program.
		const shown = (clear: () => void) => {
			makeRoom = clear;
			return work();
		};
		await (json ? work() : whileShown(command === "login" ? "Signing in" : "Signing out", shown));
		return 0;
	} catch (thrown) {
		if (!isExpected(thrown)) throw thrown;
		const message = redactSecrets(fileFailureText(thrown));
		if (json) report({ type: "error", message, data: null });
		process.stderr.write(`Error: ${message}\n`);
		return 1;
	}
}

/** Errors the user can fix: the sign-in, the settings, the disk. */
function isExpected(thrown: unknown): boolean {
	return thrown instanceof SignInError || thrown instanceof ConfigurationError || isSystemError(thrown);
}
