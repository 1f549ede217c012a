// A real terminal for a command, where util-linux has one to lend.
import { existsSync } from "node:fs";

export const hasTerminal = existsSync("/usr/bin/script") && process.platform === "linux";

/** The shell command that runs another one, without single quotes, on a terminal; what it prints comes out of stdout. */
export const onTerminal = (command: string): string => `script -qec '${command}' /dev/null`;
