/** The address of a page as state: every filter is part of it, so that a link shows the same view. */

export interface Query {
  readonly [name: string]: string | undefined;
}

/** The address of a page of the console with its parameters in the order given; empty ones are left out. */
export function pageAddress(path: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[name, value]],
  );
  const text = new URLSearchParams(given).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The query with some parameters changed; `undefined` and the empty text remove one. */
export function changedQuery(query: Query, changes: Query): Query {
  return Object.fromEntries(Object.entries({ ...query, ...changes }).filter(([, value]) => value !== undefined && value !== ''));
}

/** Only the parameters of these names. */
export function pickedQuery(query: Query, names: readonly string[]): Query {
  return Object.fromEntries(names.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])));
}
