/** Why a pattern is refused: a clause without full stop. */
export class Refusal extends Error {
	override readonly name = "Refusal";
}
