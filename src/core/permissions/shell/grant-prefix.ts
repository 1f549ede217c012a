// What an approval for the session stores of a simple command: enough that the same work is not asked about again, and
// not so much that other work is allowed.
import { posix } from "node:path";
import { hasHarmlessAssignments } from "./command-pattern.ts";
import { riskOf } from "./programs/risky-flags.ts";
import type { SimpleCommand } from "./script.ts";

export interface GrantPrefix {
	/** The program first; one with a path by its absolute path. */
	readonly tokens: readonly string[];
	/** Whether no further words may follow. */
	readonly isExact: boolean;
}

/** Programs that only print: whatever their words, they do the same. */
const withoutVerb = new Set(
	"echo printf ls pwd cat head tail wc date whoami uname stat du df sleep true false".split(" "),
);

/** Programs of which one word says what they do. */
const withVerb = new Set(
	(
		"git npm pnpm yarn bun cargo docker podman kubectl go pip pip3 uv poetry pipenv make gmake just terraform helm brew apt " +
		"apt-get dnf systemctl dotnet mvn gradle bundle rake composer deno rustup conda gh nx turbo tox nox mix stack cabal swift"
	).split(" "),
);

/** The first words of what has one more word that says what it does. */
const withSecondVerb = new Set(
	(
		"npm run,npm run-script,pnpm run,yarn run,bun run,docker compose,docker container,docker image,docker network," +
		"docker volume,docker system,podman compose,go mod,go work,uv pip,git stash,git remote,git worktree,git submodule,git bisect," +
		"git notes,gh pr,gh issue,gh run,gh release,gh repo,gh workflow,kubectl config,kubectl rollout,dotnet tool"
	).split(","),
);

/** What runs whatever its further words name: only as a whole. */
const runners = new Set(
	(
		"npm exec,npm x,pnpm exec,pnpm dlx,yarn exec,yarn dlx,bun x,docker exec,docker run,podman exec,podman run,docker compose exec," +
		"docker compose run,kubectl exec,kubectl run,go run,cargo run,deno run,deno eval,uv run,uv tool,poetry run,pipenv run," +
		"conda run,bundle exec,git config,git bisect run,git submodule foreach,gh api,gh alias,gh extension,git remote set-url," +
		"go generate,cargo install,go install"
	).split(","),
);

/** What to store for a command; null for one whose words are not all certain. */
export function grantPrefix(command: SimpleCommand): GrantPrefix | null {
	const texts = grantableTexts(command);
	if (texts === null) return null;
	const prefix = verbPrefix(texts);
	if (prefix === null || riskOf(command, new Set(prefix)) !== null) {
		return command.words.every((word) => word.kind === "literal") ? { tokens: texts, isExact: true } : null;
	}
	return { tokens: prefix, isExact: false };
}

/** The words, of which those that are not literal are never part of a prefix. */
function grantableTexts(command: SimpleCommand): readonly string[] | null {
	const [program, ...words] = command.words;
	if (program?.kind !== "literal" || program.text === "" || command.isDeclaredHere) return null;
	if (!hasHarmlessAssignments(command)) return null;
	if (program.text.includes("/") && !posix.isAbsolute(program.text) && command.cwd === null) return null;
	const path = program.text.includes("/") ? posix.resolve(command.cwd ?? "/", program.text) : program.text;
	return [path, ...words.map((word) => (word.kind === "literal" ? word.text : "$"))];
}

function verbPrefix(texts: readonly string[]): readonly string[] | null {
	const [program, verb, second] = texts;
	if (program === undefined) return null;
	if (withoutVerb.has(program)) return [program];
	if (!withVerb.has(program) || !isVerb(verb)) return null;
	const one = [program, verb];
	if (runners.has(one.join(" "))) return null;
	if (!withSecondVerb.has(one.join(" "))) return one;
	if (!isVerb(second)) return null;
	const two = [...one, second];
	return runners.has(two.join(" ")) ? null : two;
}

function isVerb(text: string | undefined): text is string {
	return text !== undefined && /^[A-Za-z][\w:.-]*$/.test(text);
}
