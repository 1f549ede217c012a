// Wrappers with their options first, followed by the program and its words.
import { type OptionTable, optionTable } from "./options.ts";

export interface WrapperOptions {
	readonly table: OptionTable;
	/** The number of words between the options and the program. */
	readonly positionals?: number;
	/** Whether `NAME=value` may stand before the program. */
	readonly takesAssignments?: boolean;
	/** Options with which it runs no program. */
	readonly endsWithout?: string;
	/** Options that change the program's directory; "always" for any. */
	readonly moves?: string;
	/** Whether it starts a shell when no program is named. */
	readonly isShell?: boolean;
	/** The options, or none, with which it only affects time or priority. */
	readonly harmless?: string;
	/** Whether the program may be a shell builtin. */
	readonly isInThisShell?: boolean;
}

const wrapper = (options: string, more: Omit<WrapperOptions, "table"> = {}): WrapperOptions => ({
	table: optionTable(options),
	...more,
});

export const wrapperTable: ReadonlyMap<string, WrapperOptions> = new Map(
	Object.entries({
		timeout: wrapper("-vfp -ks: --foreground --preserve-status --verbose --help --version --kill-after= --signal=", {
			positionals: 1,
			harmless: "v f p k s foreground preserve-status verbose kill-after signal",
		}),
		// `-o` writes a file.
		time: wrapper("-apvqVh -fo: --append --portability --verbose --quiet --help --version --format= --output=", {
			harmless: "p v q portability verbose quiet",
		}),
		nice: wrapper("-n: -# --help --version --adjustment=", { harmless: "n adjustment number" }),
		ionice: wrapper("-thV -cnpPu: --ignore --help --version --class= --classdata= --pid= --pgid= --uid=", {
			endsWithout: "p P u pid pgid uid",
			harmless: "t c n ignore class classdata",
		}),
		nohup: wrapper("--help --version", { harmless: "" }),
		stdbuf: wrapper("-ioe: --help --version --input= --output= --error=", { harmless: "i o e input output error" }),
		setsid: wrapper("-cfwhV --ctty --fork --wait --help --version"),
		command: wrapper("-pvV", { endsWithout: "v V", harmless: "", isInThisShell: true }),
		builtin: wrapper("", { harmless: "", isInThisShell: true }),
		exec: wrapper("-cl -a:", { harmless: "" }),
		sudo: wrapper(
			"-ABbEeHhiKklnPSsVvN -CDghpRrTtUu: --askpass --background --bell --preserve-env --edit --login --shell --help --list --no-update " +
				"--non-interactive --preserve-groups --remove-timestamp --reset-timestamp --set-home --stdin --validate --version --close-from= " +
				"--chdir= --group= --host= --prompt= --chroot= --role= --command-timeout= --type= --other-user= --user=",
			{ takesAssignments: true, endsWithout: "e edit", moves: "i login D chdir R chroot" },
		),
		doas: wrapper("-nLs -aCu:", { takesAssignments: true }),
		pkexec: wrapper("--disable-internal-agent --keep-cwd --help --version --user=", { moves: "always" }),
		chroot: wrapper("--skip-chdir --help --version --userspec --groups", {
			positionals: 1,
			moves: "always",
			isShell: true,
		}),
		unshare: wrapper(
			"-mnuipUCTrcfhV -RwSGl: --mount --uts --ipc --net --pid --user --cgroup --time --fork --forward-signals --map-root-user " +
				"--map-current-user --map-auto --mount-proc --mount-binfmt --kill-child --keep-caps --help --version --propagation --setgroups " +
				"--map-user= --map-group= --map-users= --map-groups= --root= --wd= --setuid= --setgid= --monotonic= --boottime= --load-interp= --owner=",
			{ moves: "always", isShell: true },
		),
		nsenter: wrapper(
			"-aFZehVc -tSGN: -muinpUCTrwW? --all --mount --uts --ipc --net --pid --cgroup --user --user-parent --time --root --wd --wdns --env " +
				"--no-fork --follow-context --preserve-credentials --keep-caps --join-cgroup --help --version --target= --setuid= --setgid= --net-socket=",
			{ moves: "always", isShell: true },
		),
		busybox: wrapper("--install --list --list-full --help", { endsWithout: "install list list-full help" }),
		toybox: wrapper("--long --help --version", { endsWithout: "help version" }),
		"systemd-run": wrapper(
			"-dGPqrStvhT -uMHpEC: --help --version --user --system --scope --slice-inherit --remain-after-exit --send-sighup --no-block --wait " +
				"--same-dir --pty --pipe --quiet --shell --collect --no-ask-password --expand-environment --ignore-failure --background --json --host= " +
				"--machine= --unit= --property= --description= --slice= --service-type= --uid= --gid= --nice= --working-directory= --setenv= --on-active= " +
				"--on-boot= --on-startup= --on-unit-active= --on-unit-inactive= --on-calendar= --path-property= --socket-property= --timer-property= " +
				"--capsule= --job-mode=",
			{ moves: "always" },
		),
	}),
);
