/** A member of something of which nothing is known; undefined: it has none of its own. */
export function field(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null && Object.hasOwn(from, name) ? (from as { readonly [key: string]: unknown })[name] : undefined;
}
