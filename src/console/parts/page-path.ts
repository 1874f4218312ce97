/** Finds the page of a path. */

/** Props of a page: the parts of its path that `path` names with a colon. */
export interface PageProps {
  readonly params: { readonly [name: string]: string };
}

export interface FoundPage<P> {
  readonly page: P;
  readonly params: { readonly [name: string]: string };
}

/** `undefined` when no page has the path, or when the path cannot be read. */
export function pageOf<P extends { readonly path: string }>(pages: readonly P[], path: string): FoundPage<P> | undefined {
  for (const page of pages) {
    const params = paramsOf(path, page.path);
    if (params !== undefined) return { page, params };
  }
  return undefined;
}

function paramsOf(path: string, pattern: string): { readonly [name: string]: string } | undefined {
  const [parts, wanted] = [partsOf(path), partsOf(pattern)];
  if (parts.length !== wanted.length) return undefined;
  const params: { [name: string]: string } = {};
  for (const [at, want] of wanted.entries()) {
    const given = decoded(parts[at] ?? '');
    if (given === undefined) return undefined;
    if (want.startsWith(':')) params[want.slice(1)] = given;
    else if (want !== given) return undefined;
  }
  return params;
}

function partsOf(path: string): readonly string[] {
  return path.split('/').filter((part) => part !== '');
}

/** `undefined` for a percent sign that is not an escape. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
