/**
 * Functions that the statements of the sub-stores use and PostgreSQL lacks: those of SQLite, and those that this program adds to it. A statement
 * then has one text for both engines. They are in the schema of the store, so no other schema sees them.
 */

/** SQL functions of one expression are put into the statements that call them. */
const expression = (head: string, body: string): string =>
  `create function ${head} language sql immutable parallel safe as $$ select ${body} $$`;

/**
 * The members of an object, or the items of a list. No text of PostgreSQL holds a zero or half of a pair of surrogates, and JSON may: each becomes
 * the sign that replaces what cannot be written, as in SQLite. First halves without a second one go before second halves without a first one.
 */
export const jsonFunctions: readonly string[] = [
  String.raw`create or replace function well_formed(text) returns text language sql immutable parallel safe as $$
     select case when strpos($1, '\ud') = 0 then $1 else regexp_replace(
       regexp_replace($1, '(?<!\\)((?:\\\\)*)\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})', '\1\\ufffd', 'g'),
       '(?<!\\ud[89ab][0-9a-f]{2})(?<!\\)((?:\\\\)*)\\ud[c-f][0-9a-f]{2}', '\1\\ufffd', 'g') end
   $$`,
  `create or replace function json_each(text) returns table (key text, value text) language sql immutable parallel safe rows 100 as $$
     with given as (select well_formed(replace($1, '\\u0000', '\\ufffd'))::jsonb as j)
     select e.key, e.value from given, jsonb_each_text(case when jsonb_typeof(j) = 'object' then j else '{}' end) as e
     union all
     select (i.place - 1)::text, i.value from given, jsonb_array_elements_text(case when jsonb_typeof(j) = 'array' then j else '[]' end) with ordinality as i (value, place)
   $$`,
];

/** Leases count by the clock of the server, which all replicas share. The argument is the time of the replica that asks. */
export const leaseClock =
  'create or replace function lease_clock(bigint) returns bigint language sql stable parallel safe as $$ select (extract(epoch from statement_timestamp()) * 1000000)::bigint $$';

export const functions: readonly string[] = [
  leaseClock,
  expression('ifnull(text, text) returns text', 'coalesce($1, $2)'),
  expression('instr(text, text) returns bigint', 'strpos($1, $2)::bigint'),
  expression('max(bigint, bigint) returns bigint', 'case when $1 is null or $2 is null then null else greatest($1, $2) end'),
  expression('min(bigint, bigint) returns bigint', 'case when $1 is null or $2 is null then null else least($1, $2) end'),
  expression(
    'max(double precision, double precision) returns double precision',
    'case when $1 is null or $2 is null then null else greatest($1, $2) end',
  ),
  expression(
    'min(double precision, double precision) returns double precision',
    'case when $1 is null or $2 is null then null else least($1, $2) end',
  ),
  // Patterns are `*[characters]*`.
  expression('glob(text, text) returns boolean', "$2 ~ ('[' || substr($1, 3, length($1) - 4) || ']')"),
  // A plus before a column keeps SQLite from an index.
  expression('same(text) returns text', '$1'),
  'create operator + (rightarg = text, function = same)',
  expression('added(bigint, boolean) returns bigint', '$1 + (case when $2 then 1 else 0 end)'),
  "create aggregate sum(boolean) (sfunc = added, stype = bigint, initcond = '0')",
  "create aggregate total(double precision) (sfunc = float8pl, stype = double precision, initcond = '0')",
  ...jsonFunctions,
  expression(
    'block_text(bytea, bigint, bigint) returns text',
    "convert_from(case when $3 is null then $1 else substring($1 from ($2 + 1)::int for $3::int) end, 'UTF8')",
  ),
];

/** The index of the words of texts, in the place of a table of FTS5. The question is in the words of FTS5: `"word" "beginning"*`. */
export const textIndex: readonly string[] = [
  'create table run_texts (rowid bigint primary key, words tsvector not null)',
  'create index run_texts_by_word on run_texts using gin (words)',
  `create function run_texts(text) returns table (rowid bigint) language sql stable parallel safe as $$
     select t.rowid from run_texts t where t.words @@ replace(replace(replace($1, '" "', ''' & '''), '"*', ''':*'), '"', '''')::tsquery
   $$`,
];
