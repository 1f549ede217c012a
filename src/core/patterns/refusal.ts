export class Refusal extends Error {
	override readonly name = "Refusal";
}
