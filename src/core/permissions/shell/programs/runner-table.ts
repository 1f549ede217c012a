// Programs with verbs that run the following words: in a container, another environment or another machine.
import { type OptionTable, optionTable } from "./options.ts";

export interface Runner {
	/** The words of the verb, the program first. */
	readonly names: readonly string[];
	readonly table: OptionTable;
	/** The number of words between the options and the program. */
	readonly positionals?: number;
	readonly scripts?: readonly string[];
	/** An option whose value is the program; the other words are its arguments. */
	readonly program?: string;
	/** Whether the program follows the first `--`, if any. */
	readonly afterDashes?: boolean;
	/** Whether it runs a program of the project in place. */
	readonly isFollowed?: boolean;
}

function row(programs: string, verbs: string, options: string, more: Omit<Runner, "names" | "table"> = {}): Runner {
	const names = programs.split(",").flatMap((program) => verbs.split(",").map((verb) => `${program} ${verb}`.trim()));
	return { names, table: optionTable(options), ...more };
}

const containers = "docker,podman,nerdctl,docker container,podman container";
const packages = "--yes --no --quiet --silent --package= --workspace= --prefix=";
const isFollowed = true;
const elsewhere = { positionals: 1, afterDashes: true };

export const runners: readonly Runner[] = [
	row("npx,npm exec,npm x", "", `-yq -cpw: ${packages}`, { isFollowed, scripts: ["c", "call"] }),
	row("pnpm", "dlx,exec", `-crs -pw: ${packages}`, { isFollowed }),
	row("pnpx,bunx,yarn dlx,yarn exec,bun x", "", `-q -pw: ${packages}`, { isFollowed }),
	row(
		"uvx,uv run,uv tool run",
		"",
		"-qvn -pf: --isolated --no-project --frozen --locked --no-sync --offline --quiet --verbose --active --no-dev --all-extras --dev --exact " +
			"--with= --with-editable= --with-requirements= --python= --project= --directory= --extra= --group= --env-file= --package= --from= --index=",
		{ isFollowed },
	),
	row("pipx", "run", "--no-cache --pypackages --spec= --python= --pip-args= --index-url="),
	row("poetry,pipenv,hatch,pdm,rye,pixi", "run", "-qv", { isFollowed }),
	row(
		"devbox",
		"run",
		"-lq -ce: --list --quiet --pure --omit-nix-env --recompute --config= --env= --env-file= --environment=",
	),
	row("lerna,nx", "exec", ""),
	row("conda,mamba,micromamba", "run", "-v -np: --name= --prefix= --cwd="),
	row("bundle", "exec", "--keep-file-descriptors", { isFollowed }),
	row(
		containers,
		"exec",
		"-dit -euw: --detach --interactive --tty --privileged --detach-keys= --env= --env-file= --user= --workdir=",
		{ positionals: 1 },
	),
	row(
		containers,
		"run,create",
		"-ditPq -acehlmpuvw: --detach --interactive --tty --rm --init --privileged --read-only --publish-all --no-healthcheck --quiet --volume= " +
			"--env= --env-file= --workdir= --user= --name= --network= --net= --mount= --entrypoint= --platform= --label= --memory= --cpus= --hostname= " +
			"--add-host= --gpus= --publish= --expose= --pull= --restart= --cap-add= --cap-drop= --security-opt= --device= --shm-size= --ulimit= " +
			"--tmpfs= --ipc= --pid= --userns= --cidfile= --dns=",
		{ positionals: 1, program: "entrypoint" },
	),
	row(
		"docker compose,docker-compose,podman compose,podman-compose",
		"exec,run",
		"-dTitP -euwvpl: --detach --rm --no-deps --no-TTY --privileged --service-ports --interactive --tty --build --env= --user= --workdir= " +
			"--index= --entrypoint= --name= --volume= --publish= --label=",
		{ positionals: 1, program: "entrypoint" },
	),
	row("kubectl,oc,k3s kubectl,microk8s kubectl,minikube kubectl", "exec,run,debug", "", elsewhere),
	row("lxc,incus,multipass", "exec", "", elsewhere),
	row("distrobox,toolbox,apptainer,singularity,flatpak", "enter,exec,run", "", elsewhere),
	row("nix", "run,develop,shell", "-L -c:", { ...elsewhere, scripts: ["c"] }),
	row("go", "run", "", { positionals: 1 }),
	row("ip", "netns exec,vrf exec", "", { positionals: 1 }),
	row("cmake", "-E env,-E time", "", { afterDashes: true }),
	row("cmake", "-E chdir", "", { positionals: 1 }),
	row("rbenv,pyenv,opam,stack,cabal,dune", "exec", ""),
	row("nvm,fnm,chamber", "exec", "", { positionals: 1 }),
	row("volta,doppler,infisical,foreman,honcho,teller", "run", ""),
];
