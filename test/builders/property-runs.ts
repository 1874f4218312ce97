/** Whether the long suite runs. */
export const longSuite = process.env['TRACEJURY_PROPERTIES'] === 'long';

/** How many examples a property tries. A file that imports this runs twice: shortly in `npm test`, at length in `npm run test:long`. */
export function propertyRuns({ short, long }: { readonly short: number; readonly long: number }): number {
  return longSuite ? long : short;
}
