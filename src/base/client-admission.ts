// Explains a 403 of the Kimi platform: sign-in and key may be valid while the client is not admitted.

const note =
	"The platform may admit clients by name and answer all others with 403; agentwire gives its own name and does not pose as another client (docs/guides/login.md)";

/** The refusal reason without a final period. Status 403 appends the explanation. */
export function withAdmissionNote(status: number | null, reason: string): string {
	return status === 403 ? `${reason.replace(/\.$/, "")}. ${note}` : reason;
}
