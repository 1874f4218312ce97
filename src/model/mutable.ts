/**
 * A value in the making. Where thousands are made a second, its optional members are set one by one: an object that is spread into another one
 * for each of them costs ten times as much.
 */
export type Drafted<Value> = { -readonly [Key in keyof Value]: Value[Key] };
