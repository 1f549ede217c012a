import type { Form } from "../form.ts";
import { plainWord, rows } from "./form-rows.ts";

/** Registry package names, optionally with a version; no paths or addresses. */
const packageName = /^(?:@[\w-][\w.-]*\/)?[A-Za-z0-9_][\w.-]*(?:\[[\w,]+\])?(?:(?:@|[=~<>!]=?)[\w.^~<>=*,! -]+)?$/;

/** The arguments of a package script, which is usually a test runner. */
export const runnerArguments: Form = {
	options:
		"-bfiqsuvwx -t: -g: -k: -# --grep= --testNamePattern= --testPathPattern= --testPathPatterns= --test-name-pattern= --filter= --coverage " +
		"--no-coverage --watch --watchAll --verbose --silent --quiet --bail --ci --runInBand --run --fix --check --list --color --no-color " +
		"--only --changed --updateSnapshot --update --passWithNoTests --forceExit --detectOpenHandles --retries= --retry= --headed --ui " +
		"--timeout= --testTimeout= --maxWorkers= --workers= --reporter= --reporters= --mode= --port= --ext= --max-warnings= --noEmit " +
		"--production --dev --write --nocapture --test --no-watch",
	value: plainWord,
	operand: plainWord,
	files: "run",
	judge: ({ options }) =>
		options.some(({ name, value }) => /^reporters?$/.test(name) && !/^[a-z][a-z0-9-]*$/.test(value?.text ?? ""))
			? "a reporter may be any file"
			: null,
};

const script: Form = {
	options:
		"-s -w: --silent --if-present --workspaces --workspace= --include-workspace-root -r --recursive --stream --parallel --filter=",
	value: plainWord,
	operand: plainWord,
	tail: runnerArguments,
};

const install: Form = {
	options:
		"-DEPSsW --save-dev --save --save-exact --save-prod --save-optional --no-save --no-audit --no-fund --legacy-peer-deps --production --omit= " +
		"--include= --prefer-offline --offline --ignore-scripts --frozen-lockfile --no-frozen-lockfile --immutable --dev --exact --silent " +
		"--no-progress --package-lock-only -w: --workspace= -y",
	operand: packageName,
	value: plainWord,
};

/** Scripts that yarn, pnpm and bun run by name. */
const ownNames = "build lint start dev format typecheck check fix e2e coverage watch clean";
const direct: Form = { ...runnerArguments, tail: runnerArguments };

const node: Readonly<Record<string, Form>> = {
	npm: {
		options: "-s --silent",
		verbs: {
			...rows("test t tst", script),
			...rows("run run-script", { ...script, isVerb: true }),
			...rows("start restart stop", script),
			...rows("install i add ci install-ci-test it clean-install uninstall remove rm update up dedupe prune", install),
			...rows("ls list outdated view info why explain audit root bin pack version-check fund ping", {
				options: "-a -g --all --depth= --json --long --parseable --production --omit= --dry-run",
				operand: packageName,
				value: plainWord,
			}),
		},
	},
	...rows("pnpm yarn bun", {
		options: "-s --silent -r --recursive --filter= -F:",
		value: plainWord,
		verbs: {
			...rows(`test t ${ownNames}`, direct),
			...rows("run run-script", { ...direct, isVerb: true }),
			...rows("install i add remove rm update up upgrade dedupe prune", install),
			...rows("ls list outdated why audit info", {
				options: "-a --json --depth=",
				operand: packageName,
				value: plainWord,
			}),
		},
	}),
	tsc: {
		options:
			"-b -d -w -v -p:x -t: -m: --noEmit --watch --build --skipLibCheck --strict --pretty --incremental --listFiles --showConfig --noEmitOnError " +
			"--project=x --target= --module= --jsx= --lib= --moduleResolution= --esModuleInterop --declaration --emitDeclarationOnly --traceResolution",
		// An at sign introduces an options file.
		operand: /^[^@]/,
		files: "run",
	},
	// These two run the configuration that they find beside a file.
	eslint: {
		options:
			"-f: --format= --ext= --fix --fix-dry-run --quiet --max-warnings= --cache --no-error-on-unmatched-pattern --color --no-color " +
			"--report-unused-disable-directives --ignore-pattern= --debug --no-warn-ignored",
		judge: ({ options }) =>
			options.every(
				({ name, value }) =>
					!/^f(?:ormat)?$/.test(name) || /^(?:stylish|json|compact|unix|html|tap)$/.test(value?.text ?? ""),
			)
				? null
				: "a format of eslint may be any file",
		files: "run",
	},
	prettier: {
		options:
			"-cwlu --check --write --list-different --ignore-unknown --log-level= --no-color --cache --no-error-on-unmatched-pattern",
		files: "run",
	},
	...rows("jest mocha ava tap playwright", runnerArguments),
	vitest: { ...runnerArguments, verbs: rows("run watch list bench related", runnerArguments) },
	...rows("turbo nx", { verbs: rows("run test build lint", script) }),
};

const pytest: Form = {
	options:
		"-xqvsl -k: -m: -n: -r? --tb= --maxfail= --lf --ff --nf --last-failed --failed-first --durations= --co --collect-only --no-header --quiet " +
		"--verbose --capture= --exitfirst --no-summary --color= --timeout= --stepwise --sw --deselect= --ignore= --setup-show --cov --strict-markers " +
		"--showlocals --version --fixtures --markers",
	files: "run",
	operand: /^[^@-]/,
	// Older versions evaluated the expressions of `-k` and `-m`.
	value: /^(?!-)(?!.*__)[^\n]*$/,
};

const pip: Form = {
	verbs: {
		...rows("install uninstall download", {
			options: "-qUy -r:x --upgrade --quiet --user --no-deps --no-cache-dir --requirement=x --yes --pre",
			operand: packageName,
		}),
		...rows("list show freeze check", { options: "-ov --outdated --format= --verbose", operand: packageName }),
	},
};

const python: Readonly<Record<string, Form>> = {
	...rows("pytest py.test", pytest),
	...rows("pip pip3", pip),
	ruff: {
		verbs: rows("check format", {
			options:
				"-qw --fix --quiet --diff --select= --ignore= --no-cache --check --line-length= --preview --show-fixes --statistics --watch --unsafe-fixes",
			files: "run",
		}),
	},
	mypy: {
		options: "-v -p: -m: --strict --ignore-missing-imports --show-error-codes --no-error-summary --pretty",
		files: "read",
	},
	...rows("black isort", {
		options: "-qvl: --check --diff --quiet --verbose --line-length= --check-only",
		files: "both",
	}),
	uv: {
		options: "-q --quiet --offline",
		verbs: {
			pip,
			...rows("sync lock venv tree", {
				options: "-q --frozen --locked --all-extras --dev --no-dev --quiet --extra= --group=",
				most: 1,
			}),
		},
	},
	poetry: { verbs: rows("install check show lock", { options: "-v --no-root --with= --without= --sync --no-dev" }) },
};

/** The modules that `python3 -m` runs, by program name. */
export const pythonModules: Readonly<Record<string, Form>> = {
	pytest,
	pip,
	unittest: {
		options: "-vqfb -k: --verbose --quiet --failfast --buffer --locals",
		verbs: { discover: { options: "-v -s:x -p: -t:x" } },
		operand: plainWord,
		files: "run",
	},
	"json.tool": {
		options: "--sort-keys --no-ensure-ascii --indent= --compact --json-lines --tab",
		files: "read, second written",
		most: 2,
	},
	venv: { options: "--clear --upgrade-deps --system-site-packages --prompt=", files: "write" },
	...rows("py_compile compileall", { options: "-q", files: "both" }),
	mypy: python["mypy"] ?? {},
	ruff: python["ruff"] ?? {},
	black: python["black"] ?? {},
};

const cargoOptions =
	"-rqv -p: -F: -j: --release --all --workspace --all-targets --all-features --features= --no-default-features --lib --bins --bin= --test= --tests " +
	"--example= --examples --bench= --package= --quiet --verbose --locked --offline --frozen --jobs= --no-run --doc --exclude= --profile= --message-format= " +
	"--no-fail-fast --keep-going --no-deps --open --check";
const cargo: Form = { options: cargoOptions, value: plainWord, operand: plainWord };
const lints: Form = { options: "-D: -W: -A: -F:", value: /^[\w:-]+$/, most: 0 };

const compiled: Readonly<Record<string, Form>> = {
	cargo: {
		options: "-qv --quiet --verbose --locked --offline --frozen",
		verbs: {
			...rows("build b check c doc bench fmt fix tree metadata clean update fetch", cargo),
			...rows("test t nextest", {
				...cargo,
				tail: {
					options:
						"-q --nocapture --no-capture --ignored --include-ignored --exact --list --show-output --quiet --test-threads= --skip=",
					value: plainWord,
				},
			}),
			clippy: { ...cargo, options: `${cargoOptions} --fix --allow-dirty`, tail: lints },
			...rows("run r", { ...cargo, tail: { anyOption: true } }),
			...rows("add remove install", {
				isNamed: true,
				options: "-F: --dev --features= --locked --no-default-features",
				operand: packageName,
				isExact: true,
			}),
		},
	},
	go: {
		verbs: {
			...rows("build test vet list fmt doc version mod", {
				options:
					"-v -race -short -cover -benchmem -failfast -x -n -a -i -json -m -u -s -count= -run= -bench= -benchtime= -timeout= -parallel= -p= -mod= -tags= -vet= -skip= -shuffle= -f= -deps -test -all -src -buildvcs=",
				isSingleDash: true,
				value: /^[^@]*$/s,
				operand: /^(?!-)[\w./-]+$/,
				files: "run",
				verbs: rows("tidy download verify graph why init vendor", {
					options: "-v -x",
					isSingleDash: true,
					operand: /^[\w./-]+$/,
				}),
			}),
			run: {
				options: "-race -v -tags=",
				isSingleDash: true,
				optionsFirst: true,
				files: "run",
				judge: ({ operands: [first] }) =>
					first?.kind === "literal" && /^[\w./-]+$/.test(first.text)
						? null
						: "what it runs is not a file of the project",
			},
			...rows("get install generate", { isNamed: true, options: "-u -v -t", isSingleDash: true, isExact: true }),
			env: { operand: /^[A-Z]+$/ },
		},
	},
	...rows("make gmake", {
		isVerb: true,
		options:
			"-ksnBiwq -j? -l? --keep-going --silent --quiet --dry-run --just-print --always-make --ignore-errors --print-directory --no-print-directory --question --jobs --output-sync",
		// A recipe may use any variable; numbers and switches are safe.
		operand: /^(?:[A-Za-z0-9_][\w.%/-]*|(?!MAKE|SHELL|GNU)[A-Z][A-Z0-9_]*=(?:\d{1,4}|true|false|yes|no|on|off))$/,
	}),
	...rows("gradle gradlew", {
		isVerb: true,
		options:
			"-qaxw: --info --stacktrace --no-daemon --daemon --quiet --offline --continue --parallel --rerun-tasks --warning-mode= --console= --build-cache " +
			"--no-build-cache --tests= --exclude-task= --refresh-dependencies --scan --dry-run -m -x:",
		operand: /^[\w:.*-]+$/,
		value: /^[\w:.*#$-]+$/,
	}),
	...rows("mvn mvnw", {
		isVerb: true,
		options: "-qBoeUX -D: -T: -pl: --quiet --batch-mode --offline --no-transfer-progress --errors",
		operand: /^[\w-]+(?::[\w.-]+)?$/,
		value: /^(?:skipTests|skipITs|test=[\w.#*+]+|[\w.,:/-]+)(?:=(?:true|false))?$/,
	}),
	...rows("gcc g++ clang clang++ cc c++", {
		options:
			"-c -g -O -O0 -O1 -O2 -O3 -Os -Og -Wall -Wextra -Werror -Wpedantic -pedantic -fPIC -pthread -S -E -MMD -MD -fsanitize= -std= -o=w -lm -v",
		isSingleDash: true,
		operand: /^(?!@)[\w./-]+$/,
		files: "read",
	}),
	cmake: { options: "-j? -S:x -B:d --build=x --target= --parallel --config=", operand: plainWord },
	...rows("dotnet", {
		verbs: rows("build test restore", {
			options: "-c: -v: --no-restore --no-build --configuration= --filter= --nologo",
			files: "run",
		}),
	}),
};

const containerReading =
	"-aqlnsft --all --quiet --filter= --format= --no-trunc --latest --size --follow --timestamps --details -n: --tail= --since= --until= --no-color --no-stream --digests";
const servicesUp: Form = {
	isNamed: true,
	options: "-dqv --detach --build --quiet --wait --no-deps --remove-orphans --volumes -t:",
};

const services: Readonly<Record<string, Form>> = {
	...rows("docker podman nerdctl", {
		verbs: {
			// Like `ps` and `df`, these list what the machine has and runs.
			...rows("ps images version info", { reads: true, options: containerReading, files: "none" }),
			...rows("logs inspect stats top port diff history search", {
				options: containerReading,
				value: plainWord,
			}),
			...rows("start stop restart pause unpause pull", { isNamed: true, options: "-q -t: --quiet --time=" }),
			build: { isNamed: true, options: "-q -t: --tag= --no-cache --pull --target= --quiet --progress=", files: "read" },
			...rows("rm rmi kill", { isNamed: true, options: "-f --force", isExact: true }),
			...rows("container image network volume system", {
				verbs: rows("ls list inspect df logs info", { options: containerReading, value: plainWord }),
			}),
			compose: {
				verbs: {
					...rows("ps logs ls images config top version", { options: `${containerReading} --services` }),
					...rows("up down build start stop restart pull", servicesUp),
				},
			},
		},
	}),
	"docker-compose": {
		verbs: {
			...rows("ps logs images top version", { options: containerReading }),
			...rows("up down build start stop restart pull", servicesUp),
		},
	},
	...rows("kubectl oc", {
		options: "-n: --namespace=",
		value: plainWord,
		verbs: {
			...rows("get describe logs top version explain api-resources events", {
				options:
					"-Aawfp -n: -l: -o: -c: --all-namespaces --namespace= --selector= --output= --watch --follow --previous --tail= --since= --container= --show-labels --sort-by= --all-containers",
				value: plainWord,
			}),
		},
	}),
	gh: {
		verbs: Object.fromEntries(
			"pr issue run repo release workflow".split(" ").map((name) => [
				name,
				{
					verbs: {
						...rows("list view status diff checks watch", {
							options:
								"-cR: -L: -s: -a: -A: -l: -q: --repo= --limit= --json= --jq= --state= --author= --label= --comments --log --log-failed",
							others: "-w --web",
						}),
					},
				} satisfies Form,
			]),
		),
	},
};

export const toolForms: Readonly<Record<string, Form>> = { ...node, ...python, ...compiled, ...services };
