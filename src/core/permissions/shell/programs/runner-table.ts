// Programs of which a verb runs what the words after it name: in a container, in another environment, on another machine.
import type { OptionTable } from "./options.ts";

export interface Runner extends OptionTable {
	/** The words that stand for it, with the program first; null for "any word". */
	readonly names: readonly string[];
	/** How many words stand between the options and the program. */
	readonly positionals?: number;
	/** Options whose value is a script. */
	readonly scripts?: readonly string[];
	/** An option whose value is the program, with the other words after it. */
	readonly program?: string;
	/** Whether the program stands after the first `--`, if there is one. */
	readonly afterDashes?: boolean;
	/** Whether it runs the program where it is, as one of the project. */
	readonly isFollowed?: boolean;
}

const split = (text: string): readonly string[] => text.split(" ");

/** Every verb of every program. */
function names(programs: string, verbs: string): readonly string[] {
	return programs.split(",").flatMap((program) => verbs.split(",").map((verb) => `${program} ${verb}`.trim()));
}

const containers = "docker,podman,nerdctl,docker container,podman container";
const packages = {
	valued: "pw",
	longValued: split("package workspace prefix"),
	longFlags: split("yes no quiet silent"),
	isFollowed: true,
};

export const runners: readonly Runner[] = [
	{ names: ["npx", ...names("npm", "exec,x")], ...packages, flags: "yq", valued: "cpw", scripts: ["c", "call"] },
	{ names: names("pnpm", "dlx,exec"), ...packages, flags: "crs", scripts: [] },
	{ names: ["pnpx", "bunx", ...names("yarn", "dlx,exec"), ...names("bun", "x")], ...packages, flags: "q" },
	{
		names: ["uvx", ...names("uv", "run,tool run")],
		isFollowed: true,
		flags: "qvn",
		valued: "pf",
		longFlags: split(
			"isolated no-project frozen locked no-sync offline quiet verbose active no-dev all-extras dev exact",
		),
		longValued: split(
			"with with-editable with-requirements python project directory extra group env-file package from index",
		),
	},
	{
		names: names("pipx", "run"),
		longValued: split("spec python pip-args index-url"),
		longFlags: split("no-cache pypackages"),
	},
	{ names: names("poetry,pipenv,hatch,pdm,rye,pixi", "run"), flags: "qv", isFollowed: true },
	{
		names: names("devbox", "run"),
		flags: "lq",
		valued: "ce",
		longFlags: split("list quiet pure omit-nix-env recompute"),
		longValued: split("config env env-file environment"),
	},
	{ names: names("lerna,nx", "exec") },
	{ names: names("conda,mamba,micromamba", "run"), flags: "v", valued: "np", longValued: split("name prefix cwd") },
	{ names: names("bundle", "exec"), longFlags: split("keep-file-descriptors"), isFollowed: true },
	{
		names: names(containers, "exec"),
		flags: "dit",
		valued: "euw",
		longFlags: split("detach interactive tty privileged"),
		longValued: split("detach-keys env env-file user workdir"),
		positionals: 1,
	},
	{
		names: names(containers, "run,create"),
		flags: "ditPq",
		valued: "acehlmpuvw",
		longFlags: split("detach interactive tty rm init privileged read-only publish-all no-healthcheck quiet"),
		longValued: split(
			"volume env env-file workdir user name network net mount entrypoint platform label memory cpus hostname add-host gpus " +
				"publish expose pull restart cap-add cap-drop security-opt device shm-size ulimit tmpfs ipc pid userns cidfile dns",
		),
		positionals: 1,
		program: "entrypoint",
	},
	{
		names: names("docker compose,docker-compose,podman compose,podman-compose", "exec,run"),
		flags: "dTitP",
		valued: "euwvpl",
		longFlags: split("detach rm no-deps no-TTY privileged service-ports interactive tty build"),
		longValued: split("env user workdir index entrypoint name volume publish label"),
		positionals: 1,
		program: "entrypoint",
	},
	{
		names: names("kubectl,oc,k3s kubectl,microk8s kubectl,minikube kubectl", "exec,run,debug"),
		positionals: 1,
		afterDashes: true,
	},
	{ names: names("lxc,incus,multipass", "exec"), positionals: 1, afterDashes: true },
	{
		names: names("distrobox,toolbox,apptainer,singularity,flatpak", "enter,exec,run"),
		positionals: 1,
		afterDashes: true,
	},
	{
		names: names("nix", "run,develop,shell"),
		flags: "L",
		valued: "c",
		positionals: 1,
		afterDashes: true,
		scripts: ["c"],
	},
	{ names: names("go", "run"), positionals: 1 },
	{ names: names("ip", "netns exec,vrf exec"), positionals: 1 },
	{ names: names("cmake", "-E env,-E time"), afterDashes: true },
	{ names: names("cmake", "-E chdir"), positionals: 1 },
	{ names: names("rbenv,pyenv,opam,stack,cabal,dune", "exec") },
	{ names: names("nvm,fnm,chamber", "exec"), positionals: 1 },
	{ names: names("volta,doppler,infisical,foreman,honcho,teller", "run") },
];
