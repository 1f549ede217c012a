/** Thrown for a refused pattern; the message is a clause without a full stop. */
export class Refusal extends Error {
	override readonly name = "Refusal";
}
