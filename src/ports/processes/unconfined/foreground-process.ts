// A child with our stdin, output and process group, for commands that prepare the environment of another program.
import { spawn } from "node:child_process";

export interface ForegroundRequest {
	readonly file: string;
	readonly arguments: readonly string[];
	readonly environment: Readonly<Record<string, string>>;
}

export interface ForegroundProcess {
	/** How it ended. Never rejects. */
	readonly gone: Promise<
		| { readonly kind: "exited"; readonly exitCode: number }
		| { readonly kind: "signalled"; readonly signal: NodeJS.Signals }
		| { readonly kind: "not-started"; readonly reason: Error }
	>;
	kill(signal: NodeJS.Signals): void;
}

export function startForeground({ file, arguments: words, environment }: ForegroundRequest): ForegroundProcess {
	const child = spawn(file, words, { env: environment, stdio: "inherit" });
	return {
		gone: new Promise((resolve) => {
			child.once("error", (reason) => resolve({ kind: "not-started", reason }));
			child.once("exit", (code, signal) =>
				resolve(signal === null ? { kind: "exited", exitCode: code ?? 0 } : { kind: "signalled", signal }),
			);
		}),
		kill: (signal) => void child.kill(signal),
	};
}
