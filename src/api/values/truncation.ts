/** `reason` is the provider's word for it, such as `max_tokens`. */
export function truncationText(reason: string): string {
	return `The answer is incomplete: it reached a token limit (${reason}). Ask the model to continue, or raise the limit.`;
}
