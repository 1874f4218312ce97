/** True when properties are tried at length: in long tests, and in short ones where TRACEJURY_PROPERTIES=long. */
export const longSuite = process.env['TRACEJURY_PROPERTIES'] === 'long';

/** Number of examples of a property. */
export function propertyRuns({ short, long }: { readonly short: number; readonly long: number }): number {
  return longSuite ? long : short;
}
