import { toListenHost } from "../listen-host.ts";
import { splitOwnFlags } from "../own-flags.ts";
import { UsageError } from "../usage-error.ts";

export interface GatewayFlags {
	readonly address: string;
	/** 0 means any free port. */
	readonly port: number;
	/** Whether an address reachable from other machines is intended. */
	readonly allowsRemote: boolean;
	readonly names: readonly string[];
	/** Paths of PEM files, as typed; null means plain HTTP. */
	readonly tls: { readonly certificate: string; readonly key: string } | null;
	readonly renewsTokens: boolean;
	/** The program started when something waits for an answer, as typed; null means none. */
	readonly notify: string | null;
	readonly json: boolean;
	/** Whether to open the web page in the browser and print its address as a QR code; null serves no page. */
	readonly page: PageFlags | null;
}

export interface PageFlags {
	readonly opens: boolean;
	readonly showsCode: boolean;
	readonly asksStatus: boolean;
	/** Whether a running gateway is good enough, because no given flag requires another one. */
	readonly takesRunning: boolean;
}

export const usualPort = 7420;

export const gatewayFlags = [
	{ names: ["--port"], value: "N", about: `Listen on this port; 0 picks a free one. Default: ${usualPort}.` },
	{ names: ["--host"], value: "ADDRESS", about: "Listen on this address of the machine. Default: 127.0.0.1." },
	{
		names: ["--allow-remote"],
		value: null,
		about: "Required for an address that other machines can reach: anyone with the token can run commands here.",
	},
	{
		names: ["--allow-host"],
		value: "NAME",
		about: "Another host name that clients use, such as a proxy's, with any unusual port; may be repeated.",
	},
	{ names: ["--tls-cert"], value: "FILE", offers: "files", about: "Serve HTTPS with this certificate, in PEM." },
	{ names: ["--tls-key"], value: "FILE", offers: "files", about: "The key of the certificate, in PEM." },
	{ names: ["--new-token"], value: null, about: "Replace the tokens; earlier ones stop working." },
	{
		names: ["--notify"],
		value: "CMD",
		about:
			"Program, or JSON list of a program and its arguments, to start when an approval or question has waited for five seconds. It gets the notice on stdin.",
	},
	{ names: ["--json"], value: null, about: "Print one line of JSON when ready." },
] as const;

export const pageFlags = [
	...gatewayFlags,
	{ names: ["--no-open"], value: null, about: "Do not open the page in the browser." },
	{ names: ["--status"], value: null, about: "Print whether and where the page is served; exit with 1 if not." },
	{
		names: ["--qr"],
		value: null,
		about: "Also print the address with its token as a QR code for a phone; needs a --host that the phone can reach.",
	},
] as const;

/** Flags that apply to any gateway. */
const aboutAny: ReadonlySet<string> = new Set(["--no-open", "--qr", "--json", "--status"]);

export function splitGatewayFlags(
	words: readonly string[],
	servesPage: boolean,
): {
	readonly gateway: GatewayFlags;
	readonly others: readonly string[];
} {
	const { has, last, all, others } = splitOwnFlags(words, servesPage ? pageFlags : gatewayFlags);
	if (has("--qr") && has("--json"))
		throw new UsageError("--qr is for people, and --json for programs: give one of them.");
	if (has("--status") && words.some((word) => word !== "--status" && word !== "--json"))
		throw new UsageError("--status can be combined only with --json.");
	return {
		gateway: {
			address: toListenHost(last("--host") ?? "localhost"),
			port: toPort(last("--port")),
			allowsRemote: has("--allow-remote"),
			names: all("--allow-host").map(toName),
			tls: toTls(last("--tls-cert"), last("--tls-key")),
			renewsTokens: has("--new-token"),
			notify: last("--notify"),
			json: has("--json"),
			page: servesPage
				? {
						opens: !has("--no-open"),
						showsCode: has("--qr"),
						asksStatus: has("--status"),
						takesRunning: words.every((word) => aboutAny.has(word)),
					}
				: null,
		},
		others,
	};
}

/** The form clients send in `Host`; other names would never match. */
const nameForm = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

function toName(name: string): string {
	if (nameForm.test(name)) return name;
	throw new UsageError(
		`--allow-host ${name}: must be just a host name or address, such as agent.example.org or [2001:db8::1], with any unusual port.`,
	);
}

function toPort(text: string | null): number {
	if (text === null) return usualPort;
	const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
	if (port <= 65_535) return port;
	throw new UsageError("--port must be a number from 0 to 65535.");
}

function toTls(certificate: string | null, key: string | null): GatewayFlags["tls"] {
	if (certificate === null && key === null) return null;
	if (certificate === null || key === null) throw new UsageError("Give --tls-cert and --tls-key together.");
	return { certificate, key };
}
