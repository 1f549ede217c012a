import type { SimpleCommand } from "../script.ts";

const namesProgram =
	/^(?:GIT_(?:PAGER|EDITOR|SEQUENCE_EDITOR|SSH|SSH_COMMAND|ASKPASS|EXTERNAL_DIFF|PROXY_COMMAND|EXEC_PATH|CONFIG.*|TEMPLATE_DIR)|(?:SSH|SUDO)_ASKPASS|[A-Z_]*PAGER|[A-Z_]*EDITOR|VISUAL|FCEDIT|BROWSER|LESSOPEN|LESSCLOSE|BASH_ENV|ENV|PROMPT_COMMAND|PS[0-4]|LD_(?:PRELOAD|AUDIT|LIBRARY_PATH)|DYLD_[A-Z_]+|NODE_OPTIONS|PYTHONSTARTUP|PYTHONBREAKPOINT|PERL5OPT|PERL5DB|RUBYOPT|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|TAR_OPTIONS|RSYNC_RSH|CVS_RSH|SVN_SSH|HGEDITOR|MAKEFLAGS|GNUMAKEFLAGS|MAKESHELL|GOFLAGS|CARGO_BUILD_RUSTC_WRAPPER|RUSTC_WRAPPER|CARGO_TARGET_[A-Z0-9_]+_RUNNER)$/;

const harmless = /^(?:|cat|less|more|true|:)$/;

export function programInVariable({ assignments, words }: SimpleCommand): string | null {
	if (words.length === 0) return null;
	const found = assignments.find(
		({ name, value }) => namesProgram.test(name) && !(value.kind === "literal" && harmless.test(value.text)),
	);
	return found === undefined ? null : `${found.name} names a program that no rule can read`;
}
