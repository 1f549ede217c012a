// What commands try in order to get out of the sandbox. Each attempt is a script that works on a machine without one.

/** What shows that an attempt worked. */
export type Evidence =
	/** The script printed `REACHED`. */
	| { readonly kind: "reached" }
	/** The script printed the secret of the fixture. */
	| { readonly kind: "secret" }
	/** A file of the fixture (relative to it) is no longer as it was. */
	| { readonly kind: "changed"; readonly file: string }
	/** A file exists that did not; relative to the fixture, or absolute. */
	| { readonly kind: "appeared"; readonly file: string }
	/** A server on the machine received the secret, or a connection. */
	| { readonly kind: "received" }
	/** A process on the machine is gone. */
	| { readonly kind: "killed" };

export interface Attempt {
	readonly name: string;
	readonly script: string;
	readonly evidence: Evidence;
	/** What shows that it works without a sandbox, where the script itself would change the machine. */
	readonly control?: string;
	/** Programs that the script needs, or the architecture. */
	readonly needs?: readonly string[];
}

const reached: Evidence = { kind: "reached" };
const secret: Evidence = { kind: "secret" };
const received: Evidence = { kind: "received" };
const changed = (file: string): Evidence => ({ kind: "changed", file });
const appeared = (file: string): Evidence => ({ kind: "appeared", file });
const target = changed("outside/target");
const configuration = changed("work/.git/config");
const hook = appeared("work/.git/hooks/pre-commit");

/** A system call whose result shows whether it is refused; numbers of x86-64. */
const call = (name: string, words: string, prepare = ""): Attempt => ({
	name: `system call: ${name}`,
	script: `perl -e '${prepare} my $r = syscall(${words}); print "REACHED\\n" if $r >= 0'`,
	evidence: reached,
	needs: ["perl", "x64"],
});

const writes: readonly Attempt[] = [
	{ name: "write to a file outside", script: 'echo x > "$OUT/target"', evidence: target },
	{ name: "append to a file outside", script: 'echo x >> "$OUT/target"', evidence: target },
	{ name: "write through a link to a file", script: 'ln -s "$OUT/target" l; echo x > l', evidence: target },
	{ name: "write through a link to a directory", script: 'ln -s "$OUT" d; echo x > d/target', evidence: target },
	{ name: "write through a hard link", script: 'ln "$OUT/target" h; echo x >> h', evidence: target },
	{
		name: "hard link of an open descriptor",
		script: 'exec 3<"$OUT/target"; ln -L /proc/self/fd/3 h; echo x >> h',
		evidence: target,
	},
	{
		name: "reopen a descriptor for writing",
		script: 'exec 3<"$OUT/target"; echo x >/proc/self/fd/3',
		evidence: target,
	},
	{ name: "move a file in from outside", script: 'mv "$OUT/target" .', evidence: target },
	{ name: "remove a file outside", script: 'rm -f "$OUT/target"', evidence: target },
	{ name: "remove a directory outside", script: 'rm -rf "$OUT"', evidence: target },
	{ name: "truncate a file outside", script: 'truncate -s 0 "$OUT/target"', evidence: target },
	{
		name: "change the mode of a file outside",
		script: 'chmod 600 "$OUT/target" && chmod 644 "$OUT/target" && echo REACHED',
		evidence: reached,
	},
	{ name: "change the time of a file outside", script: 'touch "$OUT/target" && echo REACHED', evidence: reached },
	{
		name: "set an attribute of a file outside",
		script: `perl -e 'my ($f, $n, $v) = ("$ENV{OUT}/target", "user.a", "b"); syscall(188, $f, $n, $v, 1, 0) == 0 and print "REACHED\\n"'`,
		evidence: reached,
		needs: ["perl", "x64"],
	},
	{ name: "the root of the own process", script: 'echo x > "/proc/self/root$OUT/target"', evidence: target },
	{ name: "the root of the first process", script: 'echo x > "/proc/1/root$OUT/target"', evidence: target },
	{ name: "the root of a process outside", script: 'echo x > "/proc/$HOST/root$OUT/target"', evidence: target },
	{ name: "the directory of the own process", script: "echo x > /proc/self/cwd/../outside/target", evidence: target },
	{ name: "a directory of a process outside", script: 'echo x > "/proc/$HOST/cwd/target"', evidence: target },
	{
		name: "make the mounts writable again",
		script: 'mount -o remount,bind,rw /; mount -o remount,rw /proc/self/root; echo x > "$OUT/target"',
		control: `unshare -m sh -c 'mount -o remount,bind,rw /; echo x > "$OUT/target"'`,
		evidence: target,
	},
	{
		name: "new namespaces and new mounts",
		script: `unshare -Urm sh -c 'mount -o remount,bind,rw /; echo x > "$OUT/target"'`,
		evidence: target,
		needs: ["unshare"],
	},
	{
		name: "the mounts of a process outside",
		script: `nsenter -t "$HOST" -m sh -c 'echo x > "$OUT/target"'`,
		evidence: target,
		needs: ["nsenter"],
	},
	{
		name: "another root directory",
		script: `chroot /proc/1/root sh -c 'echo x > "$OUT/target"'`,
		evidence: target,
	},
	{ name: "a start-up file of the shell", script: 'echo x >> "$HOME/.bashrc"', evidence: changed("home/.bashrc") },
	{ name: "shared memory of the machine", script: 'echo x > "/dev/shm/$MARK"', evidence: appeared("/dev/shm/MARK") },
	{ name: "the machine's temporary files", script: 'echo x > "/tmp/$MARK"', evidence: appeared("/tmp/MARK") },
	{
		name: "a setting of the kernel",
		script: 'f=/proc/sys/kernel/domainname; v=$(cat $f); echo "$v" > $f && echo REACHED',
		evidence: reached,
	},
	{
		name: "devices in /sys",
		script: "test -w /sys/kernel/uevent_helper -o -w /sys/power && echo REACHED",
		evidence: reached,
	},
	{
		name: "a control group",
		script: 'mkdir "/sys/fs/cgroup/$MARK" && rmdir "/sys/fs/cgroup/$MARK" && echo REACHED',
		evidence: reached,
	},
	{
		name: "a device node of a disk",
		script:
			'read -r a b < <(stat -Lc "%t %T" /dev/vda /dev/sda 2>/dev/null); mknod disk b "0x$a" "0x$b" && head -c 1 disk | wc -c | grep -q 1 && echo REACHED',
		evidence: reached,
	},
	{
		name: "a disk",
		script: "cat /dev/vda /dev/sda 2>/dev/null | head -c 1 | wc -c | grep -q 1 && echo REACHED",
		evidence: reached,
	},
	{ name: "kernel memory", script: "head -c 1 /proc/kcore | wc -c | grep -q 1 && echo REACHED", evidence: reached },
];

const protectedPaths: readonly Attempt[] = [
	{ name: "write git's settings", script: "echo x >> .git/config", evidence: configuration },
	{
		name: "git config",
		script: "git init -q . && git config core.fsmonitor ./x",
		evidence: configuration,
		needs: ["git"],
	},
	{ name: "edit git's settings in place", script: "sed -i s/original/x/ .git/config", evidence: configuration },
	{ name: "remove git's settings", script: "rm -f .git/config", evidence: configuration },
	{ name: "rename git's settings", script: "mv .git/config .git/c", evidence: configuration },
	{ name: "replace git's settings", script: "echo x > n; mv -f n .git/config", evidence: configuration },
	{ name: "hard link to git's settings", script: "ln .git/config h; echo x >> h", evidence: configuration },
	{ name: "git's settings by /proc", script: "echo x >> /proc/self/cwd/.git/config", evidence: configuration },
	{ name: "git's settings by a link", script: "ln -s .git g; echo x >> g/config", evidence: configuration },
	{
		name: "unmount git's settings",
		script: "umount -l .git/config .git; echo x >> .git/config",
		evidence: configuration,
	},
	{
		name: "mount over git's settings",
		script: "mkdir e; mount --bind e .git && echo REACHED",
		control: "mkdir e; unshare -m mount --bind e .git && echo REACHED",
		evidence: reached,
	},
	{ name: "create a hook", script: "echo x > .git/hooks/pre-commit", evidence: hook },
	{
		name: "rename the hooks",
		script: "mv .git/hooks h; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
		evidence: hook,
	},
	{
		name: "put a link in place of the hooks",
		script: "mkdir e; echo x > e/pre-commit; rm -rf .git/hooks; ln -s ../e .git/hooks",
		evidence: hook,
	},
	{ name: "rename .git", script: "mv .git g; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", evidence: hook },
	{ name: "remove .git", script: "rm -rf .git; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", evidence: hook },
	{
		name: "exchange .git with another directory",
		script: `mkdir -p e/hooks; echo x > e/hooks/pre-commit; perl -e 'my ($a, $b) = ("e", ".git"); syscall(316, -100, $a, -100, $b, 2)'`,
		evidence: hook,
		needs: ["perl", "x64"],
	},
	{
		name: "rename the work directory",
		script: 'mv "$WORK" "$WORK-2"; mkdir -p "$WORK/.git/hooks"; echo x > "$WORK/.git/hooks/pre-commit"',
		evidence: hook,
	},
	{
		name: "lead git to other settings",
		script: "mkdir e; echo ../e > .git/commondir",
		evidence: appeared("work/.git/commondir"),
	},
	{
		name: "create a missing directory",
		script: "mkdir -p .vscode; echo x > .vscode/tasks.json",
		evidence: appeared("work/.vscode/tasks.json"),
	},
	{
		name: "move a directory to a missing one",
		script: "mkdir e; echo x > e/tasks.json; mv -T e .vscode",
		evidence: appeared("work/.vscode/tasks.json"),
	},
	{
		name: "replace the placeholder",
		script: "rmdir .vscode; mkdir .vscode; echo x > .vscode/tasks.json",
		evidence: appeared("work/.vscode/tasks.json"),
	},
	{ name: "create a missing file", script: "echo x > .mcp.json", evidence: appeared("work/.mcp.json") },
	{
		name: "put a link in place of what is missing",
		script: "mkdir e; echo x > e/x; ln -sT e .agentwire",
		evidence: appeared("work/.agentwire/x"),
	},
	{
		name: "rename the parent of a protected file",
		script: "mv deep d; mkdir -p deep/er; echo x > deep/er/keep",
		evidence: changed("work/deep/er/keep"),
	},
];

const reads: readonly Attempt[] = [
	{ name: "read a hidden file", script: 'cat "$HOME/.netrc"', evidence: secret },
	{ name: "read below a hidden directory", script: 'cat "$HOME/.ssh/key"', evidence: secret },
	{ name: "read by a link", script: 'ln -s "$HOME/.ssh/key" l; cat l', evidence: secret },
	{ name: "read by a hard link", script: 'ln "$HOME/.netrc" h; cat h', evidence: secret },
	{ name: "read by a link's target", script: 'cat "$BASE/real-credentials/token"', evidence: secret },
	{ name: "copy everything", script: 'cat "$BASE"/*/.netrc "$BASE"/*/.ssh/* "$BASE"/*/token', evidence: secret },
	{ name: "read by the own root", script: 'cat "/proc/self/root$HOME/.ssh/key"', evidence: secret },
	{ name: "read by another process's root", script: 'cat "/proc/$HOST/root$HOME/.ssh/key"', evidence: secret },
	{ name: "unmount what hides", script: 'umount -l "$HOME/.ssh"; cat "$HOME/.ssh/key"', evidence: secret },
	{
		name: "mount the parent elsewhere",
		script: 'mkdir m; mount --bind "$HOME" m; cat m/.ssh/key',
		control: `mkdir m; unshare -m sh -c 'mount --bind "$HOME" m; cat m/.ssh/key'`,
		evidence: secret,
	},
	{
		name: "rename the parent of a hidden file",
		script: "mv deep d; cat d/secret",
		evidence: secret,
	},
	{ name: "the environment of a process outside", script: 'tr "\\0" "\\n" < "/proc/$HOST/environ"', evidence: secret },
	{ name: "the environments of all processes", script: "cat /proc/[0-9]*/environ", evidence: secret },
	{ name: "a descriptor of a process outside", script: 'cat "/proc/$HOST/fd/0"', evidence: secret },
	{
		name: "the command lines of all processes",
		script: 'grep -l "$MARK" /proc/[0-9]*/cmdline && echo REACHED',
		evidence: reached,
	},
];

const processReach: readonly Attempt[] = [
	{ name: "kill a process outside", script: 'kill -9 "$HOST"', evidence: { kind: "killed" } },
	{
		name: "stop a process outside",
		script: 'kill -STOP "$HOST" && kill -CONT "$HOST" && echo REACHED',
		evidence: reached,
	},
	{ name: "slow a process outside down", script: 'renice 5 "$HOST" >/dev/null && echo REACHED', evidence: reached },
	call("ptrace, of a process outside", "101, 0x4206, $ENV{HOST}+0, 0, 0"),
	call("ptrace", "101, 0, 0, 0, 0"),
	call("process_vm_readv", "310, $$+0, 0, 0, 0, 0, 0"),
	call("process_vm_writev", "311, $$+0, 0, 0, 0, 0, 0"),
	call("kcmp", "312, $$+0, $$+0, 1, 0, 0"),
	call("pidfd_getfd", "438, $p, 0, 0", "my $p = syscall(434, $$+0, 0);"),
	call("setns", "308, fileno($f), 0", 'open(my $f, "<", "/proc/self/ns/uts");'),
	call("unshare of the user namespace", "272, 0x10000000"),
	call("unshare of the mounts", "272, 0x20000"),
	{
		...call("clone with a user namespace", ""),
		script: `perl -e 'my $r = syscall(56, 0x10000011, 0, 0, 0, 0); exit 0 if $r == 0; print "REACHED\\n" if $r > 0'`,
	},
	call("add_key", "248, $t, $d, $d, 1, -2", 'my ($t, $d) = ("user", "a");'),
	call("keyctl", "250, 0, -3, 1"),
	call("io_uring_setup", "425, 1, $b", 'my $b = "\\0" x 120;'),
	call("bpf", "321, 0, $b, 72", 'my $b = pack("LLLL", 2, 4, 8, 1) . "\\0" x 56;'),
	call("perf_event_open", "298, $b, 0, -1, -1, 0", 'my $b = pack("LLQ", 1, 112, 0) . "\\0" x 96;'),
	call("userfaultfd", "323, 0"),
	call("fanotify_init", "300, 0, 0"),
	call("syslog", "103, 10, 0, 0"),
	call("acct", "163, 0"),
	call("open_tree", "428, -100, $p, 1", 'my $p = "/";'),
	call("fsopen", "430, $p, 0", 'my $p = "tmpfs";'),
	call(
		"open_by_handle_at",
		"304, fileno($d), $h, 0",
		'my $h = pack("Ll", 120, 0) . "\\0" x 120; my $m = pack("L", 0); my $p = "$ENV{OUT}/target"; ' +
			'syscall(303, -100, $p, $h, $m, 0) == 0 or exit; open(my $d, "<", "/");',
	),
	{
		name: "characters put into a terminal",
		script: `perl -e '
			$| = 1; open(my $m, "+<", "/dev/ptmx") or die; my $n = pack("L", 0); ioctl($m, 0x40045431, $n); $n = pack("L", 0);
			ioctl($m, 0x80045430, $n); my $s = "/dev/pts/" . unpack("L", $n); open(my $t, "+<", $s) or die $!;
			my $c = "x"; print "REACHED\\n" if defined ioctl($t, 0x5412, $c)'`,
		evidence: reached,
		needs: ["perl"],
	},
	{
		name: "the calls of 32-bit programs",
		script: `printf '%s' '#include <stdio.h>
			int main(void) { long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20)); if (r > 0) puts("REACHED"); }' > c.c
			gcc -o c c.c && ./c`,
		evidence: reached,
		needs: ["gcc", "x64"],
	},
];

const perlSocket = (name: string, body: string): Attempt => ({
	name,
	script: `perl -MSocket -e '${body}'`,
	evidence: received,
	needs: ["perl"],
});

const network: readonly Attempt[] = [
	{
		name: "a server on the loopback address",
		script: 'echo "$SECRET" > "/dev/tcp/127.0.0.1/$TCP"',
		evidence: received,
	},
	{
		name: "a server by another loopback address",
		script: 'echo "$SECRET" > "/dev/tcp/127.0.0.2/$TCP"',
		evidence: received,
	},
	{
		name: "a server by the name of the machine",
		script: 'echo "$SECRET" > "/dev/tcp/localhost/$TCP"',
		evidence: received,
	},
	{
		name: "a server by the unspecified address",
		script: 'echo "$SECRET" > "/dev/tcp/0.0.0.0/$TCP"',
		evidence: received,
	},
	{ name: "curl", script: 'curl -s -m 5 "http://127.0.0.1:$TCP/$SECRET"', evidence: received, needs: ["curl"] },
	{ name: "a datagram", script: 'echo "$SECRET" > "/dev/udp/127.0.0.1/$UDP"', evidence: received },
	perlSocket(
		"a question to a name server",
		`socket(my $s, AF_INET, SOCK_DGRAM, 0);
		my $q = pack("n6", 1, 0x100, 1, 0, 0, 0) . pack("C/a* C/a* C n2", $ENV{SECRET}, "test", 0, 1, 1);
		send($s, $q, 0, sockaddr_in($ENV{UDP}, inet_aton("127.0.0.1")))`,
	),
	perlSocket(
		"a Unix socket",
		"socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die $!; connect($s, sockaddr_un($ENV{UNIX})); syswrite($s, $ENV{SECRET})",
	),
	perlSocket(
		"a Unix socket in the work directory",
		"socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die $!; connect($s, sockaddr_un($ENV{INNER})); syswrite($s, $ENV{SECRET})",
	),
	perlSocket(
		"an abstract Unix socket",
		'socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die $!; my $n = "\\0$ENV{ABSTRACT}"; connect($s, pack("S a*", 1, $n)) or connect($s, pack("S a108", 1, $n)); syswrite($s, $ENV{SECRET})',
	),
	{
		...perlSocket(
			"datagrams from one of a pair of sockets",
			'socketpair(my $a, my $b, AF_UNIX, SOCK_DGRAM, 0) or die $!; connect($a, sockaddr_un("/nowhere")); print "REACHED\\n"',
		),
		evidence: reached,
	},
	...(
		[
			["packets", "17, SOCK_RAW"],
			["raw internet packets", "AF_INET, SOCK_RAW"],
			["the machine below", "40, SOCK_STREAM"],
			["the kernel's ciphers", "38, SOCK_SEQPACKET"],
		] as const
	).map(([name, words]) => ({
		...perlSocket(
			`a socket for ${name}`,
			`socket(my $s, ${words}, ${name.startsWith("raw") ? 1 : 0}) and print "REACHED\\n"`,
		),
		evidence: reached,
	})),
];

export const attempts: readonly Attempt[] = [...writes, ...protectedPaths, ...reads, ...processReach, ...network];
