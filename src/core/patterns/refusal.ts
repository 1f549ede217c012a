/** The error of a refused pattern: a clause without full stop. */
export class Refusal extends Error {
	override readonly name = "Refusal";
}
