// Process trees that do what they can to outlive the command that started them, as shell commands.
// Every process of a tree has the tree's token in its arguments; those that only wait are called by it.

export interface HostileTree {
	readonly name: string;
	/** Processes that wait under the token's name when the tree is grown. */
	readonly resting: number;
	/** Lines of bash; `$T` is the token, `rest` becomes a waiting process, `apart` is `bash -c` of a session of its own. */
	readonly lines: readonly string[];
	/** Whether it drops the environment by which its processes are found: then nothing but containment is promised. */
	readonly clearsEnvironment: boolean;
}

const tree = (name: string, resting: number, lines: readonly string[]): HostileTree => ({
	name,
	resting,
	lines,
	clearsEnvironment: false,
});

export const hostileTrees: readonly [HostileTree, ...HostileTree[]] = [
	tree("background", 3, ["rest &", "rest &", "(rest &)"]),
	tree("setsid", 2, ["apart rest &", "apart rest &"]),
	tree("double fork", 2, ["(apart '(rest &)' &) &", "(apart '(rest >/dev/null 2>&1 &)' &)"]),
	tree("ignored signals", 2, ["trap '' TERM HUP INT QUIT", "rest &", "apart rest &"]),
	tree("forks while dying", 1, [
		"trap 'for i in 1 2 3; do apart rest & (rest &) done' TERM HUP INT EXIT",
		"apart 'trap \"apart rest & rest &\" TERM HUP INT EXIT; while :; do sleep 0.05; done' &",
		"rest &",
	]),
	tree("nohup", 2, ["nohup bash -c rest >/dev/null 2>&1 &", '(nohup setsid bash -c rest "$T" >/dev/null 2>&1 &)']),
	tree("depth of five", 5, [
		"deeper() { if [ \"$1\" -gt 1 ]; then export DEPTH=$(($1 - 1)); apart 'deeper $DEPTH' & fi; rest; }",
		"export -f deeper",
		"deeper 5 &",
	]),
	tree("closed stdio", 2, ["(exec 0<&- 1>&- 2>&-; rest) &", "apart 'exec 0<&- 1>&- 2>&-; (rest &)' &"]),
	tree("stopped", 1, ["apart 'rest & kill -STOP $$' &", "(kill -STOP $BASHPID; rest) &"]),
	tree("breeding", 2, ["apart 'while :; do apart rest & sleep 0.02; done' &"]),
	tree("hopping", 0, ["export HOP='sleep 0.01; apart \"$HOP\" & exit'", 'apart "$HOP" &']),
	{
		name: "cleared environment",
		resting: 2,
		lines: [
			'env -i setsid bash -c \'exec -a "$0" sleep 300\' "$T" &',
			'(env -i setsid bash -c \'(exec -a "$0" sleep 300) &\' "$T" &)',
		],
		clearsEnvironment: true,
	},
];

/** The command that grows the tree; it waits for its end unless it is to `leave` the tree running. */
export function toCommand({ lines }: HostileTree, token: string, leave: boolean): string {
	return [
		`export T=${token}`,
		'rest() { exec -a "$T" sleep 300; }',
		'apart() { setsid bash -c "$1" "$T"; }',
		"export -f rest apart",
		...lines,
		leave ? "sleep 0.2" : "while :; do sleep 0.5; done",
	].join("\n");
}
