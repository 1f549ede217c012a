// Explains a 403 of Kimi's platform: sign-in and key may be valid, and the client not admitted.

const note =
	"The platform may admit clients by name and answer all others with 403; agentwire gives its own name and does not pose as another client (docs/guides/login.md)";

/** The reason of a refusal; for status 403 with the explanation appended, without a final full stop. */
export function withAdmissionNote(status: number | null, reason: string): string {
	return status === 403 ? `${reason.replace(/\.$/, "")}. ${note}` : reason;
}
