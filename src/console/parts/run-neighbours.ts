/** The runs before and after one in a list of their addresses. */

export interface Neighbours {
  readonly before: string | undefined;
  readonly next: string | undefined;
  /** Index from 0. */
  readonly at: number;
  readonly of: number;
}

/** `undefined` when the list does not have the run. Other parameters than the tenant say how a run is shown, not which. */
export function neighboursOf(
  addresses: readonly string[],
  run: { readonly path: string; readonly tenant: string | undefined },
): Neighbours | undefined {
  const at = addresses.findIndex((address) => {
    const { pathname, searchParams } = new URL(address, 'http://console');
    return pathname === run.path && (searchParams.get('tenant') ?? undefined) === run.tenant;
  });
  return at < 0 ? undefined : { before: addresses[at - 1], next: addresses[at + 1], at, of: addresses.length };
}
