/** Changes that no behaviour can show, by their description, each with the reason. */
export const equivalents: ReadonlyMap<string, string> = new Map([
  [
    'src/statistics/moments.ts › dot: sum + factor * (row[at] ?? 0) → sum - factor * (row[at] ?? 0)',
    'Only the product of two of these sums is used, in which both signs cancel.',
  ],
  [
    "src/stores/sqlite/connection.ts › driver.rollbackTransaction: await run('rollback'); → void run('rollback');",
    'The database answers questions in their order, so anything that comes next comes after the rollback.',
  ],
  ['collectors/parsing/truncation.ts › mayBeContainer: first >= 0x80 → first > 0x80', 'No text in UTF-8 begins with the byte 0x80.'],
  [
    'evaluators/prompt-injection-in-tool-result.ts › scanned: characters >= searchedMax → characters > searchedMax',
    'At the bound no character of a further result is searched, so it counts as not searched all the same.',
  ],
  ['src/analytics/judge-agreement.ts › agreementOf.names: one < other → one <= other', 'The names are keys of groups: no two are equal.'],
  [
    'src/statistics/moments.ts › dot: sum + factor * (row[at] ?? 0) → sum - factor * (row[at] ?? 0)',
    'Two such sums are multiplied, and the two signs cancel.',
  ],
  ['src/stores/sql/outbox.ts › surplus: count <= rowsMax → count < rowsMax', 'At the bound the query below asks for no row.'],
]);
