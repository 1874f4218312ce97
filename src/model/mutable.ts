/**
 * The mutable form of a type. Hot paths set optional members one by one, as a spread per member costs ten times as much.
 */
export type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
