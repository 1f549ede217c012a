// What an answer of 403 of Kimi's platform may mean: the sign-in and the key can be good, and the client unwelcome.

const note =
	"The platform may admit clients by name and answer all others with 403; agentwire gives its own name and does not pose as another client (docs/login.md)";

/** The sentence about a refusal, without its mark; of a 403 it also says what is not the person's to mend. */
export function withAdmissionNote(status: number | null, reason: string): string {
	return status === 403 ? `${reason.replace(/\.$/, "")}. ${note}` : reason;
}
