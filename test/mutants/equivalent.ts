/** Changes that no behaviour can show, by their description, each with the reason. */
export const equivalents: ReadonlyMap<string, string> = new Map([
  ['src/analytics/judge-agreement.ts › agreementOf.names: one < other → one <= other', 'The names are keys of groups: no two are equal.'],
  ['src/stores/sqlite/outbox-read.ts › surplus: count <= rowsMax → count < rowsMax', 'At the bound the query below asks for no row.'],
]);
