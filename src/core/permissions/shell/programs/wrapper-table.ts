// Wrappers that take their options first and the program with its words after them.
import type { OptionTable } from "./options.ts";

export interface WrapperOptions extends OptionTable {
	/** How many words stand between the options and the program. */
	readonly positionals?: number;
	/** Whether `NAME=value` may stand before the program. */
	readonly takesAssignments?: boolean;
	/** Options with which no program is run. */
	readonly endsWithout?: readonly string[];
	/** Options after which the program runs in another directory. */
	readonly moves?: readonly string[];
	readonly alwaysMoves?: boolean;
	/** What happens without a program. */
	readonly withoutProgram?: "shell";
	/** Whether it changes nothing but time or priority, if it has no other options than the harmless ones. */
	readonly isTransparent?: boolean;
	readonly harmless?: readonly string[];
	/** Whether the program may be a command of the shell itself. */
	readonly isInThisShell?: boolean;
}

const sudoLong =
	"askpass background bell preserve-env edit login shell help list no-update non-interactive preserve-groups " +
	"remove-timestamp reset-timestamp set-home stdin validate version";

/** By the name of the program. */
export const wrapperTable: Readonly<Record<string, WrapperOptions>> = {
	timeout: {
		flags: "vfp",
		valued: "ks",
		longFlags: ["foreground", "preserve-status", "verbose", "help", "version"],
		longValued: ["kill-after", "signal"],
		positionals: 1,
		isTransparent: true,
		harmless: ["v", "f", "p", "k", "s", "foreground", "preserve-status", "verbose", "kill-after", "signal"],
	},
	// With `-o` it writes a file.
	time: {
		flags: "apvqVh",
		valued: "fo",
		longFlags: ["append", "portability", "verbose", "quiet", "help", "version"],
		longValued: ["format", "output"],
		isTransparent: true,
		harmless: ["p", "v", "q", "portability", "verbose", "quiet"],
	},
	nice: {
		valued: "n",
		longFlags: ["help", "version"],
		longValued: ["adjustment"],
		takesNumber: true,
		isTransparent: true,
		harmless: ["n", "adjustment", "number"],
	},
	ionice: {
		flags: "thV",
		valued: "cnpPu",
		longFlags: ["ignore", "help", "version"],
		longValued: ["class", "classdata", "pid", "pgid", "uid"],
		endsWithout: ["p", "P", "u", "pid", "pgid", "uid"],
		isTransparent: true,
		harmless: ["t", "c", "n", "ignore", "class", "classdata"],
	},
	nohup: { longFlags: ["help", "version"], isTransparent: true, harmless: [] },
	stdbuf: {
		valued: "ioe",
		longFlags: ["help", "version"],
		longValued: ["input", "output", "error"],
		isTransparent: true,
		harmless: ["i", "o", "e", "input", "output", "error"],
	},
	setsid: { flags: "cfwhV", longFlags: ["ctty", "fork", "wait", "help", "version"] },
	command: { flags: "pvV", endsWithout: ["v", "V"], isTransparent: true, harmless: [], isInThisShell: true },
	builtin: { isTransparent: true, harmless: [], isInThisShell: true },
	exec: { flags: "cl", valued: "a", isTransparent: true, harmless: [] },
	sudo: {
		flags: "ABbEeHhiKklnPSsVvN",
		valued: "CDghpRrTtUu",
		longFlags: sudoLong.split(" "),
		longValued: "close-from chdir group host prompt chroot role command-timeout type other-user user".split(" "),
		takesAssignments: true,
		endsWithout: ["e", "edit"],
		moves: ["i", "login", "D", "chdir", "R", "chroot"],
	},
	doas: { flags: "nLs", valued: "aCu", takesAssignments: true },
	pkexec: {
		longFlags: ["disable-internal-agent", "keep-cwd", "help", "version"],
		longValued: ["user"],
		alwaysMoves: true,
	},
	chroot: {
		longFlags: ["skip-chdir", "help", "version", "userspec", "groups"],
		positionals: 1,
		alwaysMoves: true,
		withoutProgram: "shell",
	},
	unshare: {
		flags: "mnuipUCTrcfhV",
		valued: "RwSGl",
		longFlags: (
			"mount uts ipc net pid user cgroup time fork forward-signals map-root-user map-current-user map-auto mount-proc " +
			"mount-binfmt kill-child keep-caps help version propagation setgroups"
		).split(" "),
		longValued:
			"map-user map-group map-users map-groups root wd setuid setgid monotonic boottime load-interp owner".split(" "),
		alwaysMoves: true,
		withoutProgram: "shell",
	},
	nsenter: {
		flags: "aFZehVc",
		valued: "tSGN",
		attached: "muinpUCTrwW",
		longFlags: (
			"all mount uts ipc net pid cgroup user user-parent time root wd wdns env no-fork follow-context preserve-credentials " +
			"keep-caps join-cgroup help version"
		).split(" "),
		longValued: ["target", "setuid", "setgid", "net-socket"],
		alwaysMoves: true,
		withoutProgram: "shell",
	},
	busybox: {
		longFlags: ["install", "list", "list-full", "help"],
		endsWithout: ["install", "list", "list-full", "help"],
	},
	toybox: { longFlags: ["long", "help", "version"], endsWithout: ["help", "version"] },
	strace: {
		flags: "cCdDfFhiknNqrtTvVwxyYzZ",
		valued: "abeEIoOpPsSuUX",
		longFlags: (
			"help version debug follow-forks output-separately summary-only summary tips daemonize instruction-pointer " +
			"stack-trace syscall-number quiet relative-timestamps absolute-timestamps timestamps syscall-times no-abbrev " +
			"strings-in-hex decode-fds decode-pids successful-only failed-only seccomp-bpf kill-on-exit"
		).split(" "),
		longValued: (
			"attach user env trace trace-path abbrev verbose raw read write signal status fault inject output column " +
			"string-limit detach-on interruptible summary-sort-by summary-columns summary-wall-clock argv0 const-print-style"
		).split(" "),
	},
	"systemd-run": {
		flags: "dGPqrStvhT",
		valued: "uMHpEC",
		longFlags: (
			"help version user system scope slice-inherit remain-after-exit send-sighup no-block wait same-dir pty pipe quiet shell " +
			"collect no-ask-password expand-environment ignore-failure background json"
		).split(" "),
		longValued: (
			"host machine unit property description slice service-type uid gid nice working-directory setenv on-active on-boot " +
			"on-startup on-unit-active on-unit-inactive on-calendar path-property socket-property timer-property capsule job-mode"
		).split(" "),
		alwaysMoves: true,
	},
};
