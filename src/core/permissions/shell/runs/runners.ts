import { optionTable, readOptions } from "../programs/options.ts";
import type { SimpleCommand } from "../script.ts";
import { type Run, runOf, scriptOf, type Unwrapped, unwrapLoose } from "./run.ts";

const packages = "--yes --no --quiet --silent --package= --workspace= --prefix=";
const environment = optionTable("-qv");

/** By program and verb; an option `c` or `call` has a script. */
const runners = new Map(
	Object.entries({
		"npx,npm exec,npm x": optionTable(`-yq -cpw: ${packages} --call=`),
		"pnpm dlx,pnpm exec": optionTable(`-crs -pw: ${packages}`),
		"pnpx,bunx,yarn dlx,yarn exec,bun x": optionTable(`-q -pw: ${packages}`),
		"uvx,uv run,uv tool run": optionTable(
			"-qvn -pf: --isolated --no-project --frozen --locked --no-sync --offline --quiet --verbose --active --no-dev --all-extras --dev --exact " +
				"--with= --with-editable= --with-requirements= --python= --project= --directory= --extra= --group= --env-file= --package= --from= --index=",
		),
		"poetry run,pipenv run,hatch run,pdm run,rye run,pixi run": environment,
		"bundle exec": environment,
	}).flatMap(([names, table]) => names.split(",").map((name) => [name, table] as const)),
);

/** Options that change neither the command nor its directory. */
const harmless = /^(?:y|yes|no|no-install|q|quiet|silent|frozen|locked|no-sync|offline|exact|dev|no-dev|all-extras)$/;

/** Null for a program without such a verb. */
export function unwrapRunner(name: string, command: SimpleCommand, isOneOfAll: boolean): Unwrapped | null {
	const words = command.words.slice(1);
	const [first, second] = words;
	const verbs = [name, `${name} ${first?.text}`, `${name} ${first?.text} ${second?.text}`];
	const at = verbs.findIndex((verb) => runners.has(verb));
	const table = runners.get(verbs[at] ?? "");
	if (table === undefined) return null;
	const { options, rest, unclear } = readOptions(words.slice(at), table);
	if (unclear !== null) return unwrapLoose(command, isOneOfAll);
	const scripts = options.filter((option) => table.valued?.includes("c") && /^(?:c|call)$/.test(option.name));
	const runs: Run[] = scripts.flatMap(({ value }) => (value?.kind === "literal" ? [scriptOf(value.text)] : []));
	const doubts = scripts.some(({ value }) => value?.kind !== "literal")
		? ["the command of a shell is not literal"]
		: [];
	if (rest.length > 0) runs.push(runOf(rest));
	return { runs, doubts, isTransparent: false, isFollowed: options.every((option) => harmless.test(option.name)) };
}
