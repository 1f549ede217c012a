// What a sandboxed command may access: the confinement derived from settings and session directories.
import path from "node:path";
import type { SandboxSettings } from "../../settings/config/configuration.ts";
import type { ConfinedNetwork, Confinement } from "../processes/port.ts";

export interface SandboxRoots {
	readonly workDir: string;
	readonly additionalDirs: readonly string[];
	/** Read-only, even inside a hidden directory, for example a plugin's own directory. */
	readonly visible?: readonly string[];
}

export interface PolicyPlace {
	readonly home: string;
	/** Directories with program settings, sign-ins and sessions. */
	readonly shareDirs: readonly string[];
	readonly temporaryDirs: readonly string[];
	/** Other files with keys, such as an external settings file. */
	readonly secretFiles?: readonly string[];
}

/** Paths that get placeholders when missing. */
interface ProtectedPaths {
	readonly files: readonly string[];
	readonly directories: readonly string[];
}

/** Below each writable directory: files that programs outside the sandbox run, or that control what they run. */
const protectedPaths: ProtectedPaths = {
	files: [".git/config", ".mcp.json"],
	directories: [".git/hooks", ".agentwire", ".kimi", ".vscode", ".idea"],
};

/** The same, but only if they exist: creating them has no effect by itself. */
const protectedWhereFound: readonly string[] = [".git/config.worktree", ".git/modules", ".git/worktrees", ".envrc"];

/** With it, git reads settings and hooks from another directory. A placeholder there would break git. */
const refusedNames: readonly string[] = [".git/commondir"];

/** Directories where version managers install programs that precede others on PATH. */
const shimDirectories: readonly string[] = [
	".pyenv/shims",
	".rbenv/shims",
	".nodenv/shims",
	".jenv/shims",
	".goenv/shims",
	".asdf/shims",
	".local/share/mise/shims",
	".volta/bin",
	".bun/bin",
	".deno/bin",
	"go/bin",
];

/** Below the home directory, where writable. */
const startUpPaths: ProtectedPaths = {
	files: [
		".bashrc",
		".bash_profile",
		".bash_login",
		".bash_logout",
		".bash_aliases",
		".profile",
		".zshrc",
		".zshenv",
		".zprofile",
		".zlogin",
		".zlogout",
		".inputrc",
		".xprofile",
		".xsessionrc",
		".pam_environment",
		".tmux.conf",
		".gitconfig",
		".gitmodules",
		".ripgreprc",
		".vimrc",
	],
	directories: [
		".config/fish",
		".config/git",
		".config/nvim",
		".config/autostart",
		".config/systemd",
		".config/environment.d",
		".local/bin",
		".local/share/applications",
		"bin",
		".cargo/bin",
		...shimDirectories,
		...(process.platform === "darwin" ? ["Library/LaunchAgents"] : []),
	],
};

/** Keys next to settings that control execution or access; they must not be created either. */
const actingCredentials: ProtectedPaths = {
	files: [".npmrc", ".claude.json"],
	directories: [
		".ssh",
		".gnupg",
		".aws",
		".azure",
		".kube",
		".docker",
		".config/gh",
		".config/rclone",
		".claude",
		".codex",
		".gemini",
	],
};

/** The same: keys, sign-ins, histories and browser profiles. */
const credentialFiles: readonly string[] = [
	".oci",
	".netrc",
	".pgpass",
	".my.cnf",
	".pypirc",
	".git-credentials",
	".password-store",
	".vault-token",
	".databrickscfg",
	".cargo/credentials",
	".cargo/credentials.toml",
	".gem/credentials",
	".terraform.d/credentials.tfrc.json",
	".config/gcloud",
	".config/hub",
	".config/git/credentials",
	".config/op",
	".config/google-chrome",
	".config/chromium",
	".config/BraveSoftware",
	".mozilla",
	".local/share/keyrings",
	".bash_history",
	".zsh_history",
	".python_history",
	".node_repl_history",
	".psql_history",
	"Library/Keychains",
	"Library/Cookies",
	"Library/Application Support/Google/Chrome",
];

/** System files. Services listen below `/run` and keep secrets there. */
const systemFiles: readonly string[] = [
	"/etc/shadow",
	"/etc/shadow-",
	"/etc/gshadow",
	"/etc/gshadow-",
	"/etc/sudoers",
	"/etc/sudoers.d",
	"/etc/ssl/private",
	"/etc/ssh/ssh_host_rsa_key",
	"/etc/ssh/ssh_host_ecdsa_key",
	"/etc/ssh/ssh_host_ed25519_key",
	"/run",
	"/var/run",
	"/var/lib/docker",
	"/var/lib/containerd",
	"/var/lib/kubelet",
];

/** In temporary directories: sockets of X servers and terminals. */
const socketDirectories: readonly string[] = [".X11-unix", ".ICE-unix", ".font-unix", ".XIM-unix"];

/** Programs and settings below `/run` that commands need. */
const visibleSystemFiles: readonly string[] = [
	"/run/current-system",
	"/run/booted-system",
	"/run/wrappers",
	"/run/opengl-driver",
	"/run/systemd/resolve/stub-resolv.conf",
	"/run/systemd/resolve/resolv.conf",
	"/run/resolvconf",
	"/run/NetworkManager/resolv.conf",
];

/** Expands a leading `~`. */
function placed(file: string, home: string): string {
	return file === "~" || file.startsWith("~/") ? path.join(home, file.slice(1)) : file;
}

export function toConfinement(
	settings: SandboxSettings,
	place: PolicyPlace,
	roots: SandboxRoots,
	network: ConfinedNetwork,
): Confinement | null {
	if (settings.mode === "off") return null;
	const { home, shareDirs, temporaryDirs, secretFiles = [] } = place;
	const atHome = (file: string) => path.join(home, file);
	const ownDirs = [roots.workDir, ...roots.additionalDirs];
	const isReadOnly = settings.mode === "read-only";
	const chosen = settings.writable.map((file) => placed(file, home));
	const projects = isReadOnly ? [] : [...ownDirs, ...chosen];
	const below = (names: readonly string[]) => projects.flatMap((root) => names.map((name) => path.join(root, name)));
	const protectedFiles = [
		...below(protectedPaths.files),
		...[...startUpPaths.files, ...actingCredentials.files].map(atHome),
	];
	return {
		writable: isReadOnly ? [] : [...projects, ...temporaryDirs],
		scratch: isReadOnly ? temporaryDirs : [],
		readOnly: [
			...protectedFiles,
			...below(protectedPaths.directories),
			...[...startUpPaths.directories, ...actingCredentials.directories].map(atHome),
			...settings.readOnly.map((file) => placed(file, home)),
		],
		missingAsFiles: protectedFiles,
		removed: below(refusedNames),
		visible: [
			...visibleSystemFiles,
			...shareDirs.map((directory) => path.join(directory, "skills")),
			...(isReadOnly ? ownDirs : []),
			...below(protectedWhereFound),
			...(roots.visible ?? []),
		],
		hidden: [
			...[...actingCredentials.files, ...actingCredentials.directories, ...credentialFiles].map(atHome),
			...shareDirs,
			...secretFiles,
			...systemFiles,
			...temporaryDirs.flatMap((directory) => socketDirectories.map((name) => path.join(directory, name))),
			...settings.hidden.map((file) => placed(file, home)),
		],
		network,
	};
}
